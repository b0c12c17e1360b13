"""The share file, the thread follower, and the package outside a job."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import mete
from mete._allocation import Allocation, AllocationFile
from mete._threads import ThreadFollower


class FakeClock:

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class AllocationFileTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "allocation.json")
        self.clock = FakeClock()

    def replace(self, text):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
        os.replace(self.path + ".new", self.path)

    def file(self):
        return AllocationFile({"METE_ALLOCATION_FILE": self.path, "METE_ROLE": "server", "METE_REPLICA_INDEX": "2"},
                              self.clock)

    def test_reads_all_fields(self):
        self.replace({"generation": 3, "cpus": 0.75, "role": "worker", "index": 1, "counts": {"worker": 2, "server": 1},
                      "stop": False})
        seen = self.file().read()
        self.assertEqual((seen.generation, seen.cpus, seen.role, seen.index, seen.counts, seen.stop, seen.threads),
                         (3, 0.75, "worker", 1, {"worker": 2, "server": 1}, False, 1))

    def test_a_change_is_seen_after_a_fifth_of_a_second_and_not_before(self):
        self.replace({"cpus": 1.0})
        file = self.file()
        self.assertEqual(file.read().cpus, 1.0)
        self.replace({"cpus": 2.0, "stop": True})
        self.clock.now += 0.1
        self.assertEqual(file.read().cpus, 1.0)
        self.clock.now += 0.11
        self.assertEqual((file.read().cpus, file.read().stop), (2.0, True))

    def test_a_bad_file_leaves_the_last_answer(self):
        self.replace({"cpus": 1.5, "generation": 4})
        file = self.file()
        self.assertEqual(file.read().cpus, 1.5)
        for bad in ("", "{", "[]", "null", '{"cpus": "many"}', '{"cpus": NaN}', '{"cpus": -1}', '{"cpus": 1e99}',
                    '{"counts": 3}', '{"index": {}}', "\x00\x00"):
            self.replace(bad)
            self.clock.now += 1.0
            self.assertEqual((file.read().cpus, file.read().generation), (1.5, 4), bad)
        os.unlink(self.path)
        self.clock.now += 1.0
        self.assertEqual(file.read().cpus, 1.5)
        self.replace({"cpus": 0.5})
        self.clock.now += 1.0
        self.assertEqual(file.read().cpus, 0.5)

    def test_before_the_file_exists_the_environment_speaks(self):
        seen = self.file().read()
        self.assertEqual((seen.role, seen.index, seen.generation, seen.stop), ("server", 2, 0, False))
        self.assertGreaterEqual(seen.cpus, 1.0)

    def test_threads_round_up_but_not_for_a_tenth(self):
        for cpus, threads in ((0.0, 1), (0.2, 1), (1.0, 1), (1.1, 1), (1.2, 2), (2.0, 2), (2.5, 3), (16.0, 16)):
            self.assertEqual(Allocation(cpus).threads, threads, cpus)


class ThreadFollowerTest(unittest.TestCase):

    def setUp(self):
        self.clock = FakeClock()
        self.calls = []
        self.follower = ThreadFollower([self.calls.append], clock=self.clock)

    def at(self, seconds, wanted):
        self.clock.now = 100.0 + seconds
        return self.follower.update(wanted)

    def test_a_count_known_at_the_start_is_changed_like_any_other(self):
        follower = ThreadFollower([self.calls.append], threads=2, clock=self.clock)
        self.assertEqual(follower.update(2), 2)
        self.assertEqual(follower.update(1), 2)
        self.clock.now += 5.0
        self.assertEqual(follower.update(1), 1)
        self.assertEqual(self.calls, [1])

    def test_the_first_count_is_set_at_once(self):
        self.assertEqual(self.at(0, 2), 2)
        self.assertEqual(self.calls, [2])

    def test_a_change_waits_five_seconds(self):
        self.at(0, 2)
        self.assertEqual(self.at(1, 1), 2)
        self.assertEqual(self.at(5.9, 1), 2)
        self.assertEqual(self.at(6.0, 1), 1)
        self.assertEqual(self.calls, [2, 1])

    def test_a_return_starts_the_wait_anew(self):
        self.at(0, 2)
        self.at(1, 1)
        self.at(5, 2)
        self.assertEqual(self.at(7, 1), 2)
        self.assertEqual(self.at(11.9, 1), 2)
        self.assertEqual(self.at(12.0, 1), 1)
        self.assertEqual(self.calls, [2, 1])

    def test_the_count_asked_for_last_wins(self):
        self.at(0, 1)
        self.at(1, 4)
        self.assertEqual(self.at(6.5, 3), 3)
        self.assertEqual(self.calls, [1, 3])


class OutsideAJobTest(unittest.TestCase):

    def run_script(self, text, **environment):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("METE_")}
        return subprocess.run([sys.executable, "-c", text], env=dict(clean, **environment), capture_output=True,
                              text=True, timeout=60)

    def test_everything_is_a_no_op_with_sensible_answers(self):
        done = self.run_script(
            "import mete\n"
            "for i in mete.loop(3): mete.report(i, loss='anything', samples=object())\n"
            "a = mete.allocation()\n"
            "print(i, mete.in_job(), mete.should_stop(), a.role, a.index, a.counts, a.generation, a.cpus >= 1,\n"
            "      mete.follow_threads() >= 1, mete.dropped(), mete.flush())")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "3 False False worker 0 {'worker': 1} 0 True True 0 True\n")

    def test_the_import_is_light(self):
        done = self.run_script("import sys; before = set(sys.modules); import mete; print(*set(sys.modules) - before)")
        self.assertEqual(set(done.stdout.split()), {"mete", "mete._allocation", "mete._channel"}, done.stderr)

    def test_a_loop_ends_when_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "allocation.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"cpus": 1, "stop": true}')
            done = self.run_script("import mete; print(list(mete.loop(5)), mete.should_stop())",
                                   METE_ALLOCATION_FILE=path)
        self.assertEqual(done.stdout, "[] True\n", done.stderr)

    def test_names_that_are_promised_exist(self):
        for name in mete.__all__:
            self.assertTrue(hasattr(mete, name), name)


if __name__ == "__main__":
    unittest.main()
