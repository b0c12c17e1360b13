#!/usr/bin/python3
"""The demonstration behind `./dev demo`: real trainings arrive on this machine; who gets the cores?

The same jobs with the same arrivals run under fair shares, slaq and soonest, one after the other, each on a daemon of
its own. While they run, `mete top` shows them (on a terminal); then a table shows what each policy was worth, better
and worse. The modules are those of experiments/live-slaq.

    demo.py [--quick] [--seed 1] [--jobs 20] [--load 1.5] [--policies fair slaq soonest]
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments" / "live-slaq"))

import arm as arms  # noqa: E402
import workload as workloads  # noqa: E402
from metrics import table  # noqa: E402

# Sizes: jobs and mean CPU seconds of one, for a machine with so many cores in use.
FULL = (20, 8.0)
QUICK = (8, 4.5)
CORES_MAX = 4  # more would only need more jobs to be scarce


class Live:
    """What the person sees while an arm runs: `mete top` on a terminal (until q), else a line now and then."""

    def __init__(self, mete):
        self._mete = mete
        self._top = None
        self._said_at = 0.0

    def __call__(self, daemon, state):
        if state["ended"] == state["jobs"]:
            self.close()
        elif self._top is None and sys.stdout.isatty():
            self._top = subprocess.Popen([self._mete, "top"], env=daemon.environment())
        elif (self._top is None or self._top.poll() is not None) and state["seconds"] - self._said_at >= 5.0:
            self._said_at = state["seconds"]
            print("  %3.0f s: %d of %d jobs arrived, %d ended" % (
                state["seconds"], state["submitted"], state["jobs"], state["ended"]), flush=True)

    def close(self):
        """Gives the terminal back."""
        if self._top is not None and self._top.poll() is None:
            self._top.send_signal(signal.SIGTERM)
            self._top.wait()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version: 8 short jobs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--load", type=float, default=1.5, help="solo CPU seconds that arrive, over what the machine has")
    parser.add_argument("--policies", nargs="+", default=["fair", "slaq", "soonest"], choices=list(arms.ARMS))
    parser.add_argument("--mete", default=shutil.which("mete"), help="the binary (default: of PATH)")
    return parser.parse_args()


def main():
    args = parse()
    if not args.mete:
        raise SystemExit("demo: no `mete` on PATH; run it as ./dev demo")
    cores = min(CORES_MAX, len(os.sched_getaffinity(0)))
    count, mean_seconds = QUICK if args.quick else FULL
    count = args.jobs or count * cores // 2
    workload = workloads.build(workloads.load_profile(), args.seed, args.load, cores, count, mean_seconds)
    print("%d trainings of %d kinds, %.0f CPU seconds in all, arrive within %.0f s on %d cores (seed %d)" % (
        count, len({job["example"] for job in workload["jobs"]}), sum(job["solo_seconds"] for job in workload["jobs"]),
        workload["jobs"][-1]["arrival_seconds"], cores, args.seed), flush=True)

    runs = {}
    for policy in args.policies:
        print("under %s ..." % policy, flush=True)
        begun = time.monotonic()
        live = Live(args.mete)
        try:
            runs[policy] = arms.run(args.mete, workload, arms.ARMS[policy], ["--cpus", str(cores)], live)
        finally:
            live.close()
        print("under %s: all ended after %.0f s" % (policy, time.monotonic() - begun), flush=True)

    baseline = args.policies[0]
    print("\nMeans over the jobs; in brackets the change against %s. Lower is better everywhere.\n" % baseline)
    print("\n".join(table({name: [run.figures] for name, run in runs.items()}, baseline)))
    print()
    for name, run in runs.items():
        if run.shares:
            print("cores under %-10s %2.0f %% to the quarter of jobs with the highest loss, %2.0f %% to the next, "
                  "%2.0f %% to the better half" % (name, *(100 * share for share in run.shares)))
    error = runs[args.policies[-1]].forecast_error(args.mete)
    print("forecasts ten iterations ahead were off by %.1f %% of the loss (%.1f %% of its range)" % (
        100 * error["mean_relative_error"], 100 * error["mean_range_error"]))
    stolen = max(run.stolen for run in runs.values())
    if stolen > 0.05:
        print("the host took %.0f %% of the CPU time during one of the runs: compare with care" % (100 * stolen))
    others = max(run.others for run in runs.values())
    if others > 0.1:
        print("other programs took %.0f %% of the CPU time during one of the runs: compare with care" % (100 * others))
    print("one seed says little: experiments/live-slaq has the experiment with many")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
