#!/usr/bin/env python3
"""Plans of iGniter's published problems, beside what its greedy takes for them.

    tools/bench/plan_oracle/igniter.py build/release/tools/slicewise/slicewise --inputs CHECKOUT

CHECKOUT is one of github.com/icloud-ecnu/igniter (TPDS 2023, doi 10.1109/TPDS.2022.3232715): times, power and L2
cache of four models on the V100 of p3.2xlarge (Algorithm/config), and times under thread percentages
(Profile/tools/gpulet.config). The greedy is written here after the paper: one process for each workload, a batch that
gathers for half of the limit, the fewest threads that serve it alone in the other half, and the GPU where all
together need the fewest more. `slicewise plan` has the same workloads with batches as large, as the device plugin
shares GPUs and with --dra, and `slicewise run` says of each answer in how many fresh seeds it holds.

What run knows of a model is T0 + W b/r, for a batch b on the part r of the threads, fitted to the published times;
what it makes of company is that of full batches. Threads that differ from process to process are no setting of a
scenario: so many processes of 2.5 % in one pod (processesPerPod) stand for them. Requests come evenly, as iGniter
sends them, or at random. Not published, and Assumed: 2 GiB a pod; how long kernels last is left unknown.
"""

import argparse
import json
import math
import pathlib
from dataclasses import dataclass

from plan_oracle import SEEDS, Plan
from pools import Program, holds

INSTANCE, GPU = "p3.2xlarge", "V100-SXM2-16GB"
MEMORY_MIB = 2048
LARGEST_BATCH = 10  # of the times that the law is fitted to; the greedy takes 9 at most
# Batches and percent of the threads with which iGniter measures a model, and at which of them the L2 cache.
BATCHES, SHARES = (1, 16, 32), (10, 50, 100)
# Model, limit in ms, requests per second: what igniter-algorithm.py has for an example; and the paper's twelve,
# as its repository had them in Algorithm/test.py (e4b3c769).
PROBLEMS = {
    "example": (("alexnet", 15, 500), ("resnet50", 40, 400), ("vgg19", 60, 200)),
    "paper": (("alexnet", 10, 1200), ("resnet50", 20, 400), ("vgg19", 20, 300), ("ssd", 25, 150),
              ("alexnet", 15, 400), ("resnet50", 30, 600), ("vgg19", 30, 400), ("ssd", 40, 50),
              ("alexnet", 20, 800), ("resnet50", 40, 200), ("vgg19", 40, 200), ("ssd", 55, 300)),
}


def solved(matrix, right):
    """By Gauss, with pivots."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for at in range(len(rows)):
        pivot = max(range(at, len(rows)), key=lambda i: abs(rows[i][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for i, row in enumerate(rows):
            if i != at:
                factor = row[at] / rows[at][at]
                rows[i] = [a - factor * b for a, b in zip(row, rows[at])]
    return [row[-1] / row[at] for at, row in enumerate(rows)]


def least_squares(rows, values):
    columns = list(zip(*rows))
    return solved([[sum(a * b for a, b in zip(left, right)) for right in columns] for left in columns],
                  [sum(a * b for a, b in zip(column, values)) for column in columns])


def line(x, y):
    """Slope and value at 0."""
    return least_squares([(each, 1) for each in x], y)


def published(file):
    """Of each model, and of the hardware, all that the lines of a file say."""
    found = {}
    for text in file.read_text(encoding="utf-8").splitlines():
        for name, figures in json.loads(text).items():
            if isinstance(figures, dict):
                found.setdefault(name, {}).update(figures)
    return found


class Hardware:
    """Fits of the whole GPU: what power and company cost."""

    def __init__(self, measured):
        self.unit, self.bandwidth = measured["unit"], measured["bandwidth"]
        self.clock, self.most_watts, self.idle_watts = (
            measured[key] for key in ("maxGPUfrequency", "maxGPUpower", "idlepower"))
        # One to five copies: what they would draw goes on as long as the clock holds, then it falls with it.
        clocks, watts = measured["frequency"], measured["power"]
        full = sum(clock == self.clock for clock in clocks)
        step = (watts[full - 1] - watts[0]) / (full - 1)
        over = [watts[full - 1] + step * (i + 1) - self.most_watts for i in range(len(clocks) - full)]
        self.clock_per_watt, = least_squares([(each,) for each in over],
                                             [clock - self.clock for clock in clocks[full:]])
        delays = [delay * clock / self.clock for delay, clock in zip(measured["idletime"], clocks)]
        self.delay = line(range(2, len(delays) + 1), [delay - delays[0] for delay in delays[1:]])

    def slowness(self, watts):
        over = max(0, watts + self.idle_watts - self.most_watts)
        return self.clock / (self.clock + self.clock_per_watt * over)


class Model:
    """Fits of one model alone on a GPU."""

    def __init__(self, name, measured, hardware):
        self.name = name
        self.load, self.feedback = (measured[key] / hardware.bandwidth for key in ("inputdata", "outputdata"))
        self.idle, self.kernels = measured["idletime_1"], measured["kernel"]
        clock = measured["frequency_2"] / hardware.clock
        self.per_cache = (measured["activetime_2"] * clock / measured["activetime_1"] - 1) / measured["l2cache"]
        points = [(b, r, measured["gpulatency"][i][j], measured["frequency"][i][j], measured["power"][i][j])
                  for i, b in enumerate(BATCHES) for j, r in enumerate(SHARES)]
        self.fit_active([(b, r, ms * clock / hardware.clock - self.idle) for b, r, ms, clock, _ in points])
        pace = [1000 * b / (ms - self.idle) for b, _, ms, _, _ in points]
        free = [i for i, (_, _, _, clock, _) in enumerate(points) if clock > hardware.clock - 1]
        self.watts = line([pace[i] for i in free], [points[i][4] - hardware.idle_watts for i in free])
        self.cache = line(pace[::4], measured["l2caches"])

    def fit_active(self, points):
        """(k1 b^2 + k2 b + k3) / (r + k4) + k5: linear but for k4, of which all in steps of 0.01 are tried."""
        best = math.inf
        for k4 in (step / 100 for step in range(-900, 2000)):
            rows = [(b * b / (r + k4), b / (r + k4), 1 / (r + k4), 1) for b, r, _ in points]
            *work, fixed = least_squares(rows, [ms for _, _, ms in points])
            off = sum((sum(k * x for k, x in zip((*work, fixed), row)) - ms) ** 2
                      for row, (_, _, ms) in zip(rows, points))
            if off < best:
                best, self.work, self.k4, self.fixed = off, work, k4, fixed

    def gpu_work(self, batch):
        return self.work[0] * batch * batch + self.work[1] * batch + self.work[2]

    def active(self, batch, share):
        return self.gpu_work(batch) / (share + self.k4) + self.fixed


@dataclass(frozen=True)
class Workload:
    name: str
    model: Model
    limit: float  # ms
    rate: float

    @property
    def batch(self):
        """As many as gather in half of the limit while the one before is loaded."""
        rate = self.rate / 1000
        return math.ceil(self.limit / 2 * rate / (1 + self.model.load * rate))

    def fewest(self, unit):
        """Percent of the threads that it needs alone."""
        model = self.model
        left = self.limit / 2 - model.idle - self.batch * (model.load + model.feedback) - model.fixed
        return math.ceil((model.gpu_work(self.batch) / left - model.k4) / unit) * unit


def latencies(company, hardware):
    """In ms, of workloads with so many percent of the threads on one GPU."""
    alone = [w.model.active(w.batch, share) for w, share in company]
    pace = [1000 * w.batch / ms for (w, _), ms in zip(company, alone)]
    caches = [w.model.cache[0] * p + w.model.cache[1] for (w, _), p in zip(company, pace)]
    slowness = hardware.slowness(sum(w.model.watts[0] * p + w.model.watts[1] for (w, _), p in zip(company, pace)))
    wait = hardware.delay[0] * len(company) + hardware.delay[1] if len(company) > 1 else 0
    return [(w.model.idle + wait * w.model.kernels + ms * (1 + w.model.per_cache * (sum(caches) - own))) * slowness
            + (w.model.load + w.model.feedback) * w.batch for (w, _), ms, own in zip(company, alone, caches)]


def threads(company):
    return sum(share for _, share in company)


def together(company, hardware):
    """With as many threads more as all need to be in time; None where the GPU has not so many."""
    while threads(company) <= 100:
        late = [ms > w.limit / 2 for (w, _), ms in zip(company, latencies(company, hardware))]
        if not any(late):
            return company
        company = [(w, share + is_late * hardware.unit) for (w, share), is_late in zip(company, late)]
    return None


def greedy(workloads, hardware):
    """GPUs, and on each its workloads with percent of the threads."""
    gpus = []
    for workload in sorted(workloads, key=lambda w: -w.fewest(hardware.unit)):
        newcomer = (workload, workload.fewest(hardware.unit))
        if newcomer[1] > 100:
            raise SystemExit(f"{workload.name} needs more than a GPU, which no published problem does")
        found = [(threads(made) - threads(gpu), g, made) for g, gpu in enumerate(gpus)
                 if (made := together([*gpu, newcomer], hardware))]
        if found:
            _, g, made = min(found, key=lambda each: each[:2])
            gpus[g] = made
        else:
            gpus.append([newcomer])
    return gpus


def law(measured):
    """T0 and W in ms, with the least squares of relative errors, and their mean."""
    rows = [(int(batch) / (int(percent) / 100), ms) for batch, times in measured["latency"].items()
            for percent, ms in times.items() if int(batch) <= LARGEST_BATCH]
    fixed, work = least_squares([(1 / ms, items / ms) for items, ms in rows], [1] * len(rows))
    return fixed, work, sum(abs((fixed + work * items) / ms - 1) for items, ms in rows) / len(rows)


def service(workload, times, shape, processes=1, delay=0):
    """Of a batch that is not full its company, and its time on few threads, is that of a full one."""
    fixed, work, _ = times
    batch = workload.batch
    batching = {"maxBatch": batch} | ({"maxDelay": f"{delay}ms"} if batch > 1 else {})
    return {
        "name": workload.name, "kind": "Service", "replicas": 1, "processesPerPod": processes,
        "podTemplate": {"resources": {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": 1}}},
        "gpuMemory": {"resident": f"{MEMORY_MIB // processes}Mi"},
        "measured": {"device": GPU, "requestGpuTime": f"{fixed + work:.6f}ms", "extraPerItem": f"{work:.6f}ms",
                     "capacityShare": f"{100 * work * batch / (fixed + work * batch):.4f}%", "normP": 1,
                     "bandwidthShare": "0%", "provenance": "Measured"},
        "serving": {"batching": batching},
        "traffic": {"shape": shape, "mean": f"{workload.rate}/s"}, "slo": {"latencyP99": f"{workload.limit}ms"},
    }


def scenario(pools, services):
    return {
        "apiVersion": "slicewise.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "igniter"},
        "spec": {"controlPlane": "none", "duration": "30s", "warmup": "5s", "nodePools": pools,
                 "workloads": services, "planning": {"instanceTypes": [INSTANCE]}},
    }


def as_greedy(gpus, unit, laws, shape):
    """A pool for each GPU; a batch waits for all its requests as long as half of the limit."""
    pools, services = [], []
    for g, company in enumerate(gpus):
        shared = [{"name": "nvidia.com/gpu", "replicas": max(2, len(company))}]
        pools.append({"name": f"p{g}", "instanceType": INSTANCE, "nodes": 1, "labels": {"igniter/gpu": f"p{g}"},
                      "mps": {"activeThreads": f"{unit}%"}, "gpu": {"contextMemory": "1Mi"},
                      "devicePlugin": {"version": "v1", "sharing": {"mps": {"resources": shared}}}})
        for workload, share in company:
            made = service(workload, laws[workload.model.name], shape, round(share / unit), workload.limit / 2)
            made["podTemplate"]["nodeSelector"] = {"igniter/gpu": f"p{g}"}
            services.append(made)
    return scenario(pools, services)


def with_shadows(gpus, late, unit):
    """As iGniter answers a late process: another takes over, with 10 % of the threads more or all that are left."""
    made = []
    for company in gpus:
        left = 100 - threads(company)
        made.append([])
        for workload, share in company:
            more = min(10, left) // unit * unit if workload.name in late else 0
            left -= more
            made[-1].append((workload, share + more))
    return made


def to_plan(workloads, laws, shape):
    """A GPU for each."""
    pool = {"name": "gpu", "instanceType": INSTANCE, "nodes": len(workloads)}
    return scenario([pool], [service(w, laws[w.model.name], shape) for w in workloads])


def late_in(result):
    """Names of those that more than one request in a hundred is late for."""
    return [w["name"] for w in result["workloads"] if not all(o["pass"] for o in w["objectives"])]


class Comparison:
    """Prints a row for each answer to a problem."""

    def __init__(self, program, title, shape, seeds):
        self.program, self.title, self.shape, self.seeds = program, title, shape, seeds

    def say(self, answer, gpus, held, late):
        print(f"{self.title:8}  {self.shape:8}  {answer:16}  {gpus:4}  "
              f"{gpus * self.program.types[INSTANCE]['usdPerHour']:6.2f}  {held:3}/{len(self.seeds)}  "
              f"{', '.join(late) or '-'}", flush=True)

    def say_greedy(self, answer, gpus, unit, laws):
        """Returns who is late."""
        results = [self.program.run(seed, scenario=as_greedy(gpus, unit, laws, self.shape)) for seed in self.seeds]
        late = late_in(results[0])
        self.say(answer, len(gpus), sum(map(holds, results)), late)
        for company in gpus:
            print("         ", ", ".join(f"{w.name} {share:g} % x{w.batch}" for w, share in company))
        return late

    def say_plan(self, answer, made, flags):
        plan = Plan(self.program, made, self.seeds, ["--vary-pods", "2", "--no-risk", *flags])
        self.say(answer, sum(pool.nodes for pool in plan.pools), plan.held, ())
        for pool in plan.pools:
            print("         ", pool)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--inputs", type=pathlib.Path, required=True, metavar="CHECKOUT")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="(default %(default)s)")
    parser.add_argument("--arrivals", default="Constant,Poisson", help="(default %(default)s)")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="(default %(default)s)")
    arguments = parser.parse_args()
    program = Program(arguments.program)
    measured = published(arguments.inputs / "i-Gniter/Algorithm/config")
    tables = published(arguments.inputs / "i-Gniter/Profile/tools/gpulet.config")
    hardware = Hardware(measured.pop("hardware"))
    models = {name: Model(name, figures, hardware) for name, figures in measured.items()}
    laws = {name: law(tables[name]) for name in models}
    for name, (fixed, work, off) in laws.items():
        print(f"{name}: {fixed:.2f} ms + {work:.3f} ms b/r, off by {off:.1%} in the mean")
    print("PROBLEM   ARRIVALS  ANSWER            GPUS     $/H    HELD  LATE")
    for title in arguments.problems.split(","):
        workloads = [Workload(f"{name}-{i}", models[name], limit, rate)
                     for i, (name, limit, rate) in enumerate(PROBLEMS[title])]
        gpus = greedy(workloads, hardware)
        for shape in arguments.arrivals.split(","):
            rows = Comparison(program, title, shape, SEEDS[:arguments.seeds])
            late = rows.say_greedy("iGniter", gpus, hardware.unit, laws)
            if late:
                rows.say_greedy("iGniter, shadows", with_shadows(gpus, late, hardware.unit), hardware.unit, laws)
            made = to_plan(workloads, laws, shape)
            rows.say_plan("plan", made, ())
            rows.say_plan("plan --dra", made, ("--dra",))


if __name__ == "__main__":
    main()
