"""`mete run`, with and without a daemon, and on a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from mete_world import LEARNER, METE, World, wait_until


class Run(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)

    def test_serves_by_itself(self):
        world = self.world
        running = world.start("run", "--name", "mine", "--", *LEARNER, "150")
        wait_until(lambda: world.mete("why", "mine").returncode == 0, "another terminal sees it")
        out, err = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 0, err)
        self.assertIn("mine (job 1): done, exit 0", out)
        self.assertEqual(world.mete("list").returncode, 4)

    def test_leaves_no_runner_behind(self):
        for _ in range(5):
            self.world.mete("run", "-q", "--", "true", code=0)
        self.assert_no_runner()

    def assert_no_runner(self):
        def runners():
            found = subprocess.run(["pgrep", "-af", f"mete-runner {self.world.state}"], capture_output=True, text=True)
            return found.stdout

        wait_until(lambda: not runners(), "the runners have left", seconds=10)

    def test_codes(self):
        world = self.world
        self.assertEqual(world.mete("run", "--", "false").returncode, 1)
        self.assertEqual(world.mete("run", "--", "/no/such/program").returncode, 2)
        self.assertEqual(world.mete("run", "--memory", "900TiB", "--", "true").returncode, 5)
        quiet = world.mete("run", "-q", "--", "true", code=0)
        self.assertEqual(quiet.stderr, "")

    def test_interrupt_ends_the_jobs(self):
        world = self.world
        running = world.start("run", "--name", "long", "--", "sleep", "1000")
        pid = wait_until(lambda: world.mete("why", "long").returncode == 0
                         and world.job("long")["phase"] == "running"
                         and world.job("long")["replicas"][0]["pid"], "it runs")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 7, err)
        self.assertIn("cancelled by its user", out)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_second_interrupt_kills(self):
        world = self.world
        running = world.start("run", "--name", "deaf", "--", "/bin/sh", "-c",
                              "trap '' TERM; while :; do sleep 1; done")
        wait_until(lambda: world.mete("why", "deaf").returncode == 0 and world.job("deaf")["phase"] == "running",
                   "it runs")
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        wait_until(lambda: world.job("deaf")["phase"] == "stopping", "it is asked to end")
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 7)
        self.assertLess(time.monotonic() - began, 9, "without the grace of ten seconds")

    def test_detach_leaves_a_daemon(self):
        world = self.world
        world.mete("run", "--detach", "--name", "left", "--", *LEARNER, "20", code=0)
        pid = world.json("version")["daemon"]["pid"]
        world.mete("wait", "left", code=0)
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: world.mete("list").returncode == 4, "it has gone")
        self.assert_no_runner()

    def test_uses_the_daemon_that_is_there(self):
        world = self.world.serve()
        done = world.mete("run", "--", *LEARNER, "20", code=0)
        self.assertIn("done", done.stdout)
        world.mete("list", code=0)

    def test_many_jobs_of_a_file(self):
        world = self.world
        jobs = "".join(f"- {{name: j{i}, command: [{LEARNER[0]}, {LEARNER[1]}, '20']}}\n" for i in range(12))
        done = world.mete("run", world.file("jobs.yaml", "jobs:\n" + jobs), code=0)
        self.assertEqual(done.stdout.count("done, exit 0"), 12)


class Terminal(unittest.TestCase):
    """A real pseudo-terminal: drawn, resized, left."""

    def setUp(self):
        self.world = World().serve()
        self.addCleanup(self.world.close)

    def open(self, *arguments, rows=24, columns=80):
        master, slave = pty.openpty()
        self.resize(slave, rows, columns)
        process = subprocess.Popen([METE, *arguments], env={**self.world.environment, "TERM": "xterm"},
                                   stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.addCleanup(os.close, master)
        return process, master

    @staticmethod
    def resize(fd, rows, columns):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @staticmethod
    def read(master, seconds):
        data = b""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    data += os.read(master, 65536)
                except OSError:
                    break
        return data.decode(errors="replace")

    @staticmethod
    def last_picture(text):
        picture = text.split("\x1b[H")[-1]
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", picture).replace("\r", "").split("\n")

    def test_top_draws_resizes_and_leaves(self):
        self.world.submit("sleep", "1000", name="shown")
        process, master = self.open("top", "-i", "0.2")
        text = self.read(master, 3)
        self.assertIn("\x1b[?1049h", text)
        self.assertIn("shown", text)
        self.resize(master, 5, 20)
        os.kill(process.pid, signal.SIGWINCH)
        small = self.last_picture(self.read(master, 2))
        self.assertLessEqual(len(small), 5)
        self.assertTrue(all(len(line) <= 20 for line in small), small)
        os.write(master, b"q")
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertIn("\x1b[?1049l", self.read(master, 0.5))
        self.world.mete("cancel", "--now", "shown", code=0)

    def test_run_shows_a_table_and_then_the_end(self):
        process, master = self.open("run", "--name", "drawn", "--", *LEARNER, "100")
        text = self.read(master, 1)
        while process.poll() is None:
            text += self.read(master, 0.5)
        text += self.read(master, 0.3)
        self.assertEqual(process.returncode, 0)
        self.assertIn("\x1b[?1049h", text)
        after = text.split("\x1b[?1049l")[-1]
        self.assertIn("drawn (job 1): done, exit 0", after)


if __name__ == "__main__":
    unittest.main()
