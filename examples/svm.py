"""A linear support vector machine on tumours, by sub-gradient descent. Loss: hinge + L2 penalty."""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=400)
x, side = example.breast_cancer()
x = np.hstack([x, np.ones((len(x), 1))])
weights = np.random.default_rng(args.seed).normal(0.0, 0.01, x.shape[1])
x, side = example.repeat(args.work, x, side)
step, penalty = 0.02, 1e-3

loss = None
for iteration in mete.loop(args.iterations):
    margins = side * (x @ weights)
    loss = np.maximum(0.0, 1.0 - margins).mean() + 0.5 * penalty * weights @ weights
    inside = np.where(margins < 1.0, side, 0.0)
    weights -= step / np.sqrt(iteration) * (penalty * weights - inside @ x / len(x))
    mete.report(iteration, loss=loss, samples=len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
