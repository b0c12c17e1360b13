#!/usr/bin/python3
"""The live experiment: the same workloads of real trainings under several policies, paired by seed.

Arms are interleaved (each seed runs all of them, in an order that turns from seed to seed). A run during which the host
took more than 5 % of the CPU time is repeated, at most three times; the last one counts, and how often that happened
stands beside it. Each run adds one JSON object to the output file; runs that are already there are not repeated, so an
interrupted experiment goes on where it stopped.

    ./run.py --load 1.5 --seeds 1-8 --out results/load-1.5.ndjson [--arms fair slaq soonest]
    ./run.py --table results/load-1.5.ndjson
"""

import argparse
import json
import math
import pathlib
import statistics
import sys
import time

import arm as arms
import workload as workloads
from metrics import changes, table

HERE = pathlib.Path(__file__).resolve().parent
STOLEN_MAX = 0.05
REPEATS_MAX = 3


def seeds_of(text):
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def read_results(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def run_once(args, workload, arm):
    for repeats in range(REPEATS_MAX + 1):
        begun = time.monotonic()
        done = arms.run(args.mete, workload, arms.ARMS[arm], args.serve_option)
        if done.stolen <= STOLEN_MAX:
            break
    result = {"load": workload["load"], "seed": workload["seed"], "arm": arm, "policy": arms.ARMS[arm],
              "stolen": round(done.stolen, 4), "others": round(done.others, 4), "repeats": repeats, "seconds": round(time.monotonic() - begun, 1),
              "figures": {name: _rounded(value) for name, value in done.figures.items()},
              "shares": done.shares and [round(share, 4) for share in done.shares]}
    if args.forecast_error:
        result["forecast"] = done.forecast_error(args.mete)
    if args.curves:
        args.curves.mkdir(parents=True, exist_ok=True)
        (args.curves / ("%g-%d-%s.json" % (workload["load"], workload["seed"], arm))).write_text(json.dumps([
            {"name": job.name, "arrival": job.arrival, "finished": job.finished, "losses": job.losses}
            for job in done.jobs]))
    return result


def _rounded(value):
    return value if isinstance(value, int) or not math.isfinite(value) else round(value, 4)


def print_table(results, baseline="fair"):
    """The figures of all arms over the seeds that every arm has, and the changes against the baseline with intervals."""
    names = [name for name in arms.ARMS if any(result["arm"] == name for result in results)]
    seeds = set.intersection(*({r["seed"] for r in results if r["arm"] == name} for name in names))
    by_arm = {name: [r["figures"] for r in sorted(results, key=lambda r: r["seed"])
                     if r["arm"] == name and r["seed"] in seeds] for name in names}
    print("load %g, %d seeds, means; in brackets the change against %s" % (results[0]["load"], len(seeds), baseline))
    print("\n".join(table(by_arm, baseline)))
    for other in (baseline, "fair-start-first"):
        if other not in by_arm or len(seeds) < 2:
            continue
        print("\nchange against %s, paired by seed, with the 95 %% interval of the mean" % other)
        for name in names:
            if name == other:
                continue
            compared = changes(by_arm[name], by_arm[other])
            shown = ["%s %+.1f ± %.1f %%" % (key.replace("_from_arrival", ""), 100 * compared[key][0],
                                             100 * compared[key][1])
                     for key in ("t90_from_arrival", "t95_from_arrival", "loss_integral", "completion") if key in compared]
            print("  %-18s %s" % (name, ", ".join(shown)))
    for name in names:
        mine = [r for r in results if r["arm"] == name and r["seed"] in seeds]
        shares = [r["shares"] for r in mine if r["shares"]]
        if shares:
            means = [100 * sum(share[i] for share in shares) / len(shares) for i in range(3)]
            print("cores of %-18s highest quarter %.0f %%, next quarter %.0f %%, better half %.0f %%" % (name, *means))
    print("repeated for stolen CPU time: %d runs; above 5 %% all the same: %d" % (
        sum(r["repeats"] for r in results), sum(r["stolen"] > STOLEN_MAX for r in results)))
    print("CPU time of other programs on the machine: %.1f %% in the median run, %.1f %% in the worst" % (
        100 * statistics.median(r["others"] for r in results), 100 * max(r["others"] for r in results)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mete", type=pathlib.Path, default=HERE.parents[1] / "build" / "release" / "bin" / "mete")
    parser.add_argument("--load", type=float, default=1.5)
    parser.add_argument("--seeds", type=seeds_of, default=seeds_of("1-8"))
    parser.add_argument("--arms", nargs="+", choices=list(arms.ARMS), default=list(arms.ARMS))
    parser.add_argument("--cores", type=float, default=2.0)
    parser.add_argument("--jobs", type=int, default=24)
    parser.add_argument("--mean-seconds", type=float, default=workloads.MEAN_SECONDS)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results" / "runs.ndjson")
    parser.add_argument("--serve-option", action="append", default=[], help="one more option for `mete serve`")
    parser.add_argument("--forecast-error", action="store_true", help="also evaluate forecasts on the curves")
    parser.add_argument("--curves", type=pathlib.Path, help="keep the losses of all jobs there")
    parser.add_argument("--table", type=pathlib.Path, help="only print the table of this file")
    args = parser.parse_args()
    if args.table:
        print_table(read_results(args.table))
        return
    profile = workloads.load_profile()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    done = {(result["seed"], result["arm"]) for result in read_results(args.out)}
    total = len(args.seeds) * len(args.arms)
    for number, seed in enumerate(args.seeds):
        workload = workloads.build(profile, seed, args.load, args.cores, args.jobs, args.mean_seconds)
        turn = number % len(args.arms)
        for arm in args.arms[turn:] + args.arms[:turn]:
            if (seed, arm) in done:
                continue
            result = run_once(args, workload, arm)
            with open(args.out, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
            done.add((seed, arm))
            print("%d of %d: seed %d %-18s %.0f s, t90 %.1f, completion %.1f, stolen %.1f %%, others %.1f %%" % (
                len(done), total, seed, arm, result["seconds"], result["figures"]["t90_from_arrival"],
                result["figures"]["completion"], 100 * result["stolen"], 100 * result["others"]), file=sys.stderr, flush=True)
    print_table(read_results(args.out))


if __name__ == "__main__":
    main()
