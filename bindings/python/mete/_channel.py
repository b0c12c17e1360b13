"""Reports on their way to the runner.

One newline-terminated JSON object a report, over the unix stream socket that METE_SOCKET names. The first concern is
the training: a report never waits for the runner, never raises because of it, and takes a bounded amount of memory.

- report() appends a line to a queue and, if the last write was at least 20 ms ago, writes the queue out at
  once without blocking. So a lone report leaves at once, and a burst leaves in batches: 50 000 reports/s cost a few
  hundred writes. What a burst leaves behind is written by a thread that starts with the first burst.
- While the runner does not read, or is gone, 16384 lines wait behind what is being written; later ones are dropped and counted.
  A lost connection is tried again, at most twice a second.
- Threads and signal handlers may report at any time: the queue is appended to without a lock, and whoever holds the
  writer's lock writes for the others.
"""

import os
import sys
import time
from _thread import allocate_lock, start_new_thread

_BATCH_PERIOD_SECONDS = 0.02
_BATCH_LINES = 256  # about 16 KB
_LINES_MAX = 16384
_LINE_BYTES_MAX = 4096
_RETRY_PERIOD_SECONDS = 0.5
_EXIT_FLUSH_SECONDS = 1.0
_SOCKET_PATH_BYTES_MAX = 107


class Channel:
    """The connection of one process to its runner; path None means there is none and report() must not be called.

    dropped counts reports that were given up; invalid counts those in which something was not a number.
    """

    def __init__(self, path, clock=time.monotonic):
        self.path = path or None
        self._clock = clock
        if self.path is not None:
            import atexit
            from collections import deque
            self._deque = deque
            atexit.register(self._flush_at_exit)
        self.reset()

    def reset(self):
        """Forgets all that belongs to another process; what a forked child does first."""
        self.dropped = 0
        self.invalid = 0
        if self.path is None:
            return
        inherited = getattr(self, "_socket", None)
        if inherited is not None:
            inherited.close()
        self._socket = None
        self._lines = self._deque()  # whole lines that wait
        self._chunk = b""  # lines taken from the queue and being written
        self._offset = 0  # bytes of the chunk already written
        self._written_at = None
        self._connected_at = None  # the last try
        self._writing = allocate_lock()
        self._wake = allocate_lock()  # released by whoever leaves lines behind
        self._wake.acquire()
        self._has_writer = False

    def report(self, iteration, loss, samples, metrics):
        line = self._line(iteration, loss, samples, metrics)
        if line is None:
            return
        lines = self._lines
        if len(lines) >= _LINES_MAX:
            self.dropped += 1
        else:
            lines.append(line)
        now = self._clock()
        if self._written_at is None or now - self._written_at >= _BATCH_PERIOD_SECONDS or len(lines) >= _BATCH_LINES:
            if self._writing.acquire(False):
                try:
                    self._write(now)
                finally:
                    self._writing.release()
        if lines or self._chunk:
            self._leave_to_writer()

    def flush(self, timeout_seconds):
        if self.path is None:
            return True
        end = self._clock() + timeout_seconds
        while self._lines or self._chunk:
            now = self._clock()
            if now > end:
                return False
            if self._writing.acquire(True, max(0.001, end - now)):
                try:
                    self._write(now)
                finally:
                    self._writing.release()
            if self._lines or self._chunk:
                time.sleep(0.005)
        return True

    def _flush_at_exit(self):
        try:
            self.flush(_EXIT_FLUSH_SECONDS)
        except Exception:  # the exit of a training run is not the place to fail
            pass

    # The line of one report, or None if nothing in it can be used.
    def _line(self, iteration, loss, samples, metrics):
        if type(loss) is float and type(iteration) is int and samples is None and not metrics and loss - loss == 0.0:
            return b'{"iteration": %d, "loss": %r}\n' % (iteration, loss)  # nearly all reports
        fields = ['"iteration": ' + self._number(iteration, integer=True)]
        if loss is not None:
            number = self._number(loss)
            if number:
                fields.append('"loss": ' + number)
        if samples is not None:
            number = self._number(samples, integer=True)
            if number:
                fields.append('"samples": ' + number)
        if metrics:
            own = []
            for name, value in metrics.items():
                number = self._number(value)
                if number:
                    own.append(_quoted(name) + ": " + number)
            if own:
                fields.append('"metrics": {' + ", ".join(own) + "}")
        if fields[0] == '"iteration": ':
            self.dropped += 1
            return None
        line = ("{" + ", ".join(fields) + "}\n").encode("ascii")
        if len(line) > _LINE_BYTES_MAX:
            return self._too_long(iteration, loss, samples, len(metrics))
        return line

    def _too_long(self, iteration, loss, samples, metric_count):
        self._complain("%d metrics do not fit in a report of %d bytes: left out" % (metric_count, _LINE_BYTES_MAX))
        return self._line(iteration, loss, samples, None)

    # The JSON token of a number ('' if it is none), as Python's json module writes it.
    def _number(self, value, integer=False):
        try:
            if integer or type(value) is int:
                return "%d" % int(value)
            value = float(value)
        except Exception:  # whatever the conversion of a stranger's type raises
            self._complain("a %s is not a number: left out" % type(value).__name__)
            return ""
        if value - value == 0.0:
            return repr(value)
        return "NaN" if value != value else ("Infinity" if value > 0 else "-Infinity")

    # Said once: a training log full of the same complaint helps nobody.
    def _complain(self, what):
        self.invalid += 1
        if self.invalid == 1:
            try:
                sys.stderr.write("mete.report: %s (said once)\n" % what)
            except Exception:
                pass

    # Writes what the socket takes now. The caller holds _writing.
    def _write(self, now):
        if self._socket is None and not self._connect(now):
            return
        self._written_at = now
        lines = self._lines
        while True:
            if not self._chunk:
                if not lines:
                    return
                # All of them: a writer that has to win the interpreter back after each send must not fall behind.
                self._chunk = b"".join([lines.popleft() for _ in range(len(lines))])
                self._offset = 0
            try:
                self._offset += self._socket.send(memoryview(self._chunk)[self._offset:])
            except BlockingIOError:
                return
            except OSError:
                self._disconnect()
                return
            if self._offset == len(self._chunk):
                self._chunk = b""

    def _connect(self, now):
        if self._connected_at is not None and now - self._connected_at < _RETRY_PERIOD_SECONDS:
            return False
        self._connected_at = now
        try:
            from socket import AF_UNIX, SOCK_STREAM, socket
            connection = socket(AF_UNIX, SOCK_STREAM)
            try:
                connection.setblocking(False)
                _connect_to_path(connection, self.path)
            except BaseException:
                connection.close()
                raise
            self._socket = connection
            return True
        except (OSError, ImportError):
            return False

    # The line that was cut is sent again from its start over the next connection.
    def _disconnect(self):
        self._socket.close()
        self._socket = None
        self._chunk = self._chunk[self._chunk.rfind(b"\n", 0, self._offset) + 1:]
        self._offset = 0

    def _leave_to_writer(self):
        if not self._has_writer:
            self._has_writer = True
            try:
                start_new_thread(self._write_what_is_left, (self._wake,))
            except RuntimeError:  # no thread to be had, or the interpreter ends: the next report or flush writes
                self._has_writer = False
                return
        try:
            self._wake.release()
        except RuntimeError:  # awake already
            pass

    def _write_what_is_left(self, wake):
        while True:
            wake.acquire()
            while self._wake is wake and (self._lines or self._chunk):
                time.sleep(_RETRY_PERIOD_SECONDS if self._socket is None else _BATCH_PERIOD_SECONDS)
                with self._writing:
                    self._write(self._clock())


# A unix address holds 107 bytes; a longer path is reached through a descriptor of its folder.
def _connect_to_path(connection, path):
    if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES_MAX:
        connection.connect(path)
        return
    folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        connection.connect("/proc/self/fd/%d/%s" % (folder, os.path.basename(path)))
    finally:
        os.close(folder)


def _quoted(name):
    if name.isidentifier() and name.isascii():
        return '"' + name + '"'
    import json
    return json.dumps(name)
