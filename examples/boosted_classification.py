"""Gradient-boosted trees that tell benign tumours from malignant ones. Loss: logistic."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import example
import mete

args = example.arguments(__doc__, iterations=300)
x, side = example.breast_cancer()
x, side = example.repeat(args.work, x, side)
x = x.astype(np.float32)
rate = 0.1
score = np.zeros(len(x))
random = np.random.RandomState(args.seed)

loss = None
for iteration in mete.loop(args.iterations):
    odds = 1.0 / (1.0 + np.exp(side * score))  # of being wrong
    tree = DecisionTreeRegressor(max_depth=2, max_features=8, random_state=random).fit(x, side * odds)
    leaf = tree.apply(x)
    # Newton's step in each leaf.
    gradient = np.bincount(leaf, side * odds)
    curvature = np.bincount(leaf, odds * (1.0 - odds))
    score += rate * (gradient / np.maximum(curvature, 1e-9))[leaf]
    loss = np.log1p(np.exp(-side * score)).mean()
    mete.report(iteration, loss=loss, samples=iteration * len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
