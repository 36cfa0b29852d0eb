"""Nothing gets lost: what a run says is added up again, from its files alone, over generated scenarios."""

import collections
import csv
import json
import math
import os
import pathlib
import random
import tempfile
import unittest

from program import add_parts, main, run

NIGHTLY = os.environ.get("SLICEWISE_NIGHTLY") == "1"
SCENARIOS = 100_000 if NIGHTLY else 150  # 0.05 s of a core each
PARTS = 8
RELATED = 200 if NIGHTLY else 12
LEAST_BILLED_S = 60  # of a node of EC2
NANO = 1e-9
OUTCOMES = {"in time", "late", "refused", "dropped", "timed out"}
T4 = "g4dn.xlarge"


def sharing(dice):
    """Fields of a node pool, and the resource that its pods ask for."""
    replicas = dice.randint(2, 6)
    plugin = {"version": "v1", "sharing": {dice.choice(["timeSlicing", "mps"]): {
        "resources": [{"name": "nvidia.com/gpu", "replicas": replicas}]}}}
    return dice.choice([{}, {"devicePlugin": plugin}, {"devicePlugin": plugin}])


def pool(dice, number):
    instance = dice.choice([T4, T4, "g5.xlarge", "g4dn.12xlarge"])
    nodes = dice.randint(1, 3)
    made = {"name": f"pool-{number}", "instanceType": instance, "nodes": nodes, **sharing(dice)}
    if dice.random() < 0.2:
        made["nodes"] = {"min": 1, "max": nodes + 1}
    return made


def batch_work(dice, kind):
    return {"kind": kind, "work": {"units": dice.randint(1, 20)},
            "measured": {"device": "T4", "unitTime": f"{dice.randint(1, 9)}s",
                         "gpuBusy": f"{dice.randint(10, 100)}%"}}


def served(dice):
    traffic = dice.choice([{"shape": "Poisson", "mean": f"{dice.choice([1, 5, 20, 60])}/s"},
                           {"shape": "ClosedLoop", "clients": dice.randint(1, 40), "thinkTime": "1s"}])
    serving = {"routing": dice.choice(["Random", "RoundRobin", "LeastOutstanding"])}
    if dice.random() < 0.4:
        serving["queueLimit"] = dice.randint(1, 20)
    if dice.random() < 0.3:
        serving["timeout"] = f"{dice.randint(1, 5)}s"
    if dice.random() < 0.3:
        serving["batching"] = {"maxBatch": dice.randint(2, 8), "maxDelay": "10ms"}
    if dice.random() < 0.3:
        serving["retries"] = {"most": dice.randint(1, 3), "after": "100ms"}
    return {"kind": "Service", "traffic": traffic, "serving": serving,
            "slo": {"latencyP95": f"{dice.choice([20, 200, 2000])}ms"},
            "measured": {"device": "T4", "requestGpuTime": f"{dice.randint(2, 60)}ms"}}


def workload(dice, number):
    kind = dice.choice(["Job", "Job", "Deployment", "Service", "Service"])
    made = served(dice) if kind == "Service" else batch_work(dice, kind)
    made |= {"name": f"w{number}", "gpuMemory": {"resident": f"{dice.choice([500, 2000, 6000, 9000])}Mi"},
             "podTemplate": {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"},
                                           "limits": {"nvidia.com/gpu": 1}}}}
    made["count" if kind == "Job" else "replicas"] = dice.randint(1, 6)
    if kind == "Job":
        made["submitInterval"] = f"{dice.choice([0, 1, 30])}s"
    if dice.random() < 0.3:
        made["startup"] = {"imagePull": "20s", "modelLoad": "5s"}
    return made


def scenario(seed):
    dice = random.Random(seed)
    spec = {"duration": f"{dice.randint(60, 400)}.5s",  # no pod comes at the instant of the end
             "replications": 1, "seed": seed,
            "fidelity": dice.choice(["auto", "exact"]),
            "nodePools": [pool(dice, n) for n in range(dice.randint(1, 2))],
            "workloads": [workload(dice, n) for n in range(dice.randint(1, 4))]}
    if any(isinstance(each["nodes"], dict) for each in spec["nodePools"]):
        spec["provisioner"] = {"kind": dice.choice(["Karpenter", "ClusterAutoscaler"])}
    if dice.random() < 0.3:
        spec["warmup"] = "30s"
    return {"apiVersion": "slicewise.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "g"}, "spec": spec}


def result_of(document):
    done = run("run", "-f", "-", "-o", "json", "--jobs", "1", "-q", stdin=json.dumps(document))
    if done.returncode not in (0, 4, 6, 99):
        raise AssertionError(f"{done.returncode}: {done.stderr}\n{json.dumps(document)}")
    return json.loads(done.stdout)["variants"][0]


def table_of(file):
    with file.open(encoding="utf-8", newline="") as text:
        header, *rows = csv.reader(text)  # in a third of csv.DictReader's time
        return [dict(zip(header, row)) for row in rows]


def tables_of(document):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        done = run("export", "-f", "-", "--to", "csv", "--requests", "10000000", "--out", str(out),
                   stdin=json.dumps(document))
        if done.returncode != 0:
            raise AssertionError(f"{done.returncode}: {done.stderr}\n{json.dumps(document)}")
        return {file.stem: table_of(file) for file in out.iterdir()}


def seconds(text):
    return float(text.rstrip("s"))


class Conserved(unittest.TestCase):
    def in_scenario(self, seed):
        document = scenario(seed)
        result, tables = result_of(document), tables_of(document)
        self.pods(document, result, tables)
        self.requests(result, tables)
        self.devices(result, tables)
        self.bill(result, tables)

    def pods(self, document, result, tables):
        end = seconds(document["spec"]["duration"])
        rows = collections.defaultdict(list)
        for row in tables["pods"]:
            rows[row["pod"]].append(row)
        ends = collections.Counter()
        jobs = {w["name"]: w["count"] for w in document["spec"]["workloads"] if w["kind"] == "Job"}
        for pod, each in rows.items():
            phases = sorted((float(row["from"]), float(row["until"])) for row in each if row["from"] != row["until"])
            for (_, until), (begin, _) in zip(phases, phases[1:]):
                self.assertLessEqual(until, begin + NANO, f"{pod} is in two phases at once")
            marks = {row["phase"] for row in each} & {"done", "failed"}
            alive = bool(phases) and phases[-1][1] >= end - NANO
            evicted = {row["from"] for row in each if row["phase"] == "evicted"}
            # Its Job makes the next one when the back-off is over.
            waits = alive and each[0]["workload"] in jobs and any(
                row["phase"] == "back-off" and row["from"] in evicted and float(row["until"]) >= end - NANO
                for row in each)
            ends["done" if "done" in marks else "failed" if "failed" in marks else
                 "waits" if waits else "alive" if alive else "gone"] += 1
        replicas = sum(w["replicas"] for w in document["spec"]["workloads"] if w["kind"] != "Job")
        submitted = result["pods"]["submitted"]
        self.assertEqual(ends["done"] + ends["failed"] + ends["alive"] + result["pods"]["evicted"], submitted)
        self.assertEqual(ends["gone"], 0)
        self.assertEqual(ends["done"], result["pods"]["succeeded"])
        self.assertGreaterEqual(submitted, replicas)
        if not result["pods"]["failed"]:
            self.assertLessEqual(submitted, sum(jobs.values()) + replicas + result["pods"]["evicted"])

    def requests(self, result, tables):
        timeline = collections.defaultdict(list)
        for row in tables["timeline"]:
            if row["of"] == "workload":
                timeline[row["name"], row["figure"]].append(float(row["value"]))
        rows = collections.defaultdict(collections.Counter)
        warm = collections.Counter()
        for row in tables["requests"]:
            self.assertIn(row["outcome"], OUTCOMES)
            self.assertGreaterEqual(float(row["over"]) + NANO, float(row["arrived"]))
            rows[row["workload"]][row["outcome"]] += 1
            warm[row["workload"], row["outcome"]] += row["warmup"] != "true"
        for each in result["workloads"]:
            if "requests" not in each:
                continue
            name, counted, over = each["name"], each["requests"], rows[each["name"]]
            answered = over["in time"] + over["late"]
            lost = over["refused"] + over["dropped"] + over["timed out"]
            self.assertEqual(sum(timeline[name, "arrived"]), answered + lost + timeline[name, "inSystem"][-1])
            self.assertEqual(sum(timeline[name, "lost"]), lost)
            self.assertEqual(counted["answered"], warm[name, "in time"] + warm[name, "late"])
            self.assertEqual(counted["inObjectives"], warm[name, "in time"])
            for outcome, key in (("refused", "refused"), ("dropped", "dropped"), ("timed out", "timedOut")):
                self.assertEqual(counted[key], warm[name, outcome])

    def devices(self, result, tables):
        sums, busy = collections.Counter(), {"gpu": 0.0, "workload": 0.0}
        for row in tables["timeline"]:
            value, length = float(row["value"]), float(row["until"]) - float(row["from"])
            if row["of"] == "gpu" and row["figure"] in ("busySeconds", "switchingSeconds"):
                self.assertLessEqual(value, length + 1e-6)
                sums[row["name"], row["figure"]] += value
            if row["figure"] in ("busySeconds", "gpuBusySeconds"):
                busy[row["of"]] += value
            if row["figure"] == "memoryBytes":
                sums[row["name"], "memory"] = max(sums[row["name"], "memory"], value)
        self.assertAlmostEqual(busy["gpu"], busy["workload"], delta=1e-5 * max(1.0, busy["gpu"]))
        lives = collections.Counter()  # a node that comes again has the name of before
        for row in tables["nodes"]:
            if row["launched"]:
                lives[row["node"]] += float(row["ended"]) - float(row["launched"])
        for gpu in result["gpus"]:
            end = lives[gpu["node"]] or math.inf
            name = f"{gpu['node']} GPU {gpu['index']}"
            used = sums[name, "busySeconds"] / end, sums[name, "switchingSeconds"] / end
            self.assertAlmostEqual(gpu["timeBusyRatio"], used[0], delta=1e-6)
            self.assertAlmostEqual(gpu["contextSwitchRatio"], used[1], delta=1e-6)
            self.assertLessEqual(sum(used), 1 + 1e-9)
            self.assertLessEqual(sums[name, "memory"], gpu["memoryPeakBytes"])
            self.assertLessEqual(gpu["memoryPeakBytes"], gpu["memoryTotalBytes"])

    def bill(self, result, tables):
        cost = {row["reason"]: float(row["usd"]) for row in tables["cost"]}
        total = cost.pop("total")
        self.assertAlmostEqual(sum(cost.values()), total, delta=NANO)
        self.assertAlmostEqual(total, result["cost"]["totalUsd"], delta=NANO)
        total -= cost["controlPlane"]  # the rest is of the nodes
        nodes = 0.0
        for row in tables["nodes"]:
            billed = float(row["billedUsd"])
            if row["launched"]:
                life = max(LEAST_BILLED_S, float(row["ended"]) - float(row["launched"]))
                self.assertAlmostEqual(billed, life / 3600 * float(row["usdPerHour"]), delta=2 * NANO)
            nodes += billed
        self.assertAlmostEqual(nodes, total, delta=NANO * max(1, len(tables["nodes"])))
        split = result["cost"]["split"]
        held = sum(each["bill"]["heldUsd"] for each in result["workloads"] if "bill" in each)
        self.assertAlmostEqual(held + split["idleUsd"] + split["switchUsd"], total, delta=1e-8)


def jobs(name, pool, dice, times=1):
    return {"name": name, "kind": "Job", "count": dice.randint(1, 4), "work": {"units": dice.randint(1, 9)},
            "submitInterval": f"{times * dice.randint(0, 7)}s",
            "startup": {"imagePull": f"{times * 9}s", "modelLoad": f"{times * 2}s"},
            "measured": {"device": "T4", "unitTime": f"{times * dice.randint(1, 9)}s",
                         "gpuBusy": f"{dice.randint(10, 100)}%"},
            "podTemplate": {"nodeSelector": {"pool": pool}, "resources": {"limits": {"nvidia.com/gpu": 1}}}}


def batches(seed, times=1, mode="mps", nodes=2):
    """Jobs of two teams, each on a pool of its own."""
    dice = random.Random(seed)
    replicas = dice.randint(2, 5)
    plugin = {"version": "v1", "sharing": {mode: {"resources": [{"name": "nvidia.com/gpu", "replicas": replicas}]}}}
    pools = [{"name": name, "instanceType": T4, "nodes": nodes, "labels": {"pool": name}, "devicePlugin": plugin}
             for name in ("a", "b")]
    return {"apiVersion": "slicewise.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "g"},
            "spec": {"replications": 1, "nodePools": pools,
                     "workloads": [jobs("first", "a", dice, times), jobs("second", "b", dice, times)]}}


add_parts(Conserved, "scenarios", PARTS, SCENARIOS, Conserved.in_scenario)


class Related(unittest.TestCase):
    """What must not matter, and what must matter by so much."""

    def figures(self, document):
        result = result_of(document)
        return {each["name"]: each["jobCompletionSeconds"]["mean"] for each in result["workloads"]}, result

    def test_twice_the_times_are_twice_the_time(self):
        for seed in range(RELATED):
            once, _ = self.figures(batches(seed))
            twice, _ = self.figures(batches(seed, times=2))
            for name, mean in once.items():
                self.assertAlmostEqual(twice[name], 2 * mean, delta=1e-6 * mean, msg=str(seed))

    def test_the_order_of_workloads_apart_does_not_matter(self):
        for seed in range(RELATED):
            document = batches(seed, mode="timeSlicing", nodes=1)  # the scheduler draws among equal nodes
            figures, result = self.figures(document)
            document["spec"]["workloads"].reverse()
            again, reversed_result = self.figures(document)
            self.assertEqual(figures, again, seed)
            self.assertEqual(result["cost"]["totalUsd"], reversed_result["cost"]["totalUsd"])

    def test_two_halves_of_a_workload_are_the_whole(self):
        for seed in range(RELATED):
            document = batches(seed, mode=("mps", "timeSlicing")[seed % 2], nodes=1)
            whole = document["spec"]["workloads"][0]
            del whole["startup"]  # each workload pulls its image by itself
            whole.update(count=2 * whole["count"], submitInterval="0s")
            figures, result = self.figures(document)
            whole["count"] //= 2
            document["spec"]["workloads"].insert(1, {**whole, "name": "half"})
            halves, again = self.figures(document)
            self.assertAlmostEqual((halves["first"] + halves["half"]) / 2, figures["first"], delta=1e-6, msg=str(seed))
            self.assertEqual(halves["second"], figures["second"])
            self.assertEqual(again["cost"]["totalUsd"], result["cost"]["totalUsd"], seed)

    def test_more_nodes_never_hurt(self):
        for seed in range(RELATED):
            means = []
            for nodes in (1, 2, 3):
                document = batches(seed, nodes=nodes)
                for each in document["spec"]["workloads"]:
                    del each["startup"]  # each node pulls the image by itself
                means.append(self.figures(document)[0]["first"])
            self.assertEqual(means, sorted(means, reverse=True), seed)

    def test_more_threads_of_mps_never_slow_who_gets_them(self):
        def means(pods, shares):
            for share in shares:
                document = batches(1, nodes=1)
                document["spec"]["nodePools"][0]["mps"] = {"activeThreads": f"{share}%"}
                document["spec"]["workloads"][0].update(count=pods, submitInterval="0s")
                yield self.figures(document)[0]["first"]
        for pods, shares in ((1, range(20, 101, 20)), (2, (20, 35, 50))):
            found = list(means(pods, shares))
            self.assertEqual(found, sorted(found, reverse=True), shares)
        # From here on the neighbour gets SMs that were the pod's own: from the one end to the other, without a step.
        found = list(means(2, range(50, 101, 2)))
        rising = found[-1] > found[0]
        self.assertEqual(found, sorted(found, reverse=not rising))
        for before, after in zip(found, found[1:]):
            self.assertAlmostEqual(after, before, delta=0.04 * before)


if __name__ == "__main__":
    main()
