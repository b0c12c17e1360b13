"""What a run of a workload was worth to those who waited for it.

A JobRun is one job of one run: when it arrived and ended and each (time, iteration, loss) that it reported; times are
seconds on one clock. first and minimum are the loss after its first iteration and the least loss that a solo run to
plateau reaches. The normalised loss (loss - minimum) / (first - minimum) starts at 1; a reduction of p % is the first
time at which the least loss so far is at most 1 - p / 100. Before its first report a job's normalised loss is 1.

Two origins matter: from arrival is what a user feels (waiting, start-up and training), from the first loss is what the
division of cores between training jobs did.
"""

import dataclasses
import math
import statistics

REDUCTIONS = (25, 50, 75, 80, 90, 95)


@dataclasses.dataclass
class JobRun:
    name: str
    arrival: float
    finished: float
    losses: list  # of (time, iteration, loss), by time
    first: float
    minimum: float

    def curve(self):
        """(time, least normalised loss so far) after each report with a finite loss."""
        points = []
        least = 1.0
        for time, _, loss in self.losses:
            if loss is None or not math.isfinite(loss):
                continue
            least = min(least, (loss - self.minimum) / (self.first - self.minimum))
            points.append((time, least))
        return points

    def time_to(self, percent, origin="arrival"):
        """Seconds to a reduction of `percent`, None if it was never reached."""
        points = self.curve()
        begun = self.arrival if origin == "arrival" else (points[0][0] if points else 0.0)
        for time, least in points:
            if least <= 1.0 - percent / 100.0 + 1e-12:
                return time - begun
        return None

    def loss_integral(self):
        """Area under the normalised loss from arrival to the end: seconds spent at full loss that it amounts to."""
        area = 0.0
        since, value = self.arrival, 1.0
        for time, least in self.curve() + [(self.finished, 0.0)]:
            area += max(0.0, value) * max(0.0, time - since)
            since, value = max(since, time), least
        return area


def run_metrics(jobs):
    """The figures of one run, by name; means over its jobs, in seconds. `missed_P` counts jobs that never got there."""
    figures = {}
    for origin in ("arrival", "first"):
        for percent in REDUCTIONS:
            reached = [time for time in (job.time_to(percent, origin) for job in jobs) if time is not None]
            figures["t%d_from_%s" % (percent, origin)] = statistics.fmean(reached) if reached else math.nan
            if origin == "arrival" and len(reached) < len(jobs):
                figures["missed_%d" % percent] = len(jobs) - len(reached)
    figures["loss_integral"] = statistics.fmean(job.loss_integral() for job in jobs)
    completions = sorted(job.finished - job.arrival for job in jobs)
    figures["completion"] = statistics.fmean(completions)
    figures["completion_longest"] = completions[-1]
    figures["makespan"] = max(job.finished for job in jobs) - min(job.arrival for job in jobs)
    return figures


def share_by_quality(jobs, samples):
    """How the cores were divided by quality: fractions for the quarter with the highest normalised loss, the next
    quarter, and the better half. samples are (time, {job name: cores}); only those with at least four jobs count."""
    by_name = {job.name: job for job in jobs}
    curves = {job.name: job.curve() for job in jobs}
    cursor = dict.fromkeys(curves, 0)
    totals = [0.0, 0.0, 0.0]
    for time, cores in sorted(samples, key=lambda sample: sample[0]):
        active = []
        for name, amount in cores.items():
            job = by_name.get(name)
            if job is None or not job.arrival <= time <= job.finished:
                continue
            curve = curves[name]
            while cursor[name] < len(curve) and curve[cursor[name]][0] <= time:
                cursor[name] += 1
            active.append((curve[cursor[name] - 1][1] if cursor[name] else 1.0, amount))
        if len(active) < 4:
            continue
        active.sort(key=lambda pair: -pair[0])
        for rank, (_, amount) in enumerate(active):
            place = (rank + 0.5) / len(active)
            totals[0 if place < 0.25 else 1 if place < 0.5 else 2] += amount
    whole = sum(totals)
    return [total / whole for total in totals] if whole > 0 else None


def changes(figures, baseline):
    """Relative change of each figure against the baseline's, paired by seed: name -> (mean, half width of the 95 %
    interval of that mean). Both arguments: one dict of figures a seed, in the same order."""
    table = {}
    for name in baseline[0]:
        ratios = [mine[name] / other[name] - 1.0 for mine, other in zip(figures, baseline)
                  if other.get(name) and name in mine and math.isfinite(mine[name]) and math.isfinite(other[name])]
        if ratios:
            table[name] = (statistics.fmean(ratios), _half_width(ratios))
    return table


# Two-sided 95 % quantiles of Student's t for 1, 2, ... degrees of freedom.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


def _half_width(values):
    if len(values) < 2:
        return math.nan
    freedom = len(values) - 1
    quantile = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96 + 2.6 / freedom
    return quantile * statistics.stdev(values) / math.sqrt(len(values))


LABELS = (
    [("t%d_from_arrival" % p, "time to %d %% from arrival, s" % p) for p in REDUCTIONS]
    + [("t%d_from_first" % p, "time to %d %% from first loss, s" % p) for p in REDUCTIONS]
    + [("loss_integral", "loss integral, s"), ("completion", "completion, s"),
       ("completion_longest", "longest completion, s"), ("makespan", "makespan, s")])


def table(arms, baseline):
    """Lines of a table: arms is name -> [figures of each seed]; each cell is the mean over seeds and its change against
    the arm named baseline, which is marked `worse` where it is higher."""
    names = list(arms)
    width = max(16, *(len(name) + 2 for name in names))
    lines = ["%-34s" % "" + "".join("%*s" % (width, name) for name in names)]
    compared = {name: changes(arms[name], arms[baseline]) for name in names}
    for key, label in LABELS:
        cells = []
        for name in names:
            values = [figures[key] for figures in arms[name] if math.isfinite(figures.get(key, math.nan))]
            cell = "%.1f" % statistics.fmean(values) if values else "-"
            if name != baseline and values and key in compared[name]:
                cell += " (%+.0f %%)" % (100.0 * compared[name][key][0])
            cells.append("%*s" % (width, cell))
        lines.append("%-34s" % label + "".join(cells))
    missed = sorted({key for runs in arms.values() for figures in runs for key in figures if key.startswith("missed_")})
    for key in missed:
        cells = ["%*d" % (width, sum(figures.get(key, 0) for figures in arms[name])) for name in names]
        lines.append("%-34s" % ("jobs that never reached %s %%" % key[7:]) + "".join(cells))
    return lines
