"""Multinomial logistic regression on pictures of digits, by gradient descent. Loss: cross-entropy + L2 penalty."""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=400)
x, digit = example.digits()
weights = np.random.default_rng(args.seed).normal(0.0, 0.01, (x.shape[1] + 1, 10))
x = np.hstack([x, np.ones((len(x), 1))])
x, truth = example.repeat(args.work, x, np.eye(10)[digit])
step, penalty = 0.5, 1e-3

loss = None
for iteration in mete.loop(args.iterations):
    scores = x @ weights
    scores -= scores.max(axis=1, keepdims=True)
    odds = np.exp(scores)
    totals = odds.sum(axis=1, keepdims=True)
    loss = (np.log(totals[:, 0]) - (scores * truth).sum(axis=1)).mean() + 0.5 * penalty * (weights ** 2).sum()
    weights -= step * (x.T @ (odds / totals - truth) / len(x) + penalty * weights)
    mete.report(iteration, loss=loss, samples=iteration * len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
