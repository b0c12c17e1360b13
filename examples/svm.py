"""A linear multi-class support vector machine on pictures of digits, by sub-gradient descent.

Loss: hinge of the margin to the best wrong digit (Crammer and Singer) + L2 penalty.
"""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=400)
x, digit = example.digits()
weights = np.random.default_rng(args.seed).normal(0.0, 0.01, (x.shape[1] + 1, 10))
x = np.hstack([x, np.ones((len(x), 1))])
x, truth = example.repeat(args.work, x, np.eye(10)[digit])
rows = np.arange(len(x))
step, penalty = 1.5, 1e-3

loss = None
for iteration in mete.loop(args.iterations):
    scores = x @ weights
    right = (scores * truth).sum(axis=1)
    scores[truth > 0] = -np.inf
    rival = scores.argmax(axis=1)
    margins = right - scores[rows, rival]
    loss = np.maximum(0.0, 1.0 - margins).mean() + 0.5 * penalty * (weights ** 2).sum()
    inside = margins < 1.0
    pull = truth * inside[:, None]
    pull[rows, rival] -= inside
    weights -= step / np.sqrt(iteration) * (penalty * weights - x.T @ pull / len(x))
    mete.report(iteration, loss=loss, samples=iteration * len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
