"""K-means on pictures of digits. Loss: mean squared distance to the nearest centre.

Centres move a quarter of the way to the mean of their members each iteration, which is gradient descent with Newton's
scaling (Bottou and Bengio 1995); all the way would be Lloyd's algorithm, done after a handful of iterations.
"""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=60)
x, _ = example.digits()
clusters, step, block = 100, 0.25, len(x)
centres = x[np.random.default_rng(args.seed).choice(len(x), clusters, replace=False)]
(x,) = example.repeat(args.work, x)

loss = None
for iteration in mete.loop(args.iterations):
    sums, sizes, loss = np.zeros_like(centres), np.zeros(clusters), 0.0
    for start in range(0, len(x), block):  # in pieces, so that the table of distances stays small
        rows = x[start:start + block]
        distances = (centres * centres).sum(axis=1) - 2.0 * (rows @ centres.T)
        nearest = distances.argmin(axis=1)
        loss += (rows * rows).sum() + distances[np.arange(len(rows)), nearest].sum()
        members = np.zeros((clusters, len(rows)))
        members[nearest, np.arange(len(rows))] = 1.0
        sums += members @ rows
        sizes += members.sum(axis=1)
    loss /= len(x)
    used = sizes > 0
    centres[used] += step * (sums[used] / sizes[used, None] - centres[used])
    mete.report(iteration, loss=loss, samples=iteration * len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
