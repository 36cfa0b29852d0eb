"""Random questions for a planner: a few services and jobs, or a fleet of services."""

import math
import random

SEVERAL_GPUS = ("g4dn.12xlarge", "g5.12xlarge", "g6.12xlarge", "g5.48xlarge", "g6e.12xlarge",
                "p4d.24xlarge")
TYPES = ("g4dn.xlarge", "g4dn.12xlarge", "g5.xlarge", "g5.2xlarge", "g5.12xlarge", "g6.xlarge",
         "g6e.xlarge", "g6f.xlarge", "g6f.4xlarge", "p5.4xlarge", "p4d.24xlarge")


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def workload(rng, name, kind, most_gib, busy):
    """1 GiB or more of a GPU; kernels fill a part of the `busy` percent of its time."""
    return {
        "name": name,
        "kind": kind,
        "podTemplate": {"resources": {
            "requests": {"cpu": rng.choice(("250m", "500m", "1")), "memory": "1Gi"},
            "limits": {"nvidia.com/gpu": 1}}},
        "gpuMemory": {"resident": f"{256 * round(4 * log_uniform(rng, 1, most_gib))}Mi"},
        "measured": {"device": rng.choice(("T4", "A10G", "L4")), "smActive": f"{rng.randint(20, busy)}%",
                     "provenance": "Assumed"},
    }


def service(rng, name):
    """Several ms a request, a few to tens of requests/s, an objective for the p95."""
    made = workload(rng, name, "Service", 20, 90)
    p50 = log_uniform(rng, 3, 40)
    rate = log_uniform(rng, 2, 40)
    made["replicas"] = math.ceil(rate * p50 / 1000 / 0.45) + rng.choice((0, 0, 1))
    made["measured"]["requestGpuTime"] = {"p50": f"{p50:.2f}ms", "p99": f"{2 * p50:.2f}ms"}
    made["traffic"] = {"shape": "Poisson", "mean": f"{rate:.2f}/s"}
    made["slo"] = {"latencyP95": f"{rng.uniform(4, 20) * p50:.0f}ms"}
    return made


def job(rng, name):
    """One to two minutes alone on its GPU; it may wait, or share, until it must be done."""
    busy = rng.randint(40, 95)
    made = workload(rng, name, "Job", 12, busy)
    unit = rng.uniform(2, 4)
    made["count"] = rng.randint(1, 3)
    made["work"] = {"units": 30}
    made["measured"] |= {"unitTime": f"{unit:.2f}s", "gpuBusy": f"{busy}%"}
    made["slo"] = {"completionP95": f"{30 * unit * rng.uniform(1.5, 5):.0f}s"}
    return made


def scenario(name, workloads, instances):
    """As most begin: a GPU for each pod, of the first type."""
    pods = sum(w.get("replicas", 0) + w.get("count", 0) for w in workloads)
    return {
        "apiVersion": "slicewise.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": name},
        "spec": {
            "duration": "10m",
            "warmup": "1m",
            "objective": {"minimize": "monthlyCost"},
            "planning": {"instanceTypes": list(instances)},
            "nodePools": [{"name": "gpu", "instanceType": instances[0], "nodes": pods}],
            "workloads": workloads,
        },
    }


def small_problem(seed):
    """1 to 4 services and jobs, 1 to 3 instance types."""
    rng = random.Random(seed)
    workloads = [service(rng, f"s{w}") if rng.random() < 0.75 else job(rng, f"j{w}")
                 for w in range(rng.choice((1, 2, 3, 3, 4, 4)))]
    return scenario(f"small-{seed}", workloads, rng.sample(TYPES, rng.choice((1, 2, 3, 3))))


def problem_with_several_gpus(seed):
    """1 or 2 workloads whose pods have 2 to 4 whole GPUs beside 1 or 2 that have one."""
    rng = random.Random(f"several-gpus-{seed}")
    large, small = rng.choice((1, 1, 2)), rng.choice((1, 2))
    workloads = [service(rng, f"s{w}") if rng.random() < 0.75 else job(rng, f"j{w}")
                 for w in range(large + small)]
    for made in workloads[:large]:
        made["podTemplate"]["resources"]["limits"]["nvidia.com/gpu"] = rng.choice((2, 2, 3, 4, 4))
    instances = rng.sample(SEVERAL_GPUS, rng.choice((1, 2)))
    instances += rng.sample(("g4dn.xlarge", "g5.xlarge", "g6.xlarge", "g6e.xlarge"), 1)
    return scenario(f"several-gpus-{seed}", workloads, instances)


def fleet(services, seed, instances):
    rng = random.Random(seed)
    return scenario(f"fleet-{services}-{seed}", [service(rng, f"s{w:03}") for w in range(services)],
                    instances)
