"""What people and programs get wrong, and how it is told: exit codes, places and hints."""

import http.client
import os
import socket
import stat
import unittest

from mete_world import World, WorldTest, wait_until


class JobFiles(WorldTest):
    def check(self, text, code, *words):
        done = self.world.mete("submit", self.world.file("job.yaml", text))
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertLess(len(done.stderr), 4000)

    def test_wrong_types(self):
        self.check("command: {a: b}\n", 2, "command")
        self.check("command: [/bin/true]\nweight: heavy\n", 2, "weight", ":2:")
        self.check("[]\n", 2)
        self.check("- 3\n", 2)
        self.check("", 2)

    def test_unknown_keys_get_a_suggestion(self):
        self.check("comand: [/bin/true]\n", 2, "comand", "command")

    def test_anchors_in_a_cycle(self):
        self.check("a: &a [*a]\n", 2)

    def test_a_hundred_megabytes(self):
        path = self.world.folder / "huge.yaml"
        with open(path, "wb") as file:
            file.truncate(100_000_000)
        self.assertEqual(self.world.mete("submit", path).returncode, 2)

    def test_bounds(self):
        self.check("command: [/bin/true]\ncpus: {min: 3, max: 1}\n", 2, "cpus")
        self.check("command: [/bin/true]\nmemory: -5\n", 2, "memory")

    def test_never_fits_has_its_own_code(self):
        self.check("command: [/bin/true]\ncpus: {min: 5000, max: 6000}\n", 5)
        self.check("command: [/bin/true]\nmemory: 900TiB\n", 5)

    def test_bad_patterns(self):
        self.check("command: [/bin/true]\nprogress: {pattern: '(?P<loss>['}\n", 2, "progress")

    def test_commands_and_directories(self):
        self.check("command: [/no/such/program]\n", 2, "/no/such/program")
        plain = self.world.file("plain", "#!/bin/sh\n")
        os.chmod(plain, stat.S_IRUSR)
        self.check(f"command: [{plain}]\n", 2, plain)
        self.check("command: [/bin/true]\ndirectory: /no/such/folder\n", 2, "/no/such/folder")

    def test_all_or_nothing(self):
        before = self.world.json("list")["total"]
        self.check("jobs: [{command: [/bin/true]}, {command: [/bin/true], cpus: {min: 5000, max: 5000}}]\n", 5, "jobs[1]")
        self.assertEqual(self.world.json("list")["total"], before)

    def test_files_that_are_not_there(self):
        self.assertEqual(self.world.mete("submit", "/no/such/file").returncode, 3)
        self.assertNotEqual(self.world.mete("submit", "/").returncode, 0)
        self.assertEqual(self.world.mete("submit").returncode, 2)


class Wire(WorldTest):
    def ask(self, method, target, body=None):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.world.socket))
        connection.request(method, target, body)
        try:
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def test_garbage_harms_nobody(self):
        for junk in (b"\x00" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST /v1/jobs HTTP/1.1\r\n"
                     b"Content-Length: 99999999999\r\n\r\n", os.urandom(5000)):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(30)
                client.connect(str(self.world.socket))
                try:
                    client.sendall(junk)
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(65536):
                        pass
                except OSError:
                    pass
        self.world.mete("list", code=0)

    def test_statuses(self):
        self.assertEqual(self.ask("GET", "/v1/nothing")[0], 404)
        self.assertEqual(self.ask("DELETE", "/v1/jobs")[0], 405)
        self.assertEqual(self.ask("POST", "/v1/jobs", b"{")[0], 400)
        self.assertEqual(self.ask("POST", "/v1/jobs", b'{"jobs": [{"name": 3}]}')[0], 400)
        self.assertEqual(self.ask("GET", "/v1/jobs/%00")[0], 400)
        self.assertEqual(self.ask("GET", "/v1/jobs/..%2f..%2fetc")[0], 404)
        self.assertEqual(self.ask("GET", "/metrics")[0], 200)


class Jobs(WorldTest):
    """Output that no parser likes."""

    def run_shell(self, name, script):
        self.world.submit("/bin/bash", "-c", script, name=name)
        self.world.mete("wait", name, "--timeout", "100s", code=0)
        return self.world.job(name)

    def test_odd_output(self):
        job = self.run_shell("odd", r"""
            printf '\xff\xfe loss: 0.9\n'
            printf '\033[32mloss: 0.8\033[0m\n'
            head -c 1000000 /dev/zero | tr '\0' x; echo
            printf '10%%|#   | loss: 0.7\r20%%|##  | loss: 0.6\r'
            echo 'loss: nan'
            echo 'loss: 0.5'
        """)
        self.assertAlmostEqual(job["loss"], 0.5)
        shown = self.world.mete("describe", "odd", code=0).stdout
        self.assertNotIn("\x1b", shown)

    def test_double_fork_is_part_of_the_job(self):
        world = self.world
        world.submit("/bin/bash", "-c", "(setsid sleep 1000 &) ; sleep 0.2; (setsid bash -c 'echo $$; exec sleep 1001' &); sleep 1000",
                     name="forks")
        pid = int(wait_until(lambda: world.mete("logs", "forks").stdout.strip(), "it has forked").split()[0])
        os.kill(pid, 0)
        world.mete("cancel", "--now", "forks", code=0)
        self.assertEqual(world.mete("wait", "forks", "--timeout", "60s").returncode, 1)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)


if __name__ == "__main__":
    unittest.main()
