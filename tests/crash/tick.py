"""A job of the crash test: says that it lives every 50 ms, to its own file and to mete, and writes down each start.

    tick.py FOLDER       FOLDER/starts gets a line a start: pid; FOLDER/ticks a line a tick: monotonic ns, iteration, loss
Ends with success when FOLDER/stop appears.
"""

import os
import sys
import time

import mete

PERIOD_SECONDS = 0.05

folder = sys.argv[1]
with open(folder + "/starts", "a", encoding="ascii") as starts:
    print(os.getpid(), file=starts, flush=True)

with open(folder + "/ticks", "a", encoding="ascii", buffering=1) as ticks:
    iteration = 0
    due = time.monotonic()
    while not os.path.exists(folder + "/stop"):
        iteration += 1
        loss = 1.0 / iteration
        print(time.monotonic_ns(), iteration, repr(loss), file=ticks)
        mete.report(iteration, loss=loss)
        due += PERIOD_SECONDS
        time.sleep(max(0.0, due - time.monotonic()))
