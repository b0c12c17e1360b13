"""A daemon of the real program with a state directory and socket of its own, and the command line beside it."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ.get("METE_BIN_DIR", pathlib.Path(__file__).parents[2] / "build/dev/bin"))
METE = str(BIN / "mete")
HERE = pathlib.Path(__file__).parent
PYTHON = "/usr/bin/python3"
LEARNER = [PYTHON, str(HERE / "learner.py")]


def wait_until(condition, what, seconds=60):
    """Polls; the machine may be slow, so the deadline is generous."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


class World:
    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="mete-e2e-")
        self.folder = pathlib.Path(self._folder.name)
        self.state = self.folder / "state"
        self.socket = self.folder / "run" / "mete.sock"
        self.environment = {
            **os.environ,
            "METE_STATE_DIR": str(self.state),
            "METE_SOCKET_PATH": str(self.socket),
            "LC_ALL": "C.UTF-8",
        }
        self.daemon = None

    def serve(self, *arguments):
        log = open(self.folder / "daemon.log", "ab")
        self.daemon = subprocess.Popen(
            [METE, "serve", "--round", "500ms", *arguments], env=self.environment, stdout=log, stderr=log)
        log.close()
        wait_until(lambda: self.mete("version").stdout.count("pid") or self.daemon.poll() is not None,
                   "the daemon answers")
        if self.daemon.poll() is not None:
            raise AssertionError("the daemon ended: " + self.log())
        return self

    def log(self):
        return (self.folder / "daemon.log").read_text(errors="replace")

    def start(self, *arguments, **more):
        return subprocess.Popen([METE, *arguments], env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    def mete(self, *arguments, code=None, timeout=120, **more):
        done = subprocess.run([METE, *map(str, arguments)], env=self.environment, capture_output=True, text=True,
                              errors="replace", timeout=timeout, **more)
        if code is not None and done.returncode != code:
            raise AssertionError(f"mete {arguments}: {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        return done

    def json(self, *arguments):
        return json.loads(self.mete(*arguments, "-o", "json", code=0).stdout)

    def job(self, name):
        return self.json("describe", name)

    def submit(self, *words, name="job", more=()):
        return int(self.mete("submit", "--name", name, *more, "--", *words, code=0).stdout.split()[0])

    def file(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def close(self):
        if self.daemon is not None and self.daemon.poll() is None:
            for job in self.json("list", "--state", "live")["jobs"]:
                self.mete("cancel", "--now", job["id"])
            wait_until(lambda: self.json("list", "--state", "live")["total"] == 0, "all jobs have ended")
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait(timeout=60)
        self._folder.cleanup()


class WorldTest(unittest.TestCase):
    """One daemon for all tests of a class."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.world = World()
        try:
            cls.world.serve(*cls.arguments)
        except Exception:
            cls.world.close()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.world.close()
