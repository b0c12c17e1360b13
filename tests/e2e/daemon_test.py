"""Jobs under a daemon: submitted, watched, questioned, steered."""

import json
import os
import signal
import subprocess
import time
import unittest

from mete_world import LEARNER, METE, World, WorldTest, wait_until


class Jobs(WorldTest):
    def test_a_job_runs_reports_and_ends(self):
        world = self.world
        world.submit(*LEARNER, "30", name="learns")
        world.mete("wait", "learns", code=0)
        job = world.job("learns")
        self.assertEqual(job["phase"], "done")
        self.assertEqual(job["iteration"], 30)
        self.assertAlmostEqual(job["loss"], 1 / 30, places=5)
        self.assertEqual(job["end"], {"reason": "exited", "exit_code": 0})
        self.assertIn("learns", world.mete("list", code=0).stdout)
        self.assertIn("iteration 30 loss", world.mete("logs", "learns", "--tail", 1, code=0).stdout)
        self.assertEqual(world.mete("logs", "learns", code=0).stdout.count("\n"), 30)
        self.assertIn("is done: exit 0", world.mete("why", "learns", code=0).stdout)
        report = world.json("report", "learns")["jobs"][0]
        self.assertEqual(report["first_loss"], 1)
        self.assertGreater(report["to_95_percent_seconds"], report["to_25_percent_seconds"])
        self.assertEqual(len(world.mete("report", "--csv", "learns", code=0).stdout.splitlines()), 31)

    def test_ways_to_fail_are_named(self):
        world = self.world
        world.submit("/bin/sh", "-c", "echo oops >&2; exit 3", name="exits")
        world.submit("/bin/sh", "-c", "kill -9 $$", name="killed")
        self.assertEqual(world.mete("wait", "exits", "killed").returncode, 1)
        self.assertEqual(world.job("exits")["end"]["exit_code"], 3)
        self.assertEqual(world.job("killed")["end"]["reason"], "signalled")
        self.assertEqual(world.job("killed")["end"]["signal"], 9)
        self.assertIn("oops", world.mete("logs", "exits", code=0).stdout)
        self.assertIn("has failed", world.mete("why", "exits", code=0).stdout)

    def test_stop_rules_end_a_job_well(self):
        world = self.world
        world.submit(*LEARNER, "100000", name="aims", more=("--target", "0.1"))
        world.mete("wait", "aims", "--timeout", "60s", code=0)
        self.assertEqual(world.job("aims")["end"]["reason"], "target_reached")

    def test_pause_freezes_and_resume_goes_on(self):
        world = self.world
        world.submit(*LEARNER, "100000", "0.01", name="pausing")
        wait_until(lambda: world.job("pausing").get("iteration", 0) > 5, "it reports")
        world.mete("pause", "pausing", code=0)
        time.sleep(1)
        before = world.job("pausing")["iteration"]
        time.sleep(1)
        self.assertEqual(world.job("pausing")["iteration"], before)
        self.assertIn("paused", world.mete("list").stdout)
        self.assertIn("mete resume", world.mete("why", "pausing", code=0).stdout)
        world.mete("resume", "pausing", code=0)
        wait_until(lambda: world.job("pausing")["iteration"] > before, "it goes on")
        world.mete("cancel", "pausing", code=0)
        self.assertEqual(world.mete("wait", "pausing").returncode, 1)
        self.assertEqual(world.job("pausing")["phase"], "cancelled")
        self.assertEqual(world.mete("cancel", "pausing").returncode, 6)

    def test_scale_fixes_and_releases(self):
        world = self.world
        world.submit("sleep", "1000", name="scaled")
        wait_until(lambda: world.job("scaled")["phase"] == "running", "it runs")
        world.mete("scale", "scaled", "3", code=0)
        wait_until(lambda: world.job("scaled")["roles"][0]["units"] == 3, "it has 3 units")
        self.assertEqual(world.mete("scale", "scaled", "100000").returncode, 2)
        self.assertEqual(world.mete("scale", "scaled", "3", "--role", "nobody").returncode, 3)
        world.mete("scale", "scaled", "auto", code=0)
        wait_until(lambda: "fixed_units" not in world.job("scaled")["roles"][0], "it is released")
        world.mete("cancel", "--now", "scaled", code=0)
        world.mete("wait", "scaled")

    def test_a_job_that_ignores_term_is_killed(self):
        world = self.world
        # The trap is inherited by sleep; without it the shell would wait on.
        world.submit("/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done", name="stubborn")
        wait_until(lambda: world.job("stubborn")["phase"] == "running", "it runs")
        world.mete("cancel", "stubborn", code=0)
        world.mete("cancel", "--now", "stubborn", code=0)
        self.assertEqual(world.mete("wait", "stubborn", "--timeout", "30s").returncode, 1)

    def test_wait_times_out(self):
        world = self.world
        world.submit("sleep", "1000", name="endless")
        self.assertEqual(world.mete("wait", "endless", "--timeout", "300ms").returncode, 10)
        world.mete("cancel", "--now", "endless", code=0)

    def test_logs_follow_to_the_end(self):
        world = self.world
        world.submit(*LEARNER, "40", name="chatty")
        wait_until(lambda: world.job("chatty")["attempt"] > 0, "it starts")
        followed = world.mete("logs", "-f", "chatty", code=0).stdout
        self.assertIn("iteration 40 ", followed)

    def test_policy_is_shown_and_set(self):
        world = self.world
        before = world.mete("policy", "show", code=0).stdout.strip()
        world.mete("policy", "set", "fair", code=0)
        self.assertEqual(world.mete("policy", "show", code=0).stdout.strip(), "fair")
        bad = world.mete("policy", "set", "slak")
        self.assertIn(bad.returncode, (2, 3))
        self.assertIn("slaq", bad.stderr)
        self.assertEqual(world.mete("policy", "set", "slaq:floor=7").returncode, 2)
        self.assertIn("soonest", world.mete("policy", "list", code=0).stdout)
        world.mete("policy", "set", before, code=0)

    def test_one_picture_without_a_terminal(self):
        picture = self.world.mete("top", code=0).stdout
        self.assertIn("policy", picture)
        self.assertNotIn("\x1b", picture)
        self.assertIn("cores", self.world.json("top"))

    def test_names_and_ids(self):
        world = self.world
        first = world.submit("sleep", "1000", name="twin")
        world.submit("sleep", "1000", name="twin")
        ambiguous = world.mete("why", "twin")
        self.assertEqual(ambiguous.returncode, 2)
        self.assertIn(str(first), ambiguous.stderr)
        world.mete("why", first, code=0)
        missing = world.mete("why", "twim")
        self.assertEqual(missing.returncode, 3)
        self.assertIn("did you mean 'twin'", missing.stderr)
        self.assertEqual(world.mete("why", "99999").returncode, 3)
        for job in world.json("list", "--state", "live")["jobs"]:
            if job["name"] == "twin":
                world.mete("cancel", "--now", job["id"], code=0)

    def test_output_forms(self):
        world = self.world
        self.assertIn("jobs:", world.mete("list", "-o", "yaml", code=0).stdout)
        self.assertIn("nodes", world.json("nodes"))
        self.assertEqual(world.json("version")["daemon"]["api"], "v1")
        self.assertTrue(all(each["grade"] != "bad" for each in world.json("doctor")["findings"]))

    def test_secrets_are_masked(self):
        world = self.world
        path = world.file("secret.yaml",
                          "name: secretive\ncommand: [sleep, '0']\nenv: {API_TOKEN: hunter2, PLAIN: seen}\n")
        world.mete("submit", path, code=0)
        shown = world.mete("describe", "secretive", "-o", "wide", code=0).stdout
        self.assertNotIn("hunter2", shown)
        self.assertIn("PLAIN=seen", shown)
        self.assertNotIn("hunter2", json.dumps(world.job("secretive")))


class Daemons(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)

    def test_jobs_outlive_the_daemon(self):
        world = self.world.serve()
        world.submit(*LEARNER, "100000", "0.01", name="survivor")
        wait_until(lambda: world.job("survivor").get("iteration", 0) > 5, "it reports")
        pid = world.job("survivor")["replicas"][0]["pid"]
        world.daemon.send_signal(signal.SIGKILL)
        world.daemon.wait()
        self.assertEqual(world.mete("list").returncode, 4)
        os.kill(pid, 0)
        world.serve()
        job = wait_until(lambda: world.job("survivor")["phase"] == "running" and world.job("survivor"), "it is back")
        self.assertEqual(job["replicas"][0]["pid"], pid)
        self.assertEqual(job["attempt"], 1)
        seen = job["iteration"]
        wait_until(lambda: world.job("survivor")["iteration"] > seen, "it still reports")

    def test_watchers_wait_for_a_daemon_to_come_back(self):
        world = self.world.serve()
        world.submit(*LEARNER, "150", name="watched")
        waiting = world.start("wait", "watched")
        time.sleep(0.5)
        world.daemon.send_signal(signal.SIGKILL)
        world.daemon.wait()
        time.sleep(1)
        self.assertIsNone(waiting.poll())
        world.serve()
        out, err = waiting.communicate(timeout=120)
        self.assertEqual(waiting.returncode, 0, err)
        self.assertIn("watched (job 1): done", out)

    def test_doctor_without_a_daemon(self):
        findings = self.world.json("doctor")["findings"]
        self.assertIn("CPU control", [each["subject"] for each in findings])
        self.assertTrue(all(each.get("remedy") for each in findings
                            if each["subject"] == "daemon" and each["grade"] == "note"))

    def test_a_second_daemon_is_refused(self):
        world = self.world.serve()
        same = subprocess.run([METE, "serve"], env=world.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(same.returncode, 6, same.stderr)
        # Another socket, the same journal.
        other = subprocess.run([METE, "--socket", str(world.folder / "other.sock"), "serve"],
                               env=world.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(other.returncode, 6, other.stderr)
        world.mete("list", code=0)

    def test_a_stale_socket_is_replaced(self):
        world = self.world.serve()
        world.daemon.send_signal(signal.SIGKILL)
        world.daemon.wait()
        self.assertTrue(world.socket.exists())
        world.serve()
        world.mete("list", code=0)

    def test_shutdown_and_background(self):
        world = self.world
        world.mete("serve", "--background", code=0)
        self.assertEqual(world.mete("serve", "--background").returncode, 6)
        pid = world.json("version")["daemon"]["pid"]
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: world.mete("list").returncode == 4, "it has gone")


if __name__ == "__main__":
    unittest.main()
