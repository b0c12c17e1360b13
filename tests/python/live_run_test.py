"""The live experiment's driver against the real daemon: trainings run, their losses come back whole, nothing is left."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments" / "live-slaq"))

import arm
import workload
from daemon import Daemon, DaemonError

METE = pathlib.Path(os.environ.get("METE_BIN_DIR", ROOT / "build" / "release" / "bin")) / "mete"


def small_workload():
    built = workload.build(workload.load_profile(), 3, 3.0, 2, jobs=5, mean_seconds=0.5)
    for job in built["jobs"]:
        job["iterations"] = min(job["iterations"], 60)
    return built


class LiveRunTest(unittest.TestCase):

    def test_every_loss_of_every_job_comes_back(self):
        work = small_workload()
        for policy in ("fair", "soonest"):
            run = arm.run(METE, work, arm.ARMS[policy])
            for job, asked in zip(run.jobs, work["jobs"]):
                with self.subTest(policy=policy, job=job.name):
                    self.assertEqual([k for _, k, _ in job.losses], list(range(1, asked["iterations"] + 1)))
                    self.assertAlmostEqual(job.losses[0][2], asked["first"], delta=1e-6 * abs(asked["first"]))
                    times = [t for t, _, _ in job.losses]
                    self.assertEqual(times, sorted(times))
                    self.assertGreater(times[0], job.arrival)
                    self.assertGreaterEqual(job.finished, times[-1])
            self.assertGreater(run.figures["t50_from_arrival"], run.figures["t50_from_first"])
            self.assertGreater(run.figures["cpu_seconds"], 0.5)
            self.assertTrue(0.0 <= run.others <= 1.0, run.others)

    def test_machine_time_is_divided_as_the_kernel_counts_it(self):
        # user, nice, system, idle, wait, irq, softirq, stolen
        states = iter([[10, 0, 5, 100, 0, 0, 0, 1], [14, 1, 7, 110, 1, 1, 1, 6]])
        machine = arm.MachineTime(lambda: next(states))
        stolen, whole, busy = machine.since()
        self.assertEqual((whole, busy), (25, 9))
        self.assertAlmostEqual(stolen, 0.2)

    def test_all_arms_are_policies_that_the_daemon_knows(self):
        with Daemon(METE, "none") as daemon:
            for policy in arm.ARMS.values():
                self.assertEqual(daemon.call("PUT", "/v1/policy", {"policy": policy})["policy"].split(":")[0],
                                 policy.split(":")[0])
            with self.assertRaises(DaemonError):
                daemon.call("PUT", "/v1/policy", {"policy": "slaq:flour=0.5"})

    def test_what_still_runs_is_ended_and_nothing_is_left(self):
        job = dict(small_workload()["jobs"][0], iterations=1000000)
        with Daemon(METE, "fair") as daemon:
            folder = daemon._folder
            daemon.submit(arm.job_file(job))
            end = time.monotonic() + 60
            while not daemon.reports(job["name"]) and time.monotonic() < end:
                time.sleep(0.1)
            pid = daemon.call("GET", "/v1/jobs/" + job["name"])["replicas"][0]["pid"]
            os.kill(pid, 0)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)
        self.assertFalse(os.path.exists(folder))

    def test_the_job_file_of_all_examples_is_valid(self):
        done = subprocess.run([METE, "submit", "--dry-run", "examples/jobs.yaml"], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {job["name"] for job in json.loads(done.stdout)["jobs"]}
        scripts = {path.stem.replace("_", "-") for path in (ROOT / "examples").glob("*.py")} - {"example"}
        self.assertEqual(names, scripts)

    def test_the_demo_compares_policies(self):
        done = subprocess.run(
            [arm.PYTHON, "-B", ROOT / "examples" / "demo" / "demo.py", "--quick", "--jobs", "3", "--policies", "fair",
             "slaq", "--mete", METE], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)
        row = next(line for line in done.stdout.splitlines() if line.startswith("time to 95 % from arrival"))
        self.assertRegex(row, r"[0-9.]+ +[0-9.]+ \([-+][0-9]+ %\)$")
        self.assertIn("forecasts ten iterations ahead", done.stdout)

    def test_programs_that_know_nothing_of_mete_are_followed(self):
        with tempfile.TemporaryDirectory() as folder, Daemon(METE, "fair") as daemon:
            common = {"directory": str(ROOT / "examples"), "cpus": {"min": 0.02, "max": 1}, "memory": "256MiB"}
            log = folder + "/log.jsonl"
            for name, progress in (("prints_loss", "output"), ("writes_jsonl", {"jsonl": log})):
                daemon.submit(dict(common, name=name, progress=progress, env={"PROGRESS_FILE": log},
                                   command=[arm.PYTHON, name + ".py", "--iterations", "25"]))
            for name in ("prints_loss", "writes_jsonl"):
                end = time.monotonic() + 60
                while daemon.call("GET", "/v1/jobs/" + name)["phase"] != "done" and time.monotonic() < end:
                    time.sleep(0.1)
                rows = daemon.reports(name)
                self.assertEqual(len(rows), 25, name)
                self.assertLess(rows[-1][2], rows[0][2], name)


if __name__ == "__main__":
    unittest.main()
