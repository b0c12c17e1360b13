"""A test with a daemon of its own, spoken to over HTTP without the command line between."""

import http.client
import json
import socket
import unittest

from mete_world import World


class _Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=120)
        self._path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


class LoadTest(unittest.TestCase):
    arguments = ()

    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)
        self.serve()

    def serve(self):
        self.world.serve(*self.arguments)

    def request(self, method, target, body=None):
        connection = _Connection(self.world.socket)
        connection.request(method, target, body)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        self.assertLess(response.status, 300, text[:500])
        return text

    def submit(self, jobs):
        self.request("POST", "/v1/jobs", json.dumps({"jobs": jobs}))
