"""One run: a workload under one policy, on real processes, from the first arrival to the last end."""

import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

from daemon import Daemon, DaemonError
from metrics import JobRun, run_metrics, share_by_quality

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"
SAMPLE_SECONDS = 1.0
CORES_MIN = 0.02
CORES_MAX = 1.0
LATE_SECONDS_MAX = 2.0
MIB = 1 << 20

# The arms of the experiment by name: the text of each policy.
ARMS = {
    "none": "none",
    "fair": "fair",
    "fair-start-first": "fair:start=first",
    "slaq-as-published": "slaq:floor=0,start=fair,normalise=max-delta",
    "slaq": "slaq",
    "soonest": "soonest",
}


def job_file(job):
    """The job file of one job of a workload: one thread, at most one core, as small as a fiftieth of one."""
    return {
        "name": job["name"], "directory": str(ROOT / "examples"),
        "command": [PYTHON, job["example"] + ".py", "--iterations", str(job["iterations"]), "--seed", str(job["seed"]),
                    "--work", str(job["work"])],
        "cpus": {"min": CORES_MIN, "max": CORES_MAX}, "threads": 1, "memory": "%dMiB" % (64 + job["memory_mb"])}


def run(mete, workload, policy, serve_options=(), watch=None):
    """Runs it and returns a Run. watch(daemon, state), if given, is called about once a second with
    {"seconds", "submitted", "ended", "jobs"} while it goes on."""
    with Daemon(mete, policy, serve_options) as daemon:
        samples = []
        machine = MachineTime()
        begun = time.monotonic()
        failures = []
        submitter = threading.Thread(target=_submit_all, args=(daemon, workload["jobs"], begun, failures), daemon=True)
        submitter.start()
        count = len(workload["jobs"])
        ended = 0
        used = _Mean()
        while ended < count:
            time.sleep(SAMPLE_SECONDS)
            if failures:
                raise failures[0]
            top = daemon.call("GET", "/v1/top?ended=0")
            ended = top["ended"]
            samples.append((time.monotonic(), {job["name"]: job["cores"] for job in top["jobs"]}))
            if top.get("cores_used") is not None:
                used.add(top["cores_used"])
            if watch:
                watch(daemon, {"seconds": time.monotonic() - begun, "submitted": len(top["jobs"]) + ended,
                               "ended": ended, "jobs": count})
        return Run(daemon, workload, begun, samples, used.value(), machine.since())


class Run:
    """What a run left: .jobs (JobRun), .figures (metrics.run_metrics and more), .shares, .records, and
    what disturbed it: .stolen, the fraction of CPU time that the host took, and .others, the fraction that went to
    programs here that were not its jobs."""

    def __init__(self, daemon, workload, begun, samples, cores_used, machine):
        self.stolen, whole, busy = machine
        self.samples = samples
        self.jobs = []
        self.records = []
        for job in workload["jobs"]:
            record = daemon.call("GET", "/v1/jobs/" + job["name"])
            if record["phase"] != "done":
                raise DaemonError("%s ended as %s: %s\n%s" % (
                    job["name"], record["phase"], record.get("end"), daemon.last_words()))
            arrival = begun + job["arrival_seconds"]
            submitted, ended = (_wall_seconds(record[key]) for key in ("submitted", "ended"))
            losses = daemon.reports(job["name"])
            # Wall time of the end, brought onto the clock of the reports by the submission that both clocks saw.
            finished = max(losses[-1][0] if losses else 0.0, arrival + ended - submitted)
            self.jobs.append(JobRun(job["name"], arrival, finished, losses, job["first"], job["minimum"]))
            self.records.append(record)
        self.figures = run_metrics(self.jobs)
        self.figures["cores_used"] = cores_used
        self.figures["cpu_seconds"] = sum(record["cpu_seconds"] for record in self.records)
        self.others = max(0.0, busy - self.figures["cpu_seconds"]) / whole
        self.shares = share_by_quality(self.jobs, samples)

    def forecast_error(self, mete):
        """{"mean_relative_error", "mean_range_error"} of forecasts ten iterations ahead on the curves of this run."""
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for job in self.jobs:
                paths.append("%s/%s.txt" % (folder, job.name))
                pathlib.Path(paths[-1]).write_text("".join("%r\n" % loss for _, _, loss in job.losses if loss is not None))
            done = subprocess.run([str(mete), "forecast", "--evaluate", "-o", "json", *paths], capture_output=True,
                                  text=True)
        if done.returncode != 0:
            raise DaemonError("mete forecast: " + done.stderr)
        answer = json.loads(done.stdout)
        return {key: answer[key] for key in ("mean_relative_error", "mean_range_error")}


def _submit_all(daemon, jobs, begun, failures):
    try:
        for job in jobs:
            due = begun + job["arrival_seconds"]
            time.sleep(max(0.0, due - time.monotonic()))
            daemon.submit(job_file(job))
            if time.monotonic() - due > LATE_SECONDS_MAX:
                raise DaemonError("%s was submitted %.1f s late" % (job["name"], time.monotonic() - due))
    except Exception as error:  # told to the thread that waits
        failures.append(error)


def _wall_seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class _Mean:

    def __init__(self):
        self._sum = 0.0
        self._count = 0

    def add(self, value):
        self._sum += value
        self._count += 1

    def value(self):
        return self._sum / self._count if self._count else float("nan")


class MachineTime:
    """How this machine's CPU time went since this was made: /proc/stat's first line, in seconds."""

    def __init__(self, read=None):
        self._read = read or _read_cpu_line
        self._begun = self._read()

    def since(self):
        """(stolen by the host as a fraction of all time, seconds of all time, seconds that processes here ran)."""
        user, nice, system, idle, wait, irq, soft, stolen = (
            now - before for now, before in zip(self._read(), self._begun))
        busy = user + nice + system + irq + soft
        whole = busy + idle + wait + stolen
        return (stolen / whole if whole else 0.0), whole, busy


def _read_cpu_line():
    with open("/proc/stat", encoding="ascii") as file:
        return [int(field) / os.sysconf("SC_CLK_TCK") for field in file.readline().split()[1:9]]
