"""Pools that share their GPUs in every way, and whether `slicewise run` lets them stand."""

import copy
import itertools
import json
import math
import subprocess
from dataclasses import dataclass, replace

HOURS_A_MONTH = 730
# Missed by so much in one replication, a limit is missed.
CLEARLY = 1.5


class Program:
    """The slicewise program and what it knows of instance types."""

    def __init__(self, binary):
        self.binary = binary
        self.types = {t["name"]: t for t in self.json("get", "instances")["items"]}
        self.profiles = {}
        for profile in self.json("get", "mig-profiles")["items"]:
            if profile.get("memoryBytes") and not profile["mediaExtensions"]:
                self.profiles.setdefault(profile["gpuModel"], []).append(profile)

    def json(self, *arguments, text=""):
        result = subprocess.run([self.binary, *arguments, "-o", "json"], input=text, text=True,
                                capture_output=True, check=False)
        return json.loads(result.stdout) if result.stdout.strip() else None

    def run(self, seed, *more, file="-", scenario=None):
        """The result; None: the program refuses the scenario."""
        result = self.json("run", "-f", file, "-q", "-j", "1", "--seed", str(seed), *more,
                           text=json.dumps(scenario))
        return result and result["variants"][0]

    def monthly(self, pools):
        """Infinite where there are none."""
        return sum(pool.nodes * self.types[pool.instance]["usdPerHour"] * HOURS_A_MONTH
                   for pool in pools) if pools else math.inf


@dataclass(frozen=True)
class Pool:
    instance: str
    members: tuple = ()         # names of workloads
    sharing: str = "exclusive"  # timeSlicing, mps, mig, mig+timeSlicing
    replicas: int = 1           # pods on a GPU, or on each of its MIG instances
    layout: tuple = ()          # MIG profiles and their numbers on each GPU
    asked: tuple = ()           # the profile of each member
    nodes: int = 1

    def __str__(self):
        share = f" x{self.replicas}" if self.replicas > 1 else ""
        mig = " " + "+".join(f"{number}x{profile}" for profile, number in self.layout)
        return (f"{self.nodes} x {self.instance}, {self.sharing}{share}{mig.rstrip()} "
                f"({', '.join(self.members)})")

    def resources(self):
        """What each member asks for."""
        return [f"nvidia.com/mig-{profile}" for profile in self.asked] or \
            ["nvidia.com/gpu"] * len(self.members)

    def block(self, name):
        """As a scenario's nodePools has it."""
        made = {"name": name, "instanceType": self.instance, "nodes": self.nodes,
                "labels": {"oracle/pool": name}}
        if self.layout:
            devices = {"devices": "all", "mig-enabled": True, "mig-devices": dict(self.layout)}
            made["mig"] = {"strategy": "mixed", "config": "own", "configs": {"own": [devices]}}
        if self.replicas > 1:
            shared = [{"name": name, "replicas": self.replicas} for name in sorted(set(self.resources()))]
            made["devicePlugin"] = {"version": "v1", "sharing": {
                "mps" if self.sharing == "mps" else "timeSlicing": {"resources": shared}}}
        return made


def scenario_with(base, pools):
    """The workloads that have a pool, each in its own."""
    made = copy.deepcopy(base)
    made["spec"]["nodePools"] = [pool.block(f"p{p}") for p, pool in enumerate(pools)]
    homes = {name: (f"p{p}", resource) for p, pool in enumerate(pools)
             for name, resource in zip(pool.members, pool.resources())}
    made["spec"]["workloads"] = [w for w in made["spec"]["workloads"] if w["name"] in homes]
    for workload in made["spec"]["workloads"]:
        home, resource = homes[workload["name"]]
        workload["podTemplate"]["nodeSelector"] = {"oracle/pool": home}
        workload["podTemplate"]["resources"]["limits"] = {resource: gpus_of(workload)}
    return made


def loses_pods(result):
    """Some did not run, ran out of memory or died; or nothing could be run."""
    return result is None or any(not reason["cause"].startswith("objective")
                                 for reason in result["verdict"]["reasons"])


def objectives(result):
    return [o for workload in result["workloads"] for o in workload.get("objectives", [])]


def holds(result):
    """All pods run, every objective is met; whether its interval clears the limit is not asked."""
    return not loses_pods(result) and all(o["pass"] for o in objectives(result))


class Judge:
    """Whether pools stand: in all but `may_fail` of the seeds. Remembers it."""

    def __init__(self, program, base, seeds, may_fail):
        self.program, self.base, self.seeds, self.may_fail = program, base, seeds, may_fail
        self.known = {}

    def stands(self, pool, certain=False):
        """`certain`: only where the memory of the pods that may meet on a GPU fits."""
        if pool not in self.known:
            self.known[pool] = self.try_out(pool)
        stands, is_certain = self.known[pool]
        return stands and (is_certain or not certain)

    def try_out(self, pool):
        scenario = scenario_with(self.base, [pool])
        first = self.program.run(self.seeds[0], "--replications", "1", scenario=scenario)
        if loses_pods(first) or any(o["value"] > CLEARLY * o["limit"] for o in objectives(first)):
            return False, False
        left = self.may_fail
        for seed in self.seeds:
            left -= not holds(self.program.run(seed, scenario=scenario))
            if left < 0:
                return False, False
        return True, all(room["safePods"] >= room["meetingPods"] for room in first["gpuRooms"])


def memory_of(workload):
    return int(workload["gpuMemory"]["resident"].removesuffix("Mi")) << 20


def gpus_of(workload):
    """Of each pod."""
    return workload["podTemplate"]["resources"]["limits"]["nvidia.com/gpu"]


def pods_of(workload):
    return workload.get("replicas", 0) + workload.get("count", 0)


def layouts(profiles, slices):
    """As many instances of each profile, one or more, as a GPU holds beside the others."""
    found = [counts for counts in itertools.product(*(range(1, p["maxCount"] + 1) for p in profiles))
             if all(sum(n * p[kind] for p, n in zip(profiles, counts)) <= most
                    for kind, most in slices.items())]
    return [c for c in found if not any(d != c and all(x >= y for x, y in zip(d, c)) for d in found)]


def mig_pools(instance, members, program):
    """An instance of its own for each pod, each workload of any profile; or equal ones, shared."""
    profiles = program.profiles.get(program.types[instance]["gpuModel"], [])
    slices = {kind: max((p[kind] for p in profiles), default=0)
              for kind in ("computeSlices", "memorySlices")}
    holding = [[p for p in profiles if p["memoryBytes"] >= memory_of(w)] for w in members]
    for asked in itertools.product(*holding):
        used = [p for p in profiles if p in asked]
        for counts in layouts(used, slices):
            layout = tuple((p["name"], count) for p, count in zip(used, counts))
            pool = Pool(instance, sharing="mig", layout=layout, asked=tuple(p["name"] for p in asked))
            yield pool
            for replicas in range(2, sum(map(pods_of, members)) + 1) if len(used) == 1 else ():
                yield replace(pool, sharing="mig+timeSlicing", replicas=replicas)


def every_sharing(instance, members, program):
    yield Pool(instance)
    if program.types[instance]["gpuFraction"] == 1 and all(gpus_of(w) == 1 for w in members):
        for replicas in range(2, sum(map(pods_of, members)) + 1):
            yield Pool(instance, sharing="timeSlicing", replicas=replicas)
            yield Pool(instance, sharing="mps", replicas=replicas)
        yield from mig_pools(instance, members, program)


def fewest_nodes(pool, members, program):
    """No fewer have places and GPU memory for the pods that run all the time; jobs may wait."""
    kind = program.types[pool.instance]
    services = [w for w in members if w["kind"] == "Service"]
    places = pool.replicas * sum(count for _, count in pool.layout or ((None, 1),))
    gpus = max(sum(pods_of(w) * gpus_of(w) for w in services) / places,
               sum(memory_of(w) * pods_of(w) * gpus_of(w) for w in services) / kind["gpuMemoryBytes"])
    return max(1, math.ceil(gpus / kind["gpuCount"]))


def candidates(members, instances, program, sharing=every_sharing):
    """Pools for the workloads, cheapest first; a node for each pod is the most."""
    names, pods = tuple(w["name"] for w in members), sum(map(pods_of, members))
    return sorted((replace(pool, members=names, nodes=nodes)
                   for instance in instances for pool in sharing(instance, members, program)
                   for nodes in range(fewest_nodes(pool, members, program), pods + 1)),
                  key=lambda pool: program.monthly([pool]))
