"""Gradient-boosted trees that foretell the course of diabetes. Loss: mean squared error (of a unit variance)."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import example
import mete

args = example.arguments(__doc__, iterations=300)
x, course = example.diabetes()
x, course = example.repeat(args.work, x, course)
x = x.astype(np.float32)
rate = 0.1
guess = np.zeros(len(x))
random = np.random.RandomState(args.seed)

loss = None
for iteration in mete.loop(args.iterations):
    tree = DecisionTreeRegressor(max_depth=3, max_features=5, min_samples_leaf=5 * args.work,
                                 random_state=random).fit(x, course - guess)
    guess += rate * tree.predict(x)
    loss = ((course - guess) ** 2).mean()
    mete.report(iteration, loss=loss, samples=iteration * len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
