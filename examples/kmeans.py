"""K-means on pictures of digits. Loss: mean squared distance to the nearest centre.

Centres move a quarter of the way to the mean of their members each iteration, which is gradient descent with Newton's
scaling (Bottou and Bengio 1995); all the way would be Lloyd's algorithm, done after a handful of iterations.
"""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=60)
x, _ = example.digits()
clusters = 40
centres = x[np.random.default_rng(args.seed).choice(len(x), clusters, replace=False)]
step = 0.25
(x,) = example.repeat(args.work, x)
squares = (x * x).sum(axis=1)

loss = None
for iteration in mete.loop(args.iterations):
    distances = (centres * centres).sum(axis=1) - 2.0 * (x @ centres.T)
    nearest = distances.argmin(axis=1)
    loss = (squares + distances[np.arange(len(x)), nearest]).mean()

    members = np.zeros((clusters, len(x)))
    members[nearest, np.arange(len(x))] = 1.0
    sizes = members.sum(axis=1)
    used = sizes > 0
    centres[used] += step * ((members @ x)[used] / sizes[used, None] - centres[used])
    mete.report(iteration, loss=loss, samples=len(x))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
