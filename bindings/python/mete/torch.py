"""A loop and a callback for PyTorch training.

    progress = mete.torch.Progress(every=20)
    for epoch in mete.torch.loop(epochs):
        for x, y in batches:
            ...
            progress(loss, samples=len(x))
            if progress.should_stop: break
"""

import torch

from . import follow_threads, loop, report, should_stop

__all__ = ["Progress", "loop"]


class Progress:
    """Called after each optimiser step; reports each `every` steps the mean loss since the last report.

    Losses are summed where they are (no .item(), hence no wait for a device) until a report is due. An iteration is
    one report, so all iterations cost about the same. Between reports it follows the job's thread count.
    """

    def __init__(self, every=1):
        self._every = every
        self._sum = 0.0
        self._samples = 0
        self._steps = 0
        self.iteration = 0

    def __call__(self, loss, samples=None, **metrics):
        self._sum = self._sum + (loss.detach() if isinstance(loss, torch.Tensor) else loss)
        self._samples += samples or 0
        self._steps += 1
        if self._steps < self._every:
            return
        self.iteration += 1
        report(self.iteration, loss=float(self._sum) / self._steps, samples=self._samples or None, **metrics)
        self._sum = 0.0
        self._steps = 0
        follow_threads()

    @property
    def should_stop(self):
        return should_stop()
