"""A program that logs one JSON object an iteration to a file, as many trainers do; its job file names the file.

Ridge regression on the course of diabetes, by gradient descent. Loss: mean squared error + L2 penalty.
"""

import json
import os

import numpy as np

import example

args = example.arguments(__doc__, iterations=200)
measures, course = example.diabetes()
weights = np.random.default_rng(args.seed).normal(0.0, 0.01, measures.shape[1])
x, course = example.repeat(args.work, measures, course)
penalty = 0.01

with open(os.environ.get("PROGRESS_FILE", "progress.jsonl"), "w", encoding="utf-8") as log:
    for iteration in range(1, args.iterations + 1):
        wrong = x @ weights - course
        loss = (wrong ** 2).mean() + penalty * weights @ weights
        weights -= 0.02 * (2.0 * wrong @ x / len(x) + 2.0 * penalty * weights)
        log.write(json.dumps({"iteration": iteration, "loss": loss, "largest_weight": float(np.abs(weights).max())}) + "\n")
        log.flush()
