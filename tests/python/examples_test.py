"""Every example runs a few iterations and its loss falls, as the runner would see it."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from runner_stub import RunnerStub

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
# How much of the first loss must be gone after so many iterations.
REPORTING = {
    "boosted_classification": (20, 0.5),
    "boosted_regression": (20, 0.3),
    "kmeans": (15, 0.3),
    "lda": (20, 0.1),
    "linear_regression": (40, 0.2),
    "logistic_regression": (40, 0.5),
    "mlp": (40, 0.5),
    "polynomial_svm": (40, 0.5),
    "svm": (40, 0.5),
    "torch_digits": (3, 0.3),
}


class ExamplesTest(unittest.TestCase):

    def run_example(self, name, iterations, work=1, seed=1, **environment):
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", **environment)
        done = subprocess.run(
            [sys.executable, "-B", EXAMPLES / (name + ".py"), "--iterations", str(iterations), "--work", str(work),
             "--seed", str(seed)], env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def losses(self, name, iterations, **how):
        with tempfile.TemporaryDirectory() as folder:
            runner = RunnerStub(os.path.join(folder, "progress"))
            self.run_example(name, iterations, METE_SOCKET=runner.path, **how)
            lines = runner.wait_for(iterations)
        self.assertEqual([line["iteration"] for line in lines], list(range(1, iterations + 1)), name)
        self.assertGreater(lines[0]["samples"], 100)
        return [line["loss"] for line in lines]

    def assert_falls(self, losses, by, name):
        self.assertLess(losses[-1], (1.0 - by) * losses[0], name)

    def test_each_reports_a_falling_loss(self):
        for name, (iterations, by) in REPORTING.items():
            with self.subTest(name):
                self.assert_falls(self.losses(name, iterations), by, name)

    def test_all_examples_are_tested(self):
        scripts = {path.stem for path in EXAMPLES.glob("*.py")} - {"example"}
        self.assertEqual(scripts, set(REPORTING) | {"prints_loss", "writes_jsonl"})

    def test_more_work_leaves_the_losses(self):
        for name in ("kmeans", "lda", "mlp", "boosted_classification"):
            with self.subTest(name):
                once, thrice = self.losses(name, 6), self.losses(name, 6, work=3)
                for a, b in zip(once, thrice):
                    self.assertAlmostEqual(a, b, delta=1e-3 * abs(a))

    def test_the_seed_decides(self):
        self.assertEqual(self.losses("mlp", 3, seed=4), self.losses("mlp", 3, seed=4))
        self.assertNotEqual(self.losses("mlp", 3, seed=4), self.losses("mlp", 3, seed=5))

    def test_one_prints_its_loss(self):
        losses = [float(found) for found in re.findall(r"loss[:= ]\s*([-+.0-9e]+)", self.run_example("prints_loss", 30))]
        self.assertEqual(len(losses), 30)
        self.assert_falls(losses, 0.5, "prints_loss")

    def test_one_writes_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log.jsonl")
            self.run_example("writes_jsonl", 30, PROGRESS_FILE=path)
            with open(path, encoding="utf-8") as file:
                records = [json.loads(line) for line in file]
        self.assertEqual([record["iteration"] for record in records], list(range(1, 31)))
        self.assert_falls([record["loss"] for record in records], 0.3, "writes_jsonl")

    def test_they_run_outside_a_job(self):
        said = self.run_example("svm", 5)
        self.assertIn("5 iterations", said)
        # What the pattern for losses on stdout finds would be a second report of the same iteration.
        self.assertIsNone(re.search(r"loss[:= ]\s*[-+]?[0-9]", said))


if __name__ == "__main__":
    unittest.main()
