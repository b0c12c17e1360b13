"""A multi-layer perceptron on pictures of digits, by gradient descent with momentum. Loss: cross-entropy."""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=600)
x, digit = example.digits()
hidden = 32
random = np.random.default_rng(args.seed)
first = random.normal(0.0, 1.0 / 8.0, (x.shape[1] + 1, hidden))
second = random.normal(0.0, hidden ** -0.5, (hidden + 1, 10))
x = np.hstack([x, np.ones((len(x), 1))])
x, truth = example.repeat(args.work, x, np.eye(10)[digit])
ones = np.ones((len(x), 1))
step, momentum = 0.1, 0.8
speeds = [np.zeros_like(first), np.zeros_like(second)]

loss = None
for iteration in mete.loop(args.iterations):
    middle = np.hstack([np.tanh(x @ first), ones])
    scores = middle @ second
    scores -= scores.max(axis=1, keepdims=True)
    odds = np.exp(scores)
    totals = odds.sum(axis=1, keepdims=True)
    loss = (np.log(totals[:, 0]) - (scores * truth).sum(axis=1)).mean()

    wrong = (odds / totals - truth) / len(x)
    back = (wrong @ second[:-1].T) * (1.0 - middle[:, :-1] ** 2)
    for weights, speed, gradient in zip((first, second), speeds, (x.T @ back, middle.T @ wrong)):
        speed *= momentum
        speed -= step * gradient
        weights += speed
    mete.report(iteration, loss=loss, samples=iteration * len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
