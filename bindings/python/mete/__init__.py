"""Tell mete how training goes, and hear what mete gave you.

    import mete
    for iteration in range(1, 1001):
        loss = train_one_iteration()
        mete.report(iteration, loss=loss)
        if mete.should_stop():
            break

Inside a job nothing has to be installed: the runner puts this package on PYTHONPATH. Outside a job every call is a
silent no-op with sensible answers, so a script runs the same by hand. No call blocks, and none raises because of what
the runner does. The wire format is in docs/progress-protocol.md; only the standard library is used, imported late.
"""

import os as _os

from ._allocation import Allocation, AllocationFile
from ._channel import Channel

__all__ = [
    "Allocation", "allocation", "dropped", "flush", "follow_threads", "in_job", "loop", "report", "should_stop",
]

_channel = Channel(_os.environ.get("METE_SOCKET"))
_file = AllocationFile(_os.environ)
_follower = None

# The rest of the process may be forked at any time; a child gets a connection and a buffer of its own, so that lines
# of parent and child never mix and none is sent twice.
_os.register_at_fork(after_in_child=_channel.reset)


def in_job():
    """Whether this process runs as a replica of a mete job."""
    return _channel.path is not None


def report(iteration, loss=None, samples=None, **metrics):
    """Reports one finished iteration.

    iteration counts from 1 and grows; loss is the training loss after it, the number that the job's goal minimises
    (or maximises); samples is how many training samples were processed since the start; further keywords are the job's
    own numbers. Numbers may be Python's, NumPy's or one-element tensors. What is not a number is left out.
    """
    if _channel.path is not None:
        _channel.report(iteration, loss, samples, metrics)


def allocation():
    """What this replica has now: an Allocation. Outside a job: every usable core, generation 0."""
    return _file.read()


def should_stop():
    """Whether mete asked the job to end (cancelled, or its stop rule holds). Cheap enough for every step."""
    return _file.read().stop


def dropped():
    """How many reports did not reach the runner so far (gone, or too slow for more than the buffer holds)."""
    return _channel.dropped


def flush(timeout_seconds=1.0):
    """Waits until all reports are handed over, at most timeout_seconds; True if they are. Done at exit by itself."""
    return _channel.flush(timeout_seconds)


def follow_threads():
    """Makes the libraries in use (PyTorch, BLAS, OpenMP) follow the job's cores; returns the thread count in force.

    Call it once an iteration from the thread that computes. It reads the share file at most five times a second and
    changes the count only when it has been off by at least one core for five seconds.
    """
    global _follower
    if not in_job():
        return _file.read().threads
    if _follower is None:
        from ._threads import ThreadFollower, set_library_threads, threads_at_start
        _follower = ThreadFollower([set_library_threads], threads_at_start())
    return _follower.update(_file.read().threads)


def loop(iterations, start=1):
    """Yields start, start + 1, ... (iterations of them), follows the thread count, and ends early when mete says so."""
    for iteration in range(start, start + iterations):
        if should_stop():
            return
        follow_threads()
        yield iteration
