"""A job that reports at a steady rate: reporter.py REPORTS_PER_SECOND SECONDS. Says at the end how long it took."""

import os
import socket
import sys
import time

rate, seconds = int(sys.argv[1]), float(sys.argv[2])
count = int(rate * seconds)
channel = socket.socket(socket.AF_UNIX)
channel.connect(os.environ["METE_SOCKET"])
begin = time.monotonic()
sent = 0
while sent < count:
    due = min(count, int((time.monotonic() - begin) * rate) + 1)
    if due == sent:
        time.sleep(0.005)
        continue
    channel.sendall(b"".join(b'{"iteration":%d,"loss":%.6f}\n' % (k, 1 / k) for k in range(sent + 1, due + 1)))
    sent = due
channel.close()
print("took %.3f s" % (time.monotonic() - begin))
