"""Following the job's cores with the thread counts of numerical libraries.

No signal from outside makes a library change its thread count, so the job has to do it. Changing is not free (PyTorch
empties caches), so a count is changed only after it was off by at least one for five seconds without a break.
"""

import sys
import time

_PATIENCE_SECONDS = 5.0


class ThreadFollower:
    """Hysteresis between a wanted thread count and the setters that put it in force.

    The first update sets the count at once: at start there is no cache to lose. Not thread-safe: it belongs to the
    thread that computes, whose libraries count threads per caller.
    """

    def __init__(self, setters, clock=time.monotonic):
        self._setters = setters
        self._clock = clock
        self._off_since = None
        self.threads = None

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


def library_setters():
    """What sets the thread count of the libraries that this process has imported; nothing is imported for its sake."""
    setters = []
    torch = sys.modules.get("torch")
    if torch is not None:
        setters.append(torch.set_num_threads)
    if "numpy" in sys.modules:
        try:
            import threadpoolctl
        except ImportError:
            pass
        else:
            setters.append(lambda count: threadpoolctl.threadpool_limits(limits=count))
    return setters
