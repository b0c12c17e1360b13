"""The share file: what the runner says this replica has.

METE_ALLOCATION_FILE names a JSON file that the runner replaces atomically. It is looked at at most five
times a second and parsed only when it changed; an unreadable or half-understood file leaves the last good answer.
"""

import os
import time

_READ_PERIOD_SECONDS = 0.2


class Allocation:
    """One state of the share file; a value, never changed after it was made.

    cpus: cores (may be a fraction); role: this replica's role; index: its number within the role; counts: replicas by
    role; generation: grows with each change; stop: whether the job is asked to end.
    """

    __slots__ = ("cpus", "role", "index", "counts", "generation", "stop")

    def __init__(self, cpus, role="worker", index=0, counts=None, generation=0, stop=False):
        self.cpus = cpus
        self.role = role
        self.index = index
        self.counts = counts if counts is not None else {role: 1}
        self.generation = generation
        self.stop = stop

    @property
    def threads(self):
        """The thread count that uses these cores: rounded up, but a tenth of a core is not worth a thread."""
        return max(1, -int((0.1 - self.cpus) // 1))

    def __repr__(self):
        return "Allocation(cpus=%r, role=%r, index=%r, counts=%r, generation=%r, stop=%r)" % (
            self.cpus, self.role, self.index, self.counts, self.generation, self.stop)


class AllocationFile:
    """Reads the share file that the environment names; thread-safe, as each read replaces one reference."""

    def __init__(self, environment, clock=time.monotonic):
        self._path = environment.get("METE_ALLOCATION_FILE")
        self._clock = clock
        self._read_at = None
        self._seen = None
        self._current = Allocation(
            float(_usable_cores()), environment.get("METE_ROLE", "worker"),
            _integer(environment.get("METE_REPLICA_INDEX"), 0))

    def read(self):
        if self._path is None:
            return self._current
        now = self._clock()
        if self._read_at is None or now - self._read_at >= _READ_PERIOD_SECONDS:
            self._read_at = now
            self._look()
        return self._current

    def _look(self):
        try:
            status = os.stat(self._path)
            seen = (status.st_mtime_ns, status.st_ino, status.st_size)
            if seen == self._seen:
                return
            import json
            with open(self._path, encoding="utf-8") as file:
                self._current = _parse(json.load(file), self._current)
            self._seen = seen
        except Exception:  # gone, half there or not what we know: training goes on with the last answer
            pass


def _parse(record, last):
    cpus = float(record.get("cpus", last.cpus))
    if not 0.0 <= cpus < 1e6:
        raise ValueError("cpus out of range")
    return Allocation(
        cpus, str(record.get("role", last.role)),
        int(record.get("index", last.index)),
        {str(role): int(count) for role, count in record.get("counts", last.counts).items()},
        int(record.get("generation", last.generation)), bool(record.get("stop", False)))


def _usable_cores():
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def _integer(text, otherwise):
    try:
        return int(text)
    except (TypeError, ValueError):
        return otherwise
