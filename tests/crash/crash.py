#!/usr/bin/python3
"""Kills the daemon, runners, and both, again and again, and checks that nothing is lost and nothing runs twice.

    crash.py --bin BIN_DIR [--kills 20] [--seed N]

What must hold (ARCHITECTURE.md, "What holds always"):
  daemon killed   every job goes on: same process, one start, no gap between its ticks longer than the longest in the windows without
                  kills, plus 50 ms; the journal's losses equal the job's own file.
  runner killed   its job ends `lost` and its processes are gone within 2 s of a daemon running; the others notice nothing.
A failure prints the seed and the command that replays it. Windows with and without kills alternate, so that a noisy machine
is noisy in both.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
JOBS = 4
GAP_SLACK_SECONDS = 0.05
GONE_WITHIN_SECONDS = 2.0
FAIL_POINTS = (
    "journal.before_commit",
    "journal.after_commit",
    "local.before_folder",
    "local.before_spawn",
    "local.after_spawn",
)


class Failure(Exception):
    pass


def expect(holds, message):
    if not holds:
        raise Failure(message)


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise Failure("%s did not happen within %g s" % (what, seconds))


def running(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Job:
    def __init__(self, folder):
        self.folder = folder
        self.name = folder.name
        self.id = None
        self.killed = False  # its runner was

    def starts(self):
        path = self.folder / "starts"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def ticks(self):
        """(seconds, iteration, loss) of each whole line."""
        path = self.folder / "ticks"
        if not path.exists():
            return []
        lines = path.read_text().split("\n")[:-1]
        return [(int(ns) / 1e9, int(k), float(loss)) for ns, k, loss in (line.split() for line in lines)]


class Cluster:
    """One state directory and, most of the time, a daemon on it."""

    def __init__(self, bin_dir, folder, rng):
        self.bin = bin_dir
        self.folder = folder
        self.rng = rng
        self.env = dict(os.environ, METE_SOCKET_PATH=str(folder / "mete.sock"), METE_STATE_DIR=str(folder / "state"))
        self.daemon = None
        self.log = open(folder / "serve.log", "ab")
        self.jobs = []
        self.submitted = 0

    def start_daemon(self, fail_point=None):
        env = dict(self.env, METE_FAIL_POINT=fail_point) if fail_point else self.env
        self.daemon = subprocess.Popen([self.bin / "mete", "serve", "--round", "500ms", "--policy", "fair"],
                                       env=env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                       start_new_session=True)

    def daemon_answers(self):
        if self.daemon.poll() is not None:
            return False
        return self.mete("nodes", "-o", "json", check=False).returncode == 0

    def wait_daemon(self):
        wait_for(self.daemon_answers, 30, "a daemon that answers")

    def kill_daemon(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def mete(self, *args, check=True):
        done = subprocess.run([self.bin / "mete", *args], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        if check and done.returncode != 0:
            raise Failure("mete %s: exit %d: %s" % (" ".join(args), done.returncode, done.stderr))
        return done

    def read(self, *args):
        return json.loads(self.mete(*args, "-o", "json").stdout)

    def submit(self):
        self.submitted += 1
        folder = self.folder / ("job-%d" % self.submitted)
        folder.mkdir()
        job = Job(folder)
        spec = {"name": job.name, "command": ["/usr/bin/python3", str(HERE / "tick.py"), str(folder)],
                "directory": str(folder), "memory": "64MiB"}
        path = folder / "job.yaml"
        path.write_text(json.dumps(spec))
        done = self.mete("submit", str(path), check=False)
        if done.returncode != 0:
            return None  # killed before it answered: the job may be there or not, but not twice
        self.jobs.append(job)
        return job

    def describe(self, job):
        described = self.read("describe", job.name)
        return described["jobs"][0] if "jobs" in described else described

    def runner_of(self, job):
        """The runner's pid: the parent of the job's process."""
        pid = job.starts()[-1]
        with open("/proc/%d/stat" % pid, encoding="ascii") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[1])

    def end(self):
        # Also those whose submission was cut off before it was answered: they may be there.
        for folder in self.folder.glob("job-*"):
            (folder / "stop").touch()
        if self.daemon is not None and self.daemon.poll() is None:
            # Runners stay until a daemon has heard how their jobs ended.
            end = time.monotonic() + 20
            while time.monotonic() < end and self.mete("list", "--no-header", "--state", "live", check=False).stdout:
                time.sleep(0.1)
            self.daemon.terminate()
            self.daemon.wait()
        for job in self.jobs:
            for pid in job.starts():
                wait_for(lambda pid=pid: not running(pid), 10, "the end of a job's process")
        self.log.close()


def longest_gap(jobs, windows):
    """Between two ticks of a job that both lie in one of the windows (begin, end), in seconds."""
    longest = 0.0
    for job in jobs:
        ticks = [t for t, _, _ in job.ticks()]
        for before, after in zip(ticks, ticks[1:]):
            if any(begin <= before and after <= end for begin, end in windows):
                longest = max(longest, after - before)
    return longest


def check_jobs(cluster):
    for job in cluster.jobs:
        starts = wait_for(job.starts, 10, "the start of " + job.name)
        expect(len(starts) == 1, "%s was started %d times" % (job.name, len(starts)))
        if not job.killed:
            expect(running(starts[0]), "%s (pid %d) is gone" % (job.name, starts[0]))


def check_losses(cluster):
    for job in cluster.jobs:
        if job.killed:
            continue
        own = {k: loss for _, k, loss in job.ticks()}
        rows = csv.DictReader(cluster.mete("report", "--csv", job.name).stdout.splitlines())
        seen = {int(row["iteration"]): float(row["loss"]) for row in rows}
        # The last few may still be on their way; thinning keeps every report of the first minutes.
        missing = [k for k in own if k not in seen and k < max(own) - 40]
        expect(not missing, "%s: the journal lacks iterations %s ..." % (job.name, missing[:5]))
        wrong = [k for k, loss in seen.items() if own.get(k) != loss]
        expect(not wrong, "%s: the journal's losses differ at %s" % (job.name, wrong[:5]))


def one_kill(cluster, kind, rng):
    """Returns (begin, end) of the window in which the others' ticks are judged."""
    begin = time.monotonic()
    if kind == "daemon":
        cluster.kill_daemon()
    elif kind == "fail point":
        # A daemon that dies at the named place; a new job makes it get there.
        cluster.kill_daemon()
        point = rng.choice(FAIL_POINTS)
        cluster.start_daemon("%s:%d" % (point, rng.randint(1, 3)))
        end = time.monotonic() + 20
        while cluster.daemon.poll() is None and time.monotonic() < end:
            cluster.submit()
            time.sleep(rng.uniform(0.1, 0.5))
        cluster.kill_daemon()
    else:
        job = rng.choice([job for job in cluster.jobs if not job.killed and job.starts()])
        if kind == "both":
            cluster.kill_daemon()
        os.kill(cluster.runner_of(job), signal.SIGKILL)
        job.killed = True
        if kind == "both":
            time.sleep(rng.uniform(0, 0.5))
            cluster.start_daemon()
            cluster.wait_daemon()
        pid = job.starts()[0]
        wait_for(lambda: not running(pid), GONE_WITHIN_SECONDS, "the end of what a dead runner left")
        ended = wait_for(lambda: cluster.describe(job)["phase"] == "lost" and cluster.describe(job), 10, "phase lost")
        expect(ended["end"]["reason"] == "runner_lost", "it ended as %s" % ended["end"])
        return begin, time.monotonic()
    time.sleep(rng.uniform(0, 0.5))
    cluster.start_daemon()
    cluster.wait_daemon()
    return begin, time.monotonic()


def run(args):
    rng = random.Random(args.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mete-crash-"))
    cluster = Cluster(args.bin, folder, rng)
    with_kills, without = [], []
    kept = False
    try:
        cluster.start_daemon()
        cluster.wait_daemon()
        for _ in range(JOBS):
            cluster.submit()
        for done in range(args.kills):
            while sum(not job.killed for job in cluster.jobs) < JOBS:
                cluster.submit()
            for job in cluster.jobs:
                wait_for(lambda job=job: job.killed or job.ticks(), 30, "the first tick of " + job.name)
            begin = time.monotonic()
            time.sleep(rng.uniform(0.5, 1.5))
            without.append((begin, time.monotonic()))
            kind = rng.choice(["daemon", "daemon", "fail point", "runner", "both"])
            with_kills.append(one_kill(cluster, kind, rng))
            check_jobs(cluster)
            retire(cluster)
            print("crash: %d of %d, %s" % (done + 1, args.kills, kind), flush=True)
        time.sleep(1)
        check_losses(cluster)
        calm, stormy = longest_gap(cluster.jobs, without), longest_gap(cluster.jobs, with_kills)
        print("crash: longest gap between ticks %.0f ms without kills, %.0f ms with" % (1e3 * calm, 1e3 * stormy))
        expect(stormy <= max(calm, 0.05) + GAP_SLACK_SECONDS, "a job stood still for %.0f ms" % (1e3 * stormy))
        print("crash: %d kills, %d jobs: none lost, none started twice" % (args.kills, len(cluster.jobs)))
    except Failure:
        kept = True
        raise
    finally:
        cluster.end()
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print("crash: state kept in %s" % folder, file=sys.stderr)


def retire(cluster):
    """Jobs beyond the usual number (fail points submit more) end in order."""
    alive = [job for job in cluster.jobs if not job.killed and job.starts()]
    for job in alive[JOBS:]:
        (job.folder / "stop").touch()
        wait_for(lambda job=job: cluster.describe(job)["phase"] == "done", 10, "the end of " + job.name)
        job.killed = True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder with mete and mete-runner")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None, help="default: from the clock, printed")
    args = parser.parse_args()
    if args.seed is None:
        args.seed = time.time_ns() % 1_000_000
    print("crash: seed %d" % args.seed, flush=True)
    try:
        run(args)
    except Failure as failure:
        print("crash: FAILED: %s\nreplay: %s --bin %s --kills %d --seed %d" % (
            failure, __file__, args.bin, args.kills, args.seed), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
