"""The loops for scikit-learn and PyTorch, on the real libraries, reporting to a real socket."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from runner_stub import RunnerStub


class LoopsTest(unittest.TestCase):

    def run_job(self, text, allocation=None, **environment):
        """Runs text as a job; returns (what it printed, the lines it reported)."""
        with tempfile.TemporaryDirectory() as folder:
            runner = RunnerStub(os.path.join(folder, "progress"))
            share = os.path.join(folder, "allocation.json")
            with open(share, "w", encoding="utf-8") as file:
                json.dump(allocation or {"cpus": 1.0, "generation": 1}, file)
            done = subprocess.run(
                [sys.executable, "-c", text], capture_output=True, text=True, timeout=100,
                env=dict(os.environ, METE_SOCKET=runner.path, METE_ALLOCATION_FILE=share, **environment))
            self.assertEqual(done.returncode, 0, done.stderr)
            printed = json.loads(done.stdout)
            return printed, runner.wait_for(printed["reports"])

    def test_partial_fit(self):
        printed, lines = self.run_job(
            "import json, mete.sklearn\n"
            "from sklearn.datasets import load_digits\n"
            "from sklearn.linear_model import SGDClassifier\n"
            "from sklearn.metrics import log_loss\n"
            "x, y = load_digits(return_X_y=True)\n"
            "losses = mete.sklearn.partial_fit_loop(\n"
            "    SGDClassifier(loss='log_loss', alpha=0.01, learning_rate='constant', eta0=1e-4, random_state=0),\n"
            "    x, y, iterations=6, batch_size=256, classes=range(10),\n"
            "    loss=lambda model: log_loss(y, model.predict_proba(x)))\n"
            "print(json.dumps({'reports': len(losses), 'losses': losses}))\n")
        self.assertEqual([line["loss"] for line in lines], printed["losses"])
        self.assertEqual([line["iteration"] for line in lines], [1, 2, 3, 4, 5, 6])
        self.assertEqual([line["samples"] for line in lines], [1797 * i for i in range(1, 7)])
        self.assertLess(lines[-1]["loss"], 0.9 * lines[0]["loss"])

    def test_warm_start_grows_an_ensemble_and_continues_a_solver(self):
        printed, lines = self.run_job(
            "import json, mete.sklearn\n"
            "from sklearn.datasets import load_diabetes\n"
            "from sklearn.ensemble import GradientBoostingRegressor\n"
            "from sklearn.neural_network import MLPRegressor\n"
            "x, y = load_diabetes(return_X_y=True)\n"
            "trees = mete.sklearn.warm_start_loop(GradientBoostingRegressor(random_state=0), x, y, iterations=5)\n"
            "net = mete.sklearn.warm_start_loop(MLPRegressor(random_state=0, solver='adam'), x, y / 100, iterations=5)\n"
            "print(json.dumps({'reports': len(trees + net), 'losses': trees + net}))\n")
        self.assertEqual([line["loss"] for line in lines], printed["losses"])
        for losses in (printed["losses"][:5], printed["losses"][5:]):
            self.assertLess(losses[-1], losses[0])

    def test_torch_progress_averages_and_follows_the_cores(self):
        printed, lines = self.run_job(
            "import json, mete.torch, torch\n"
            "progress = mete.torch.Progress(every=2)\n"
            "for epoch in mete.torch.loop(3):\n"
            "    for loss in (1.0, 3.0):\n"
            "        progress(torch.tensor(loss * epoch, requires_grad=True), samples=8, epoch=epoch)\n"
            "print(json.dumps({'reports': 3, 'threads': torch.get_num_threads()}))\n", {"cpus": 1.0})
        self.assertEqual(lines, [{"iteration": i, "loss": 2.0 * i, "samples": 16 * i, "metrics": {"epoch": i}}
                                 for i in (1, 2, 3)])
        self.assertEqual(printed["threads"], 1)

    def test_blas_follows_the_cores(self):
        printed, _ = self.run_job(
            "import json, os, numpy, threadpoolctl, mete\n"
            "del os.environ['OMP_NUM_THREADS']\n"
            "threadpoolctl.threadpool_limits(limits=2)\n"
            "counts = lambda: [pool['num_threads'] for pool in threadpoolctl.threadpool_info()]\n"
            "before = counts()\n"
            "print(json.dumps({'reports': 0, 'before': before, 'said': mete.follow_threads(), 'after': counts()}))\n",
            {"cpus": 0.5}, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")
        self.assertEqual(set(printed["before"]), {2})
        self.assertEqual((printed["said"], set(printed["after"])), (1, {1}))

    def test_a_loop_ends_before_its_first_iteration_when_asked(self):
        printed, _ = self.run_job(
            "import json, mete.torch\nprint(json.dumps({'reports': 0, 'seen': list(mete.torch.loop(3))}))\n",
            {"cpus": 1.0, "stop": True})
        self.assertEqual(printed["seen"], [])


if __name__ == "__main__":
    unittest.main()
