"""Linear regression on the course of diabetes with all products of two measures, by gradient descent.

Loss: mean squared error (of a unit variance).
"""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=600)
measures, course = example.diabetes()
x = example.quadratic(measures)
weights = np.random.default_rng(args.seed).normal(0.0, 0.01, x.shape[1])
x, course = example.repeat(args.work, x, course)
step = 0.004

loss = None
for iteration in mete.loop(args.iterations):
    wrong = x @ weights - course
    loss = (wrong ** 2).mean()
    weights -= step * 2.0 * (wrong @ x) / len(x)
    mete.report(iteration, loss=loss, samples=len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
