"""A support vector machine with a polynomial kernel of degree 2 that tells odd digits from even ones.

The pictures are pooled to 4 x 4 pixels and expanded to all their products. Loss: squared hinge + L2 penalty, by
gradient descent.
"""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=400)
pictures, digit = example.digits()
pooled = pictures.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
x = np.hstack([example.quadratic(pooled), np.ones((len(pooled), 1))])
side = np.where(digit % 2 == 1, 1.0, -1.0)
weights = np.random.default_rng(args.seed).normal(0.0, 0.001, x.shape[1])
x, side = example.repeat(args.work, x, side)
step, penalty = 0.02, 1e-3

loss = None
for iteration in mete.loop(args.iterations):
    missing = np.maximum(0.0, 1.0 - side * (x @ weights))
    loss = (missing ** 2).mean() + 0.5 * penalty * weights @ weights
    weights -= step * (penalty * weights - 2.0 * (side * missing) @ x / len(x))
    mete.report(iteration, loss=loss, samples=iteration * len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
