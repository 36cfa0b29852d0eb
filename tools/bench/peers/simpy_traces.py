"""The same replays in SimPy, as its users write them.

    PYTHON simpy_traces.py philly philly_attempts.csv 3000
    PYTHON simpy_traces.py openb openb_pod_list_default.csv openb_node_list_gpu_node.csv
"""

import csv
import sys

import simpy


def philly(path, gpus):
    """Strict first come, first served on one pool: a Container serves its getters in order."""
    env = simpy.Environment()
    pool = simpy.Container(env, capacity=gpus, init=gpus)
    waits = []

    def job(submit, run, wanted):
        yield pool.get(wanted)
        waits.append(env.now - submit)
        yield env.timeout(run)
        yield pool.put(wanted)

    def arrivals():
        for row in csv.DictReader(open(path)):
            submit = int(row["submit_time"])
            if submit > env.now:
                yield env.timeout(submit - env.now)
            env.process(job(submit, int(row["run_time"]), int(row["gpu_num"])))

    env.process(arrivals())
    env.run()
    print(f"{len(waits)} jobs, mean wait {sum(waits) / len(waits):.2f} s")


class Node:
    def __init__(self, row):
        self.cpu, self.memory = int(row["cpu_milli"]), int(row["memory_mib"])
        self.gpus, self.model = [1000] * int(row["gpu"]), row["model"]

    def pick(self, pod):
        """The GPUs that the pod would get, None when it does not fit."""
        if self.cpu < pod["cpu"] or self.memory < pod["memory"]:
            return None
        if pod["models"] and self.model not in pod["models"]:
            return None
        if pod["gpus"] == 0:
            return []
        fits = [g for g, free in enumerate(self.gpus) if free >= pod["milli"]]
        if len(fits) < pod["gpus"]:
            return None
        return sorted(fits, key=lambda g: self.gpus[g])[:pod["gpus"]]

    def give(self, pod, gpus, sign):
        self.cpu += sign * pod["cpu"]
        self.memory += sign * pod["memory"]
        for g in gpus:
            self.gpus[g] += sign * pod["milli"]


def openb(pods, nodes):
    """Best fit by a look at every node."""
    env = simpy.Environment()
    cluster = [Node(row) for row in csv.DictReader(open(nodes))]
    placed = []

    def run(pod, node, gpus):
        yield env.timeout(pod["run"])
        node.give(pod, gpus, 1)

    def arrivals():
        rows = [r for r in csv.DictReader(open(pods)) if r["scheduled_time"]]
        for row in sorted(rows, key=lambda r: int(r["creation_time"])):
            at = int(row["creation_time"])
            if at > env.now:
                yield env.timeout(at - env.now)
            pod = {"cpu": int(row["cpu_milli"]), "memory": int(row["memory_mib"]),
                   "gpus": int(row["num_gpu"]), "milli": int(row["gpu_milli"]),
                   "models": row["gpu_spec"].split("|") if row["gpu_spec"] else [],
                   "run": int(row["deletion_time"]) - int(row["scheduled_time"])}
            best = None
            for node in cluster:
                gpus = node.pick(pod)
                if gpus is None:
                    continue
                left = (node.cpu - pod["cpu"]) / 128000 + sum(node.gpus) / 8000
                if best is None or left < best[0]:
                    best = (left, node, gpus)
            if best:
                best[1].give(pod, best[2], -1)
                env.process(run(pod, best[1], best[2]))
                placed.append(pod)

    env.process(arrivals())
    env.run()
    print(f"{len(placed)} pods placed")


if __name__ == "__main__":
    if sys.argv[1] == "philly":
        philly(sys.argv[2], int(sys.argv[3]))
    else:
        openb(sys.argv[2], sys.argv[3])
