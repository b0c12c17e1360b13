"""Latent Dirichlet allocation on pieces of free licences, by expectation maximisation (MAP, as Spark's EM does it).

Loss: minus the log-likelihood of a word.
"""

import numpy as np

import example
import mete

args = example.arguments(__doc__, iterations=150)
counts = example.licence_words()
topics = 12
random = np.random.default_rng(args.seed)
mixtures = random.dirichlet(np.full(topics, 5.0), len(counts))  # of topics in a document
words = random.dirichlet(np.full(counts.shape[1], 5.0), topics)  # in a topic
counts, mixtures = example.repeat(args.work, counts, mixtures)
block = len(counts) // args.work
total = counts.sum()

loss = None
for iteration in mete.loop(args.iterations):
    loss, used = 0.0, np.zeros_like(words)
    for start in range(0, len(counts), block):  # in pieces, so that the tables of words stay small
        piece, mixture = counts[start:start + block], mixtures[start:start + block]
        likelihood = mixture @ words
        loss -= (piece * np.log(likelihood)).sum() / total
        ratio = piece / likelihood
        used += mixture.T @ ratio
        mixture = mixture * (ratio @ words.T) + 0.1
        mixtures[start:start + block] = mixture / mixture.sum(axis=1, keepdims=True)
    words = words * used + 0.1 * args.work
    words /= words.sum(axis=1, keepdims=True)
    mete.report(iteration, loss=loss, samples=iteration * len(counts))
print("%d iterations, loss now at %.6f" % (args.iterations, loss))
