"""Loops for scikit-learn estimators that train step by step and report each step.

Both loops report through mete.report, follow the job's thread count, end early when mete asks, and return the list of
losses. They know an estimator only by scikit-learn's conventions, so anything that has the same methods will do.
"""

import warnings

from . import loop, report


def partial_fit_loop(estimator, x, y=None, *, iterations, loss, batch_size=None, classes=None, seed=0):
    """Trains with partial_fit: an iteration is one pass over the samples, shuffled, in batches.

    loss(estimator) gives the number to report after a pass. classes is what a classifier's first partial_fit needs.
    """
    import numpy as np
    order = np.random.default_rng(seed)
    count = x.shape[0]
    batch_size = batch_size or count
    losses = []
    for iteration in loop(iterations):
        shuffled = order.permutation(count)
        for start in range(0, count, batch_size):
            rows = shuffled[start:start + batch_size]
            arguments = [x[rows]] if y is None else [x[rows], y[rows]]
            if classes is not None:
                estimator.partial_fit(*arguments, classes=classes)
            else:
                estimator.partial_fit(*arguments)
        losses.append(float(loss(estimator)))
        report(iteration, loss=losses[-1], samples=iteration * count)
    return losses


def warm_start_loop(estimator, x, y=None, *, iterations, loss=None, step=1):
    """Trains with warm_start: each iteration continues the last fit by `step` more trees or solver iterations.

    An ensemble grows its n_estimators; any other estimator runs max_iter = step again. Without loss, the estimator's
    own training loss is reported (see training_loss).
    """
    grows = "n_estimators" in estimator.get_params()
    loss = loss or training_loss
    estimator.set_params(warm_start=True)
    losses = []
    for iteration in loop(iterations):
        estimator.set_params(**({"n_estimators": iteration * step} if grows else {"max_iter": step}))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*onverge")  # a step is not meant to converge
            estimator.fit(x) if y is None else estimator.fit(x, y)
        losses.append(float(loss(estimator)))
        report(iteration, loss=losses[-1], samples=iteration * x.shape[0])
    return losses


def training_loss(estimator):
    """The loss that scikit-learn itself kept from the last fit."""
    for name in ("train_score_", "loss_curve_"):
        values = getattr(estimator, name, None)
        if values is not None:
            return values[-1]
    for name in ("loss_", "inertia_"):
        value = getattr(estimator, name, None)
        if isinstance(value, (int, float)):
            return value
    raise AttributeError("%s keeps no training loss: pass loss=" % type(estimator).__name__)
