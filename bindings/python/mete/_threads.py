"""Following the job's cores with the thread counts of numerical libraries.

No signal from outside makes a library change its thread count, so the job has to do it. Changing is not free (PyTorch
empties caches), so a count is changed only after it was off by at least one for five seconds without a break.
"""

import os
import sys
import time

_PATIENCE_SECONDS = 5.0


class ThreadFollower:
    """Hysteresis between a wanted thread count and the setters that put it in force.

    threads is the count in force at the start; where it is not known (None), the first update sets it at once. Not
    thread-safe: it belongs to the thread that computes, whose libraries count threads per caller.
    """

    def __init__(self, setters, threads=None, clock=time.monotonic):
        self._setters = setters
        self._clock = clock
        self._off_since = None
        self.threads = threads

    def update(self, wanted):
        if wanted == self.threads:
            self._off_since = None
            return self.threads
        now = self._clock()
        if self.threads is not None:
            if self._off_since is None:
                self._off_since = now
            if now - self._off_since < _PATIENCE_SECONDS:
                return self.threads
        for setter in self._setters:
            setter(wanted)
        self.threads = wanted
        self._off_since = None
        return wanted


def threads_at_start():
    """The count that the environment gave the libraries, None if it said nothing (then each took its own)."""
    try:
        return max(1, int(os.environ["OMP_NUM_THREADS"]))
    except (KeyError, ValueError):
        return None


def set_library_threads(count):
    """Sets the count in the libraries that this process has imported; none is imported for its sake."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(count)
    if "numpy" in sys.modules:
        try:
            import threadpoolctl
        except ImportError:
            return
        threadpoolctl.threadpool_limits(limits=count)
