#!/usr/bin/env python3
"""Do the 95 % intervals of latency quantiles cover what they should in 93 to 97 of 100 runs?

    tools/bench/interval_coverage/interval_coverage.py build/release/tools/slicewise/slicewise

Twelve settings: GPUs of one pod and of four that take turns, MPS, exponential, log-normal and constant
service, short and long runs, calm and busy ones. Each is run with --seeds seeds as a user runs it (5
replications). The true quantiles are those of --truth replications with seeds of their own, on eight clocks
that differ by less than a bucket of the histogram, so that rounding averages out. Prints in how many of
100 runs the interval around p50, p95, p99 and p99.9 held them, and the mean half width as a share of the
value. Exit status 1: --check, and one is outside.
"""

import argparse
import concurrent.futures
import json
import subprocess
import sys

QUANTILES = ("p50", "p95", "p99", "p999")
TRUTH_SEED = 7_777_777
CLOCKS = 8
BUCKET = 1 / 128  # of a value, at most

# Name, seconds that are observed, pods, GPU time of a request in ms, requests per second, sharing.
EXPONENTIAL = {"mean": 10, "distribution": "Exponential"}
CONSTANT = {"mean": 10, "distribution": "Deterministic"}
LOG_NORMAL = {"p50": 10, "p99": 25}
SLICED = {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}}
MPS = {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}}
SETTINGS = (
    ("alone, exponential, load 0.3, 2 min", 120, 1, EXPONENTIAL, 30, None),
    ("alone, exponential, load 0.3, 20 min", 1200, 1, EXPONENTIAL, 30, None),
    ("alone, exponential, load 0.7, 2 min", 120, 1, EXPONENTIAL, 70, None),
    ("alone, exponential, load 0.7, 20 min", 1200, 1, EXPONENTIAL, 70, None),
    ("alone, exponential, load 0.9, 20 min", 1200, 1, EXPONENTIAL, 90, None),
    ("alone, constant, load 0.5, 10 min", 600, 1, CONSTANT, 50, None),
    ("alone, log-normal, load 0.5, 2 min", 120, 1, LOG_NORMAL, 45, None),
    ("alone, log-normal, load 0.5, 60 min", 3600, 1, LOG_NORMAL, 45, None),
    ("time-slicing x4, log-normal, load 0.5, 2 min", 120, 4, LOG_NORMAL, 45, SLICED),
    ("time-slicing x4, log-normal, load 0.5, 20 min", 1200, 4, LOG_NORMAL, 45, SLICED),
    ("time-slicing x4, exponential, load 0.7, 10 min", 600, 4, EXPONENTIAL, 70, SLICED),
    ("MPS x4, log-normal, load 0.5, 10 min", 600, 4, LOG_NORMAL, 45, MPS),
)


def scenario(seconds, pods, gpu_time, rate, sharing, clock=1.0):
    """All times `clock` times as long."""
    def time(ms):
        return f"{round(clock * ms * 1e6)}ns"

    pool = {"name": "t4", "instanceType": "g4dn.xlarge"}
    if sharing:
        pool["devicePlugin"] = {"version": "v1", "sharing": sharing}
    return {
        "apiVersion": "slicewise.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "coverage"},
        "spec": {
            "duration": time(1000 * (seconds + 60)), "warmup": time(60_000), "nodePools": [pool],
            "workloads": [{
                "name": "api", "kind": "Service", "replicas": pods,
                "podTemplate": {"resources": {"requests": {"cpu": "250m", "memory": "1Gi"},
                                              "limits": {"nvidia.com/gpu": 1}}},
                "gpuMemory": {"resident": "1Gi"},
                "measured": {"device": "T4", "requestGpuTime": {
                    key: value if isinstance(value, str) else time(value) for key, value in gpu_time.items()},
                    "smActive": "60%",
                             "provenance": "Assumed"},
                "traffic": {"shape": "Poisson", "mean": f"{rate / clock:.9f}/s"},
            }],
        },
    }


def latency(binary, text, seed, *more):
    result = subprocess.run([binary, "run", "-f", "-", "-q", "-j", "1", "--seed", str(seed), "-o", "json",
                             *more], input=text, text=True, capture_output=True, check=False)
    if not result.stdout.strip():
        sys.exit(result.stderr)
    return json.loads(result.stdout)["variants"][0]["workloads"][0]["latencySeconds"]


def coverage(binary, setting, seeds, truth, pool):
    """By quantile, the share of the runs that hold it, and the mean half width against the value."""
    text = json.dumps(scenario(*setting[1:]))

    def on_clock(number):
        clock = 1 + BUCKET * number / CLOCKS
        found = latency(binary, json.dumps(scenario(*setting[1:], clock)), TRUTH_SEED + number,
                        "--replications", str(max(1, truth // CLOCKS)))
        return {q: found[q] / clock for q in QUANTILES if q in found}

    truths = list(pool.map(on_clock, range(CLOCKS)))
    true = {q: sum(t[q] for t in truths) / CLOCKS for q in QUANTILES if all(q in t for t in truths)}
    runs = list(pool.map(lambda seed: latency(binary, text, seed), range(1, seeds + 1)))
    found = {}
    for q in QUANTILES:
        with_interval = [run for run in runs if f"{q}Ci95" in run]
        if not with_interval or q not in true:
            continue
        held = sum(abs(run[q] - true[q]) <= run[f"{q}Ci95"] for run in with_interval)
        width = sum(run[f"{q}Ci95"] / run[q] for run in with_interval) / len(with_interval)
        found[q] = (held / len(with_interval), width)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the slicewise program")
    parser.add_argument("--seeds", type=int, default=200, help="runs of each setting")
    parser.add_argument("--truth", type=int, default=1000, help="replications for the true quantiles")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--setting", default="", metavar="TEXT", help="only those with this in their name")
    parser.add_argument("--check", type=float, nargs=2, metavar=("LOW", "HIGH"),
                        help="what the share must be between, as 0.93 0.97")
    arguments = parser.parse_args()
    outside = 0
    print(f"{'setting':47}" + "".join(f"{q:>15}" for q in QUANTILES), flush=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.threads) as pool:
        for setting in (each for each in SETTINGS if arguments.setting in each[0]):
            found = coverage(arguments.binary, setting, arguments.seeds, arguments.truth, pool)
            cells = [f"{found[q][0]:6.1%} ±{found[q][1]:5.1%}" if q in found else "-" for q in QUANTILES]
            print(f"{setting[0]:47}" + "".join(f"{cell:>15}" for cell in cells), flush=True)
            if arguments.check:
                low, high = arguments.check
                outside += sum(not low <= share <= high for share, _ in found.values())
    if arguments.check:
        print(f"{outside} outside")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
