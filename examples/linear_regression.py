"""Linear regression that completes pictures: the lower half of a digit from its upper half, by gradient descent.

Loss: mean squared error of a pixel (of unit variance).
"""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=400)
pictures, _ = example.digits()
pictures = example.standardised(pictures)
weights = np.random.default_rng(args.seed).normal(0.0, 0.01, (32, 32))
x, y = example.repeat(args.work, pictures[:, :32], pictures[:, 32:])
step = 0.012

loss = None
for iteration in mete.loop(args.iterations):
    wrong = x @ weights - y
    loss = (wrong ** 2).mean()
    weights -= step * 2.0 * (x.T @ wrong) / len(x)
    mete.report(iteration, loss=loss, samples=iteration * len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
