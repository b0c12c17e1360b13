"""mete.report against a real socket: what arrives, when, and that nothing the runner does reaches the training."""

import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from mete._channel import Channel
from runner_stub import RunnerStub


class ChannelTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "progress")
        self.addCleanup(self.folder.cleanup)

    def script(self, text, **environment):
        """Runs text as a job's program would run, with METE_SOCKET set; returns the finished process."""
        return subprocess.run([sys.executable, "-c", text], env=dict(os.environ, METE_SOCKET=self.path, **environment),
                              capture_output=True, text=True, timeout=60)

    def test_a_report_arrives_whole(self):
        runner = RunnerStub(self.path)
        Channel(self.path).report(12, 0.53, 4096, {"accuracy": 0.9})
        self.assertEqual(runner.wait_for(1), [
            {"iteration": 12, "loss": 0.53, "samples": 4096, "metrics": {"accuracy": 0.9}}])

    def test_numbers_of_every_kind(self):
        import numpy as np
        runner = RunnerStub(self.path)
        channel = Channel(self.path)
        channel.report(1, float("nan"), None, {})
        channel.report(2, float("inf"), None, {})
        channel.report(np.int64(3), np.float32(-0.5), np.int32(7), {"odd name \"é\"": np.float64(1e-300)})
        channel.report(4, -math.inf, None, {"flag": True, "huge": 10**30})
        channel.report(5, 2, None, {})
        lines = runner.wait_for(5)
        self.assertTrue(math.isnan(lines[0]["loss"]))
        self.assertEqual(lines[1]["loss"], math.inf)
        self.assertEqual(lines[2], {"iteration": 3, "loss": -0.5, "samples": 7, "metrics": {'odd name "é"': 1e-300}})
        self.assertEqual(lines[3], {"iteration": 4, "loss": -math.inf, "metrics": {"flag": 1.0, "huge": 10**30}})
        self.assertEqual(lines[4], {"iteration": 5, "loss": 2})
        self.assertEqual(runner.broken, [])

    def test_what_is_no_number_is_left_out_and_said_once(self):
        runner = RunnerStub(self.path)
        done = self.script("import mete\n"
                           "for i in range(1, 4): mete.report(i, loss='low', samples=[1], good=1.5, bad=object())\n"
                           "mete.report(object(), loss=1.0)\n"
                           "print(mete.dropped())")
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(runner.wait_for(3), [{"iteration": i, "metrics": {"good": 1.5}} for i in (1, 2, 3)])

    def test_metrics_that_do_not_fit_leave_the_loss(self):
        runner = RunnerStub(self.path)
        Channel(self.path).report(1, 0.5, None, {"m%d" % i: float(i) for i in range(2000)})
        self.assertEqual(runner.wait_for(1), [{"iteration": 1, "loss": 0.5}])

    def test_a_lone_report_leaves_at_once(self):
        class NoThread(Channel):
            def _leave_to_writer(self):
                raise AssertionError("left to the writer")
        runner = RunnerStub(self.path)
        channel = NoThread(self.path)
        for i in range(1, 4):
            channel.report(i, 1.0 / i, None, {})
            self.assertEqual(len(runner.wait_for(i)), i)
            time.sleep(0.03)

    def test_the_end_of_a_burst_leaves_without_a_further_call(self):
        runner = RunnerStub(self.path)
        channel = Channel(self.path)
        for i in range(1, 11):
            channel.report(i, 1.0, None, {})
        self.assertEqual([line["iteration"] for line in runner.wait_for(10)], list(range(1, 11)))

    def test_all_reports_of_a_fast_job_arrive_in_order(self):
        runner = RunnerStub(self.path)
        channel = Channel(self.path)
        for i in range(5000):
            channel.report(i, i / 7, None, {})
        self.assertTrue(channel.flush(20.0))
        self.assertEqual([line["iteration"] for line in runner.wait_for(5000)], list(range(5000)))
        self.assertEqual(channel.dropped, 0)

    def test_threads_share_the_channel(self):
        runner = RunnerStub(self.path)
        channel = Channel(self.path)
        threads = [threading.Thread(target=lambda base=base: [
            channel.report(base + i, 0.5, None, {"thread": base}) for i in range(500)]) for base in range(0, 4000, 1000)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(channel.flush(20.0))
        lines = runner.wait_for(2000)
        self.assertEqual(sorted(line["iteration"] for line in lines),
                         sorted(base + i for base in range(0, 4000, 1000) for i in range(500)))
        self.assertEqual(runner.broken, [])
        self.assertEqual(runner.connections, 1)

    def test_a_signal_handler_may_report(self):
        runner = RunnerStub(self.path)
        done = self.script(
            "import mete, signal\n"
            "def on_alarm(*_): mete.report(1000000, loss=1.0)\n"
            "signal.signal(signal.SIGALRM, on_alarm)\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n"
            "for i in range(20000): mete.report(i, loss=0.5)\n"
            "signal.setitimer(signal.ITIMER_REAL, 0)\n"
            "print(mete.dropped())")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)
        lines = runner.wait_for(20001)
        self.assertEqual([line["iteration"] for line in lines if line["iteration"] < 1000000], list(range(20000)))

    def test_a_runner_that_does_not_read_never_blocks(self):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.path)
        listener.listen()
        channel = Channel(self.path)
        count = 60000  # far more than socket and buffer hold
        slowest = 0.0
        begun = time.monotonic()
        for i in range(count):
            before = time.monotonic()
            channel.report(i, 0.123456789, None, {})
            slowest = max(slowest, time.monotonic() - before)
        self.assertLess(time.monotonic() - begun, 20.0)
        self.assertLess(slowest, 1.0)
        self.assertGreater(channel.dropped, 10000)
        self.assertLess(len(channel._lines), 20000)
        self.assertFalse(channel.flush(0.05))

        # All that was not counted as dropped arrives once the runner reads again, in whole lines.
        connection, _ = listener.accept()
        self.addCleanup(connection.close)
        received = bytearray()
        reader = threading.Thread(target=lambda: [received.extend(data) for data in iter(
            lambda: connection.recv(1 << 16), b"")], daemon=True)
        reader.start()
        self.assertTrue(channel.flush(20.0))
        channel._socket.close()
        reader.join(20.0)
        self.assertEqual(received.count(b"\n"), count - channel.dropped)

    def test_no_runner_is_no_trouble_and_the_exit_is_quick(self):
        begun = time.monotonic()
        done = self.script("import mete\nfor i in range(50000): mete.report(i, loss=0.5)\nprint(mete.dropped() > 0)")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "True\n", ""))
        self.assertLess(time.monotonic() - begun, 10.0)

    def test_a_lost_runner_is_found_again(self):
        runner = RunnerStub(self.path)
        channel = Channel(self.path)
        channel.report(1, 0.5, None, {})
        runner.wait_for(1)
        runner.hang_up()
        for i in range(2, 20):
            channel.report(i, 0.5, None, {})
        again = RunnerStub(self.path)
        end = time.monotonic() + 20
        i = 20
        while not again.lines and time.monotonic() < end:
            channel.report(i, 0.5, None, {})
            i += 1
            time.sleep(0.02)
        channel.flush(10.0)
        iterations = [line["iteration"] for line in again.wait_for(i - 2 - channel.dropped)]
        self.assertEqual(iterations[-1], i - 1)
        self.assertEqual(iterations, list(range(iterations[0], i)))
        self.assertEqual(again.broken, [])

    def test_a_cut_line_is_sent_again_whole(self):
        channel = Channel(self.path)
        channel._chunk = b'{"iteration": 1}\n{"iteration": 2}\n'
        channel._offset = 20
        channel._socket = socket.socket(socket.AF_UNIX)
        channel._disconnect()
        self.assertEqual(channel._chunk, b'{"iteration": 2}\n')
        channel._chunk = b""

    def test_the_exit_hands_over_what_is_left(self):
        runner = RunnerStub(self.path)
        done = self.script("import mete\nfor i in range(300): mete.report(i, loss=0.5)")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(runner.wait_for(300)), 300)

    def test_a_forked_child_has_its_own_connection(self):
        runner = RunnerStub(self.path)
        done = self.script(
            "import mete, os\n"
            "for i in range(100): mete.report(i, loss=0.5)\n"
            "child = os.fork()\n"
            "base = 1000 if child == 0 else 2000\n"
            "for i in range(100): mete.report(base + i, loss=0.5)\n"
            "if child: os.waitpid(child, 0)\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = runner.wait_for(300)
        self.assertEqual(sorted(line["iteration"] for line in lines),
                         list(range(100)) + list(range(1000, 1100)) + list(range(2000, 2100)))
        self.assertEqual(runner.broken, [])
        self.assertEqual(runner.connections, 2)

    def test_a_path_too_long_for_an_address(self):
        folder = os.path.join(self.folder.name, *["d" * 60] * 4)
        os.makedirs(folder)
        path = os.path.join(folder, "progress")
        self.assertGreater(len(path), 200)
        runner = RunnerStub(path)
        Channel(path).report(1, 0.5, None, {})
        self.assertEqual(runner.wait_for(1), [{"iteration": 1, "loss": 0.5}])

    def test_a_job_killed_by_term_has_handed_over_its_lone_reports(self):
        runner = RunnerStub(self.path)
        process = subprocess.Popen(
            [sys.executable, "-c", "import mete, time\nmete.report(1, loss=0.5)\ntime.sleep(60)"],
            env=dict(os.environ, METE_SOCKET=self.path))
        self.assertEqual(len(runner.wait_for(1)), 1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
