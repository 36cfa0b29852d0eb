"""scenarios.py FOLDER [COUNT]: generated scenarios for kube-scheduler to disagree with, a file each.

Small clusters of unlike pools, whose pods ask for more than there is: labels, taints, zones, priorities,
GPU counts, replicas, MIG devices, CPU and memory. Everything is drawn from the number of the scenario.
"""

import json
import pathlib
import random
import sys

COUNT = 230
REFUSE_FROM = 80  # scenarios whose pods refuse each other
PREFER_FROM = 110  # ... or like and dislike each other, and say how they spread
NODES_FROM = 140  # ... or prefer some nodes, and take ports of them
REQUIRE_FROM = 170  # ... or need company, distance, domains or nodes
# Whole GPUs, and how much CPU and memory its nodes have about.
TYPES = {"g4dn.xlarge": (1, 3, 13), "g5.xlarge": (1, 3, 13), "g6.2xlarge": (1, 7, 28),
         "g4dn.12xlarge": (4, 47, 180), "g5.12xlarge": (4, 47, 180), "p3.8xlarge": (4, 31, 230)}
A100 = ("p4d.24xlarge", (8, 95, 1100))
MIG = {"all-1g.5gb": ["nvidia.com/mig-1g.5gb"], "all-2g.10gb": ["nvidia.com/mig-2g.10gb"],
       "all-balanced": ["nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb", "nvidia.com/mig-3g.20gb"]}
ZONE = "topology.kubernetes.io/zone"


def pool(dice, number):
    """A node pool, with what its pods may ask for and the size of its nodes."""
    mode = dice.choice(["whole", "whole", "replicas", "renamed", "mig"])
    instance, size = A100 if mode == "mig" else dice.choice(list(TYPES.items()))
    made = {"name": f"pool-{number}", "instanceType": instance, "nodes": dice.randint(1, 4 if size[0] == 1 else 2)}
    offers = ["nvidia.com/gpu"]
    if mode == "mig":
        config = dice.choice(list(MIG))
        made["mig"], offers = {"strategy": "mixed", "config": config}, MIG[config]
    elif mode != "whole":
        sharing = dice.choice(["timeSlicing", "mps"])
        resource = {"name": "nvidia.com/gpu", "replicas": dice.randint(2, 5)}
        made["devicePlugin"] = {"version": "v1", "sharing": {sharing: {"resources": [resource]}}}
        if mode == "renamed":
            made["devicePlugin"]["sharing"][sharing]["renameByDefault"] = True
            offers = ["nvidia.com/gpu.shared"]
    made["labels"] = {"team": dice.choice("ab")}
    if dice.random() < 0.5:
        made["labels"][ZONE] = dice.choice(["us-east-1a", "us-east-1b"])
    made["taints"] = []
    for key, effect, odds in (("gpu", "NoSchedule", 0.3), ("spot", "PreferNoSchedule", 0.3), ("old", "NoExecute", 0.1)):
        if dice.random() < odds:
            made["taints"].append({"key": key, "value": "true", "effect": effect})
    return made, offers, size, mode == "whole"


def work(dice, kind, ends):
    """What pods do, for longer than the run, or not."""
    if kind == "Service":
        return {"traffic": {"shape": "Poisson", "mean": "1/s"}, "measured": {"device": "T4", "requestGpuTime": "1ms"}}
    units = dice.randint(2, 15) if ends else 100_000
    return {"work": {"units": units}, "measured": {"device": "T4", "unitTime": "60s", "gpuBusy": "20%"}}


def workload(dice, number, pools, ends):
    _, offers, (gpus, cpus, memory), whole = dice.choice(pools)
    kind = dice.choice(["Job", "Job", "Deployment", "Service"])
    count = dice.choice([1, 1, 2, 4, gpus + 1]) if whole else 1
    made = {"name": f"w{number}", "kind": kind, **work(dice, kind, ends), "gpuMemory": {"resident": "100Mi"},
            "count" if kind == "Job" else "replicas": dice.randint(1, 7)}
    if kind == "Job":
        made["submitInterval"] = f"{dice.choice([0, 0, 60])}s"
    made["submitAt"] = f"{60 * dice.choice([0, 0, 1, 2, 3])}s"
    requests = {}
    if dice.random() < 0.8:
        requests["cpu"] = f"{dice.choice([100, 500, 1000, 1000 * cpus // 3, 1000 * cpus // 2])}m"
    if dice.random() < 0.8:
        requests["memory"] = f"{dice.choice([200, 1000, 1024 * memory // 4, 1024 * memory // 2])}Mi"
    template = {"resources": {"requests": requests, "limits": {dice.choice(offers): count}}, "tolerations": []}
    if dice.random() < 0.3:
        template["nodeSelector"] = {"team": dice.choice("ab")}
    for key, odds in (("gpu", 0.6), ("spot", 0.3), ("old", 0.5)):
        if dice.random() < odds:
            template["tolerations"].append({"key": key, "operator": "Exists"})
    made["podTemplate"] = template
    if dice.random() < 0.5:
        made["priority"] = dice.choice([-5, 10, 10, 1000])
        if dice.random() < 0.2:
            made["preemptionPolicy"] = "Never"
    return made


def urgent(dice, number, pools, ends):
    """Pods that come last, for whom others have to go."""
    made = workload(dice, number, pools, ends)
    made.update(priority=dice.choice([100, 1000]), submitAt=f"{60 * dice.randint(4, 6)}s")
    made.pop("preemptionPolicy", None)
    return made


def refuse(dice, workloads):
    """Labels, and required anti-affinity to them: to one's like, to others, by one side or by both.

    One term each: who has several is told of an end only where all of them select the pod that ended
    (podMatchesAllAffinityTerms), and waits five minutes for the others, which slicewise does not."""
    for made in workloads:
        template = made["podTemplate"]
        template["labels"] = {"size": dice.choice(["large", "large", "small"])}
        if dice.random() < 0.6:
            terms = [{"topologyKey": "kubernetes.io/hostname",
                      "labelSelector": {"matchLabels": {"size": dice.choice(["large", "large", "small"])}}}]
            template["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def prefer(dice, workloads):
    """Labels, and what pods would rather have: company by node and by zone, near or far, and how they spread."""
    for made in workloads:
        template = made["podTemplate"]
        template["labels"] = {"size": dice.choice(["large", "large", "small"])}

        def rule(key):
            labels = {"size": dice.choice(["large", "large", "small"])}
            return {"topologyKey": key or dice.choice(["kubernetes.io/hostname", ZONE]),
                    "labelSelector": {"matchLabels": labels}}

        for kind, odds in (("podAffinity", 0.4), ("podAntiAffinity", 0.4)):
            if dice.random() < odds:
                terms = [{"weight": dice.randint(1, 100), "podAffinityTerm": rule(None)}
                         for _ in range(dice.randint(1, 2))]
                template.setdefault("affinity", {})[kind] = {
                    "preferredDuringSchedulingIgnoredDuringExecution": terms}
        keys = dice.choice([[], [], [ZONE], ["kubernetes.io/hostname"], [ZONE, "kubernetes.io/hostname"]])
        if keys:
            template["topologySpreadConstraints"] = [
                {"maxSkew": dice.randint(1, 3), "whenUnsatisfiable": "ScheduleAnyway", **rule(key)} for key in keys]


def prefer_nodes(dice, workloads):
    """Labels of nodes that pods would rather have, in all the ways that one can say it, and ports of their node."""
    for made in workloads:
        template = made["podTemplate"]

        def requirement():
            key, values = dice.choice([("team", ["a", "b"]), (ZONE, ["us-east-1a", "us-east-1b"])])
            operator = dice.choice(["In", "In", "NotIn", "Exists", "DoesNotExist"])
            if operator in ("In", "NotIn"):
                return {"key": key, "operator": operator, "values": dice.sample(values, dice.randint(1, 2))}
            return {"key": key, "operator": operator}

        if dice.random() < 0.8:
            terms = [{"weight": dice.randint(1, 100),
                      "preference": {"matchExpressions": [requirement() for _ in range(dice.randint(1, 2))]}}
                     for _ in range(dice.randint(1, 3))]
            template["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
        if dice.random() < 0.3:
            template["hostPorts"] = dice.choice([["8000"], ["8000", "9000"], ["8000/UDP"]])


def require(dice, workloads):
    """Labels, and what pods need: company and distance by node and by zone, how they spread, and nodes."""
    for made in workloads:
        template = made["podTemplate"]
        template["labels"] = {"size": dice.choice(["large", "large", "small"])}

        def rule(key, odds_of_own):
            own = template["labels"]["size"]
            size = own if dice.random() < odds_of_own else dice.choice(["large", "small"])
            return {"topologyKey": key, "labelSelector": {"matchLabels": {"size": size}}}

        def some_key():
            return dice.choice(["kubernetes.io/hostname", ZONE, ZONE, "team"])

        kind = dice.choice(["podAffinity", "podAntiAffinity", "spread", "spread", "nodes", ""])
        if kind == "spread":
            keys = dice.choice([[ZONE], ["team"], ["kubernetes.io/hostname"], [ZONE, "kubernetes.io/hostname"]])
            template["topologySpreadConstraints"] = [
                {"maxSkew": dice.randint(1, 2), "whenUnsatisfiable": "DoNotSchedule", **rule(key, 0.8)}
                for key in keys]
            for one in template["topologySpreadConstraints"]:
                for field, values, odds in (("minDomains", [2, 3], 0.2), ("nodeAffinityPolicy", ["Ignore"], 0.2),
                                            ("nodeTaintsPolicy", ["Honor"], 0.3)):
                    if dice.random() < odds:
                        one[field] = dice.choice(values)
        elif kind == "nodes":
            terms = [{"matchExpressions": [dice.choice([
                {"key": "team", "operator": dice.choice(["In", "NotIn"]), "values": [dice.choice("ab")]},
                {"key": ZONE, "operator": dice.choice(["Exists", "DoesNotExist"])},
                {"key": "rank", "operator": dice.choice(["Gt", "Lt"]), "values": ["2"]}])
                for _ in range(dice.randint(1, 2))]} for _ in range(dice.randint(1, 2))]
            template["affinity"] = {"nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
        elif kind:
            template["affinity"] = {kind: {
                "requiredDuringSchedulingIgnoredDuringExecution": [rule(some_key(), 0.6)]}}


def scenario(number):
    dice = random.Random(number)
    pools = [pool(dice, n) for n in range(dice.randint(1, 3))]
    ends = dice.random() < 0.3
    workloads = [workload(dice, n, pools, ends) for n in range(dice.randint(2, 5))]
    workloads += [urgent(dice, len(workloads) + n, pools, ends) for n in range(dice.choice([0, 1, 2]))]
    if number >= REQUIRE_FROM:
        require(dice, workloads)
        for made, *_ in pools:
            made["labels"]["rank"] = str(dice.randint(1, 3))
    elif number >= NODES_FROM:
        prefer_nodes(dice, workloads)
    elif number >= PREFER_FROM:
        prefer(dice, workloads)
    elif number >= REFUSE_FROM:
        refuse(dice, workloads)
    spec = {"duration": "20m", "replications": 1, "seed": number + 1,
            "nodePools": [made for made, *_ in pools],
            "workloads": workloads}
    if dice.random() < 0.3:
        spec["scheduler"] = {"scorePolicy": "MostAllocated"}
    return {"apiVersion": "slicewise.dev/v1alpha1", "kind": "Scenario",
            "metadata": {"name": f"generated-{number}"}, "spec": spec}


def main(folder, count=COUNT):
    for number in range(int(count)):
        name = pathlib.Path(folder, f"generated-{number:02}.yaml")
        name.write_text(json.dumps(scenario(number), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
