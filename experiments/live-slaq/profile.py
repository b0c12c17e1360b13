#!/usr/bin/python3
"""Measures each example training alone and writes profile.json, on which workloads are built.

For each example and seed: the losses of a solo run to plateau (the least loss improves by less than a ten-thousandth
of its range within 100 iterations) or 1000 iterations, from them the first and least loss and k95, the iterations to
95 % of the reduction. For each example, at several amounts of work an iteration: CPU seconds an iteration and before
the first one, and peak memory. One thread each, as in the experiment.

    ./profile.py [--examples kmeans svm ...] [--out profile.json] [--curves DIR]
"""

import argparse
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ("kmeans", "logistic_regression", "svm", "polynomial_svm", "boosted_classification", "boosted_regression",
            "mlp", "lda", "linear_regression")
SEEDS = (1, 2, 3)
ITERATIONS_MAX = 1000
PLATEAU_ITERATIONS = 100
PLATEAU_FRACTION = 1e-4
K95_RUNS = 4  # a job of a workload runs so many times k95 iterations
JOB_SECONDS = (4.0, 12.0, 36.0)  # CPU of the jobs at whose cost an iteration is measured
MEASURED_SECONDS = 1.0  # CPU spent on iterations in one measurement
REPEATS = 3  # of each measurement; the least counts, as neighbours on the machine only add
PYTHON = "/usr/bin/python3"


def start(name, iterations, work, seed, path):
    environment = dict(os.environ, METE_SOCKET=path, PYTHONPATH=str(ROOT / "bindings" / "python"), OMP_NUM_THREADS="1",
                       OPENBLAS_NUM_THREADS="1", PYTHONUNBUFFERED="1")
    return subprocess.Popen(
        [PYTHON, str(ROOT / "examples" / (name + ".py")), "--iterations", str(iterations), "--work", str(work), "--seed",
         str(seed)], env=environment, stdout=subprocess.PIPE, text=True)


def at_plateau(losses):
    if len(losses) <= PLATEAU_ITERATIONS:
        return False
    before, now = min(losses[:-PLATEAU_ITERATIONS]), min(losses)
    return before - now < PLATEAU_FRACTION * (losses[0] - now)


def solo_losses(name, seed):
    """The losses of a solo run, iteration by iteration, ended at its plateau."""
    with tempfile.TemporaryDirectory() as folder:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(folder + "/progress")
        listener.listen()
        process = start(name, ITERATIONS_MAX, 1, seed, folder + "/progress")
        losses = []
        for loss in reported(listener):
            losses.append(loss)
            if at_plateau(losses):
                process.send_signal(signal.SIGTERM)
                break
        process.stdout.close()
        process.wait()
        listener.close()
    return losses


def reported(listener):
    """The losses as they come in."""
    listener.settimeout(60)
    connection, _ = listener.accept()
    with connection, connection.makefile("r") as file:
        for line in file:
            yield json.loads(line)["loss"]


def cpu_and_memory(name, iterations, work):
    """(CPU seconds, peak memory in MB) of a whole run to its natural end."""
    process = start(name, iterations, work, SEEDS[0], "")
    process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit("%s failed" % name)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024.0


def cost_at(name, work, guess_seconds):
    """Measures one point: work, CPU seconds an iteration, CPU seconds before the first, peak memory."""
    iterations = max(4, int(MEASURED_SECONDS / max(guess_seconds, 1e-5)))
    short = min(cpu_and_memory(name, 1, work)[0] for _ in range(REPEATS))
    runs = [cpu_and_memory(name, 1 + iterations, work) for _ in range(REPEATS)]
    seconds = (min(cpu for cpu, _ in runs) - short) / iterations
    memory = max(memory for _, memory in runs)
    return {"work": work, "iteration_seconds": round(seconds, 7), "startup_seconds": round(short - seconds, 4),
            "memory_mb": round(memory)}


def profile(name, curves):
    seeds = {}
    for seed in SEEDS:
        losses = solo_losses(name, seed)
        first, minimum = losses[0], min(losses)
        k95 = next(i + 1 for i, loss in enumerate(losses) if loss <= minimum + 0.05 * (first - minimum))
        seeds[str(seed)] = {"first": first, "minimum": minimum, "k95": k95, "iterations": len(losses)}
        if curves:
            (curves / ("%s_%d.txt" % (name, seed))).write_text("".join("%r\n" % loss for loss in losses))
    k95 = seeds[str(SEEDS[0])]["k95"]
    costs = [cost_at(name, 1, 0.001)]
    eight = cost_at(name, 8, 8 * costs[0]["iteration_seconds"])
    slope = max(1e-6, (eight["iteration_seconds"] - costs[0]["iteration_seconds"]) / 7.0)
    for job_seconds in JOB_SECONDS:
        wanted = job_seconds / (K95_RUNS * k95)
        work = max(1, round(1 + (wanted - costs[0]["iteration_seconds"]) / slope))
        if work > costs[-1]["work"]:
            costs.append(cost_at(name, work, wanted))
    for before, after in zip(costs, costs[1:]):  # more data does not start faster: what says so is noise
        after["startup_seconds"] = max(before["startup_seconds"], after["startup_seconds"])
    return {"seeds": seeds, "costs": costs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", nargs="+", default=EXAMPLES)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "profile.json")
    parser.add_argument("--curves", type=pathlib.Path, help="also write each curve there, one loss a line")
    args = parser.parse_args()
    if args.curves:
        args.curves.mkdir(parents=True, exist_ok=True)
    known = json.loads(args.out.read_text()) if args.out.exists() else {}
    for name in args.examples:
        known[name] = profile(name, args.curves)
        seed = known[name]["seeds"]["1"]
        print("%-24s k95 %4d of %4d, loss %.4f to %.4f, costs %s" % (
            name, seed["k95"], seed["iterations"], seed["first"], seed["minimum"],
            " ".join("%dx %.1f ms + %.2f s" % (c["work"], 1e3 * c["iteration_seconds"], c["startup_seconds"])
                     for c in known[name]["costs"])), flush=True)
        args.out.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
