"""The runner's side of the progress socket, as small as a test needs it: real sockets, every line kept."""

import json
import os
import socket
import threading
import time


class RunnerStub:
    """Serves a unix stream socket at path and keeps each line that arrives, in order of arrival by connection."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        self.broken = []
        self.connections = 0
        self._listener = socket.socket(socket.AF_UNIX)
        folder = os.open(os.path.dirname(path), os.O_PATH)
        self._listener.bind("/proc/self/fd/%d/%s" % (folder, os.path.basename(path)))
        os.close(folder)
        self._listener.listen(64)
        self._accepted = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._accepted.append(connection)
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection):
        rest = b""
        while True:
            try:
                data = connection.recv(65536)
            except OSError:
                data = b""
            if not data:
                return
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                try:
                    self.lines.append(json.loads(line))
                except ValueError:
                    self.broken.append(line)

    def wait_for(self, count, seconds=20.0):
        """The lines once there are at least count of them; fewer if that takes too long."""
        end = time.monotonic() + seconds
        while len(self.lines) < count and time.monotonic() < end:
            time.sleep(0.005)
        return list(self.lines)

    def hang_up(self):
        """Closes every connection and stops listening, as a runner that dies does."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._accepted:
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        os.unlink(self.path)
