"""The metrics of the live experiment on runs small enough to work out by hand."""

import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "experiments" / "live-slaq"))

from metrics import JobRun, changes, run_metrics, share_by_quality, table


def job(name="a", arrival=10.0, finished=20.0, losses=(), first=5.0, minimum=1.0):
    return JobRun(name, arrival, finished, list(losses), first, minimum)


class JobRunTest(unittest.TestCase):

    def setUp(self):
        # Normalised: 1, 0.5, 0.75 (worse), not a number, 0.1, 0.
        self.job = job(losses=[(12.0, 1, 5.0), (13.0, 2, 3.0), (14.0, 3, 4.0), (15.0, 4, math.nan), (16.0, 5, 1.4),
                               (18.0, 6, 1.0)])

    def test_time_to_a_reduction(self):
        self.assertEqual(self.job.time_to(25), 3.0)
        self.assertEqual(self.job.time_to(50), 3.0)
        self.assertEqual(self.job.time_to(75), 6.0)
        self.assertEqual(self.job.time_to(90), 6.0)
        self.assertEqual(self.job.time_to(95), 8.0)
        self.assertEqual(self.job.time_to(95, "first"), 6.0)

    def test_never_reached(self):
        self.assertIsNone(job(losses=[(12.0, 1, 5.0), (13.0, 2, 2.0)]).time_to(90))
        self.assertIsNone(job().time_to(25))
        self.assertIsNone(job().time_to(25, "first"))

    def test_the_integral_holds_the_last_known_loss(self):
        # 1 until 13, 0.5 until 16 (a rise does not count), 0.1 until 18, 0 until the end.
        self.assertAlmostEqual(self.job.loss_integral(), 3.0 + 0.5 * 3.0 + 0.1 * 2.0)
        self.assertAlmostEqual(job().loss_integral(), 10.0)

    def test_a_loss_below_the_minimum_adds_nothing(self):
        below = job(losses=[(12.0, 1, 5.0), (13.0, 2, 0.0)])
        self.assertAlmostEqual(below.loss_integral(), 3.0)

    def test_scale_and_offset_of_the_loss_do_not_matter(self):
        other = job(losses=[(t, k, -7.0 + 100.0 * x) for t, k, x in self.job.losses], first=493.0, minimum=93.0)
        self.assertEqual(other.time_to(90), self.job.time_to(90))
        self.assertAlmostEqual(other.loss_integral(), self.job.loss_integral())


class RunTest(unittest.TestCase):

    def test_means_and_misses(self):
        quick = job("quick", 0.0, 4.0, [(1.0, 1, 5.0), (2.0, 2, 1.0)])
        slow = job("slow", 2.0, 12.0, [(4.0, 1, 5.0), (8.0, 2, 2.0)])
        figures = run_metrics([quick, slow])
        self.assertEqual(figures["t75_from_arrival"], (2.0 + 6.0) / 2)
        self.assertEqual(figures["t75_from_first"], (1.0 + 4.0) / 2)
        self.assertEqual(figures["t90_from_arrival"], 2.0)
        self.assertEqual(figures["missed_90"], 1)
        self.assertNotIn("missed_75", figures)
        self.assertEqual(figures["completion"], 7.0)
        self.assertEqual(figures["completion_longest"], 10.0)
        self.assertEqual(figures["makespan"], 12.0)

    def test_shares_by_quality(self):
        # Four jobs at 1, 0.5, 0.25 and 0 when sampled; a fifth has ended.
        jobs = [job(name, 0.0, 100.0, [(1.0, 1, 5.0), (2.0, 2, loss)])
                for name, loss in (("a", 5.0), ("b", 3.0), ("c", 2.0), ("d", 1.0))]
        jobs.append(job("over", 0.0, 3.0, [(1.0, 1, 5.0)]))
        cores = {"a": 1.2, "b": 0.4, "c": 0.3, "d": 0.1, "over": 9.0, "stranger": 9.0}
        shares = share_by_quality(jobs, [(50.0, cores), (200.0, cores)])
        for got, want in zip(shares, (0.6, 0.2, 0.2)):
            self.assertAlmostEqual(got, want)
        self.assertIsNone(share_by_quality(jobs[:3], [(50.0, cores)]))

    def test_changes_are_paired(self):
        base = [{"completion": 10.0}, {"completion": 100.0}, {"completion": 50.0}]
        mine = [{"completion": 9.0}, {"completion": 80.0}, {"completion": 35.0}]
        mean, half = changes(mine, base)["completion"]
        self.assertAlmostEqual(mean, -0.2)
        self.assertAlmostEqual(half, 4.303 * 0.1 / math.sqrt(3))
        self.assertTrue(math.isnan(changes(mine[:1], base[:1])["completion"][1]))

    def test_the_table_shows_both_directions(self):
        fair = run_metrics([job("a", 0.0, 10.0, [(1.0, 1, 5.0), (8.0, 2, 1.0)])])
        mine = run_metrics([job("a", 0.0, 12.0, [(1.0, 1, 5.0), (4.0, 2, 1.0)])])
        lines = table({"fair": [fair], "slaq": [mine]}, "fair")
        self.assertTrue(any("time to 90 % from arrival" in line and "4.0 (-50 %)" in line for line in lines), lines)
        self.assertTrue(any(line.startswith("completion") and "12.0 (+20 %)" in line for line in lines), lines)


if __name__ == "__main__":
    unittest.main()
