"""A program that knows nothing of mete: it prints its loss, and mete finds it there.

Softmax regression on wines, by gradient descent.
"""

import numpy as np

import example

args = example.arguments(__doc__, iterations=200)
x, grower = example.wine()
weights = np.random.default_rng(args.seed).normal(0.0, 0.01, (x.shape[1], 3))
x, truth = example.repeat(args.work, x, np.eye(3)[grower])

for iteration in range(1, args.iterations + 1):
    scores = x @ weights
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    loss = -np.log((odds * truth).sum(axis=1)).mean()
    weights -= 0.05 * x.T @ (odds - truth) / len(x)
    print("step %d/%d  loss: %.6f" % (iteration, args.iterations, loss), flush=True)
