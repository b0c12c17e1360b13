"""Ten thousand queued jobs: the memory that the daemon takes, and how long a list takes. Prints the figures."""

import concurrent.futures
import json
import time
import unittest

from load_world import LoadTest
from mete_world import PYTHON, wait_until

JOBS = 10_000
VARIABLES = 60
RESIDENT_MB_MAX = 100
LIST_SECONDS_MAX = 0.1
SETTLED_SECONDS = 3


def environment(job):
    """Sixty variables of ordinary length; one of them is the job's own."""
    own = {"LEARNING_RATE": "%g" % (1e-4 * (job + 1)), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    for i in range(VARIABLES - len(own)):
        own["SOFTWARE_MODULE_%d" % i] = "/opt/software/module-%d/versions/2.14.%d/lib/x86_64" % (i, i)
    return own


def resident_mb(pid):
    """(now, at most so far)"""
    with open("/proc/%d/status" % pid, encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))


class QueueTest(LoadTest):
    arguments = ("--policy", "fair")

    def setUp(self):
        super().setUp()
        # All else waits behind it: there is memory for one of them only.
        self.node_memory = self.world.json("nodes")["nodes"][0]["memory_bytes"]
        self.submit([self.spec(0)])
        self.addCleanup(self.cancel_queue)
        wait_until(lambda: self.world.job(1)["phase"] == "running", "the first job runs")

    def cancel_queue(self):
        """Before what runs, so that none of it starts."""
        if self.world.daemon.poll() is not None:
            self.serve()
        queued = json.loads(self.request("GET", "/v1/jobs?state=queued"))["jobs"]
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            list(pool.map(lambda job: self.request("POST", "/v1/jobs/%d/cancel" % job["id"]), queued))

    def spec(self, job):
        return {
            "name": "job-%d" % job,
            "command": [PYTHON, "-c", "import time; time.sleep(3600)", "--learning-rate", "%g" % (1e-4 * (job + 1))],
            "directory": str(self.world.folder),
            "environment": ["%s=%s" % pair for pair in environment(job).items()],
            "memory_bytes": self.node_memory * 3 // 4,
            "roles": [{}],
        }

    def check_cost(self, when):
        wait_until(lambda: json.loads(self.request("GET", "/v1/jobs?limit=1"))["total"] == JOBS + 1, "all are listed")
        time.sleep(SETTLED_SECONDS)
        now, most = resident_mb(self.world.daemon.pid)
        seconds = []
        for _ in range(10):
            begin = time.monotonic()
            self.request("GET", "/v1/jobs")
            seconds.append(time.monotonic() - begin)
        seconds.sort()
        now = max(now, resident_mb(self.world.daemon.pid)[0])
        print("%s: %.1f MB resident (at most %.1f MB), a list takes %.0f ms" % (when, now, max(now, most), 1e3 * seconds[5]))
        self.assertLess(now, RESIDENT_MB_MAX, when)
        self.assertLess(seconds[5], LIST_SECONDS_MAX, when)

    def check_now_and_after_a_restart(self):
        self.check_cost("submitted")
        self.world.daemon.kill()
        self.world.daemon.wait()
        self.serve()
        self.check_cost("restarted")

    def test_in_many_requests_each_with_its_whole_environment(self):
        for first in range(1, JOBS + 1, 100):
            self.submit([self.spec(job) for job in range(first, first + 100)])
        self.check_now_and_after_a_restart()

    def test_in_one_request(self):
        jobs = [self.spec(job) for job in range(1, JOBS + 1)]
        shared = sorted(set.intersection(*(set(job["environment"]) for job in jobs[:2])))
        for job in jobs:
            job["environment"] = [one for one in job["environment"] if one not in set(shared)]
        self.request("POST", "/v1/jobs", json.dumps({"environment": shared, "jobs": jobs}))
        self.check_now_and_after_a_restart()


if __name__ == "__main__":
    unittest.main(verbosity=2)
