"""Workloads of the live experiment: drawn from the committed profile, the load as asked for."""

import json
import pathlib
import statistics
import sys
import unittest

EXPERIMENT = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "live-slaq"
sys.path.insert(0, str(EXPERIMENT))

import workload


class WorkloadTest(unittest.TestCase):

    def setUp(self):
        self.profile = workload.load_profile()

    def test_the_offered_load_is_the_one_asked_for(self):
        for seed in range(1, 30):
            for load in (0.9, 1.5):
                built = workload.build(self.profile, seed, load, cores=2)
                jobs = built["jobs"]
                self.assertEqual(len(jobs), 24)
                self.assertEqual(jobs[0]["arrival_seconds"], 0.0)
                arrivals = [job["arrival_seconds"] for job in jobs]
                self.assertEqual(arrivals, sorted(arrivals))
                # All but the gap after the last arrival lies between the first arrival and the last.
                self.assertLess(arrivals[-1], sum(job["solo_seconds"] for job in jobs) / (2 * load))

    def test_sizes_are_about_as_asked_for(self):
        sizes = [job["solo_seconds"] for seed in range(1, 60)
                 for job in workload.build(self.profile, seed, 1.5, cores=2)["jobs"]]
        self.assertAlmostEqual(statistics.fmean(sizes), 12.0, delta=1.0)
        self.assertGreater(statistics.stdev(sizes), 6.0)

    def test_the_same_seed_gives_the_same_workload_and_another_does_not(self):
        first = json.dumps(workload.build(self.profile, 3, 1.5, 2))
        self.assertEqual(first, json.dumps(workload.build(self.profile, 3, 1.5, 2)))
        self.assertNotEqual(first, json.dumps(workload.build(self.profile, 4, 1.5, 2)))

    def test_load_changes_only_the_arrivals(self):
        dense, thin = (workload.build(self.profile, 5, load, 2)["jobs"] for load in (1.5, 0.9))
        for a, b in zip(dense, thin):
            self.assertAlmostEqual(a["arrival_seconds"] * 1.5, b["arrival_seconds"] * 0.9, delta=0.01)
            self.assertEqual({**a, "arrival_seconds": 0}, {**b, "arrival_seconds": 0})

    def test_a_job_runs_four_times_k95_and_all_kinds_occur(self):
        jobs = [job for seed in range(1, 9) for job in workload.build(self.profile, seed, 1.5, 2)["jobs"]]
        self.assertEqual({job["example"] for job in jobs}, set(workload.PAPER))
        for job in jobs:
            self.assertEqual(job["iterations"], 4 * job["k95"])
            self.assertLess(job["minimum"], job["first"])
            self.assertEqual(job["first"], self.profile[job["example"]]["seeds"][str(job["seed"])]["first"])

    def test_costs_between_and_beyond_the_measured(self):
        costs = [{"work": 1, "iteration_seconds": 0.1, "startup_seconds": 1.0, "memory_mb": 10},
                 {"work": 11, "iteration_seconds": 1.1, "startup_seconds": 2.0, "memory_mb": 110}]
        for work, wanted in ((1, (1.0, 0.1, 10)), (6, (1.5, 0.6, 60)), (11, (2.0, 1.1, 110)), (21, (3.0, 2.1, 210))):
            for got, want in zip(workload.cost_of(costs, work), wanted):
                self.assertAlmostEqual(got, want)
        self.assertEqual(workload.work_for(costs, 10, 1.5 + 6.0), 6)
        self.assertEqual(workload.work_for(costs, 10, 0.01), 1)


if __name__ == "__main__":
    unittest.main()
