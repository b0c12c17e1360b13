"""Many reports from many jobs: through their runners into the journal, acknowledged, none lost. Prints the rate."""

import json
import os
import pathlib
import re
import time
import unittest

from load_world import LoadTest
from mete_world import PYTHON, wait_until

REPORTER = str(pathlib.Path(__file__).with_name("reporter.py"))
JOBS = 20
SECONDS = 20
RATE = 52_000  # reports a second that the jobs offer
RATE_MIN = 50_000  # that must arrive
DELAY_SECONDS_MAX = 3  # from the last report to its record


class ReportsTest(LoadTest):
    arguments = ("--policy", "slaq")

    def spec(self, job):
        return {
            "name": "reports-%d" % job,
            "command": [PYTHON, REPORTER, str(RATE // JOBS), str(SECONDS)],
            "directory": str(self.world.folder),
            "environment": ["PATH=/usr/bin:/bin"],
            "memory_bytes": 64 << 20,
            "roles": [{}],
        }

    def jobs(self):
        return json.loads(self.request("GET", "/v1/jobs"))["jobs"]

    def stored(self, job):
        """The iterations of all its reports, as the journal has them."""
        iterations, start = [], 0
        while True:
            page = json.loads(self.request("GET", "/v1/jobs/%d/reports?limit=10000&from=%d" % (job, start)))
            iterations += [report["iteration"] for report in page["reports"]]
            if not page["more"]:
                return iterations
            start = page["next"]

    def daemon_cpu_seconds(self):
        with open("/proc/%d/stat" % self.world.daemon.pid, encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def spooled_bytes(self):
        """Of reports that wait, on disk, for their acknowledgement."""
        return sum(path.stat().st_size for path in self.world.state.glob("replicas/*/spool"))

    def test_fifty_thousand_a_second(self):
        count = RATE // JOBS * SECONDS
        self.submit([self.spec(job) for job in range(JOBS)])
        wait_until(lambda: all(job["report_count"] > 0 for job in self.jobs()), "all jobs report")
        begin, cpu = time.monotonic(), self.daemon_cpu_seconds()
        before = sum(job["report_count"] for job in self.jobs())
        rates, last, spooled = [], (begin, before), 0
        while True:
            time.sleep(1)
            jobs = self.jobs()
            now, total = time.monotonic(), sum(job["report_count"] for job in jobs)
            rates.append((total - last[1]) / (now - last[0]))
            last = (now, total)
            spooled = max(spooled, self.spooled_bytes())
            if any(job["phase"] != "running" for job in jobs):
                break
        cpu = self.daemon_cpu_seconds() - cpu
        print("reports a second, each second: %s; the daemon took %.2f cores; %d bytes spooled" %
              (" ".join("%.0f" % rate for rate in rates), cpu / (now - begin), spooled))
        wait_until(lambda: all(job["phase"] == "done" for job in self.jobs()), "all jobs are done")
        ended = time.monotonic()
        took = [float(re.search(r"took ([0-9.]+) s", self.request("GET", "/v1/jobs/%d/logs" % job["id"]).decode())[1])
                for job in self.jobs()]
        for job in self.jobs():
            self.assertEqual(job["report_count"], count)
            self.assertEqual(self.stored(job["id"]), list(range(1, count + 1)))
        rate = JOBS * count / max(took)
        print(json.dumps({"suite": "end_to_end", "name": "reports/%dx%d" % (JOBS, RATE // JOBS), "value": round(rate),
                          "unit": "1/s"}))
        self.assertGreaterEqual(rate, RATE_MIN, "the jobs were held up")
        self.assertEqual(spooled, 0, "acknowledgements came too late")
        self.assertLess(ended - begin, max(took) + DELAY_SECONDS_MAX, "the journal came too late")


if __name__ == "__main__":
    unittest.main(verbosity=2)
