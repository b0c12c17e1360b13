"""A daemon of its own for one run: started in a fresh state directory, driven over its socket, ended without a trace."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse

_START_SECONDS_MAX = 30.0
_END_SECONDS_MAX = 20.0
_PAGE_ROWS = 10000  # as many reports as one request may return


class DaemonError(Exception):
    pass


class _Connection(http.client.HTTPConnection):

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Daemon:
    """`mete serve` with a policy, as a context: leaving it kills the jobs that still run, ends it, deletes its state.

    environment() is what makes other `mete` commands talk to it.
    """

    def __init__(self, mete, policy, serve_options=()):
        self._mete = str(mete)
        self._policy = policy
        self._serve_options = list(serve_options)
        self._folder = None
        self._process = None

    def environment(self):
        return dict(os.environ, METE_SOCKET_PATH=self._folder + "/mete.sock", METE_STATE_DIR=self._folder + "/state")

    def __enter__(self):
        self._folder = tempfile.mkdtemp(prefix="mete-run-")
        self._log = open(self._folder + "/serve.log", "w", encoding="utf-8")
        # In a session of its own: Ctrl-C reaches us, and we end the daemon in order.
        self._process = subprocess.Popen([self._mete, "serve", *self._serve_options], env=self.environment(),
                                         stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
                                         start_new_session=True)
        end = time.monotonic() + _START_SECONDS_MAX
        while True:
            try:
                self.call("GET", "/v1/version")
                break
            except (OSError, http.client.HTTPException):
                if self._process.poll() is not None or time.monotonic() > end:
                    log = self.last_words()
                    self._end()
                    raise DaemonError("mete serve did not start:\n" + log) from None
                time.sleep(0.05)
        self.call("PUT", "/v1/policy", {"policy": self._policy})
        return self

    def __exit__(self, *_):
        try:
            for job in self.call("GET", "/v1/jobs?state=live")["jobs"]:
                self.call("POST", "/v1/jobs/%d/kill" % job["id"])
            end = time.monotonic() + _END_SECONDS_MAX
            while self.call("GET", "/v1/jobs?state=live&limit=1")["total"] and time.monotonic() < end:
                time.sleep(0.1)
        except (OSError, http.client.HTTPException, DaemonError):
            pass
        self._end()

    def _end(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def last_words(self):
        """The end of the daemon's log: what to add to an error before its folder is deleted."""
        log = pathlib.Path(self._folder + "/serve.log").read_text(encoding="utf-8", errors="replace")
        return "".join(log.splitlines(keepends=True)[-30:])

    def call(self, method, target, body=None):
        """One request; its answer as plain values."""
        connection = _Connection(self._folder + "/mete.sock")
        try:
            connection.request(method, target, body=None if body is None else json.dumps(body),
                               headers={"Content-Type": "application/json"})
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        if response.status >= 300:
            raise DaemonError("%s %s: %d %s" % (method, target, response.status, content.decode("utf-8", "replace")))
        return json.loads(content)

    def submit(self, job_file):
        """Hands a job file (plain values; JSON is YAML) to `mete submit`."""
        path = "%s/job-%d.yaml" % (self._folder, time.monotonic_ns())
        with open(path, "w", encoding="utf-8") as file:
            json.dump(job_file, file)
        done = subprocess.run([self._mete, "submit", path], env=self.environment(), capture_output=True, text=True)
        if done.returncode != 0:
            raise DaemonError("mete submit: " + done.stderr)

    def reports(self, name):
        """All (monotonic seconds, iteration, loss) of a job that the journal has."""
        rows = []
        number = 0
        while True:
            page = self.call("GET", "/v1/jobs/%s/reports?from=%d&limit=%d" % (
                urllib.parse.quote(name), number, _PAGE_ROWS))
            rows += [(row["monotonic_seconds"], row["iteration"], row.get("loss")) for row in page["reports"]]
            if len(page["reports"]) < _PAGE_ROWS:
                return rows
            number = page["next"]
