#!/usr/bin/python3
"""Draws a workload: jobs with arrival times and sizes, from measured profiles and a seed.

Each job is one of the example trainings, drawn evenly, and runs four times as many iterations as a solo run needs to
95 % loss reduction (k95): the long tail that users let run on. Its CPU seconds, start-up included, are log-normal; the
amount of work an iteration is chosen to meet them. Arrivals are Poisson, then stretched so that the offered load (solo
CPU seconds of all jobs over cores x the time in which they arrive) is the one asked for, whatever the draw.

    ./workload.py --seed 1 --load 1.5 --cores 2 [--jobs 24] [--out FILE]
"""

import argparse
import json
import math
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
PAPER = ("kmeans", "logistic_regression", "svm", "polynomial_svm", "boosted_classification", "boosted_regression",
         "mlp", "lda", "linear_regression")
K95_RUNS = 4
MEAN_SECONDS = 12.0
SIGMA = 0.7


def load_profile(path=HERE / "profile.json"):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def build(profile, seed, load, cores, jobs=24, mean_seconds=MEAN_SECONDS, sigma=SIGMA, examples=PAPER):
    """The workload as a dict of plain values; the same arguments give the same workload."""
    rng = random.Random(seed)
    drawn = []
    gaps = []
    for number in range(1, jobs + 1):
        example = rng.choice(examples)
        seeds = profile[example]["seeds"]
        training_seed = rng.choice(sorted(seeds))
        wanted = mean_seconds * math.exp(rng.gauss(0.0, sigma) - 0.5 * sigma * sigma)
        gaps.append(rng.expovariate(1.0))
        known = seeds[training_seed]
        iterations = K95_RUNS * known["k95"]
        work = work_for(profile[example]["costs"], iterations, wanted)
        startup, iteration, memory = cost_of(profile[example]["costs"], work)
        drawn.append({
            "name": "%02d-%s" % (number, example.replace("_", "-")), "example": example, "seed": int(training_seed),
            "work": work, "iterations": iterations, "k95": known["k95"], "first": known["first"],
            "minimum": known["minimum"], "solo_seconds": round(startup + iterations * iteration, 3),
            "memory_mb": math.ceil(1.25 * memory)})
    # The gap after the last job belongs to the span too: n arrivals take n mean gaps.
    span = sum(job["solo_seconds"] for job in drawn) / (cores * load)
    stretch = span / sum(gaps)
    at = 0.0
    for job, gap in zip(drawn, gaps):
        job["arrival_seconds"] = round(at, 3)
        at += gap * stretch
    return {"seed": seed, "load": load, "cores": cores, "jobs": drawn}


def cost_of(costs, work):
    """(start-up seconds, seconds an iteration, memory in MB) at an amount of work, between the measured points."""
    low, high = costs[0], costs[-1]
    for before, after in zip(costs, costs[1:]):
        if before["work"] <= work <= after["work"]:
            low, high = before, after
            break
    else:
        if work > high["work"]:
            low = costs[-2] if len(costs) > 1 else high
    share = 0.0 if high["work"] == low["work"] else (work - low["work"]) / (high["work"] - low["work"])
    return tuple(low[key] + share * (high[key] - low[key]) for key in ("startup_seconds", "iteration_seconds", "memory_mb"))


def work_for(costs, iterations, seconds):
    """The amount of work whose run comes nearest to so many CPU seconds."""
    def total(work):
        startup, iteration, _ = cost_of(costs, work)
        return startup + iterations * iteration
    low, high = 1, 2
    while total(high) < seconds and high < 1 << 20:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if total(middle) < seconds else (low, middle)
    return min((low, high), key=lambda work: abs(total(work) - seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--load", type=float, default=1.5)
    parser.add_argument("--cores", type=float, default=2.0)
    parser.add_argument("--jobs", type=int, default=24)
    parser.add_argument("--mean-seconds", type=float, default=MEAN_SECONDS, help="mean CPU seconds of a job")
    parser.add_argument("--profile", default=HERE / "profile.json")
    parser.add_argument("--out", type=pathlib.Path, help="default: stdout")
    args = parser.parse_args()
    workload = build(load_profile(args.profile), args.seed, args.load, args.cores, args.jobs, args.mean_seconds)
    text = json.dumps(workload, indent=1) + "\n"
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
