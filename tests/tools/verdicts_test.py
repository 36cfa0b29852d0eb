"""One verdict, and every rendering of it agrees: table, Markdown, JUnit, page, diff and exit code;
and `plan` and `max-load` judge a scenario as `run` does.

Each scenario is small, and says what the verdict must be. The JSON document is what the others are
held to, so that a renderer with an opinion of its own is found.
"""

import csv
import html
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from program import PODS_LOST, ROOT, run

SUCCESS, INFEASIBLE, MISSED = 0, 4, 99
LOST = {"nothingRan", "outOfMemory", "podsFailed", "crashLoopBackOff", "podsPending"}

AWS = "scenarios/examples/aws-cifar10.yaml"

POD = """
    podTemplate:
      resources:
        requests: {cpu: 500m, memory: 2Gi}
        limits: {nvidia.com/gpu: 1}
    gpuMemory: {allocator: OnDemand, resident: RESIDENT}
"""
JOBS = """
  - name: train
    kind: Job
    count: COUNT""" + POD + """
    work: {units: 10, unitName: epoch}
    measured: {device: T4, unitTime: 6s, gpuBusy: 50%, smActive: 40%, cpu: 500m, provenance: Assumed}
"""
DEPLOYMENT = JOBS.replace("kind: Job", "kind: Deployment").replace("count: COUNT", "replicas: COUNT")
SERVICE = """
  - name: chat
    kind: Service
    replicas: COUNT""" + POD + """
    measured:
      device: T4
      requestGpuTime: {p50: 20ms, p99: 40ms}
      smActive: 40%
      cpu: 200m
      provenance: Assumed
    traffic: {shape: Poisson, mean: 20/s}
    EXTRA
"""
SHARED = "{version: v1, sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: N}]}}}"


def scenario(workloads, nodes=1, share=None, duration=None, policies="", replications=2):
    plugin = f"\n    devicePlugin: {SHARED.replace('N', str(share))}" if share else ""
    end = f"duration: {duration}" if duration else "until: AllJobsDone"
    return f"""apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {{name: judged}}
spec:
  {end}
  replications: {replications}
  {policies}
  nodePools:
  - name: t4
    instanceType: g4dn.xlarge
    nodes: {nodes}{plugin}
  workloads:{workloads}
"""


def jobs(count, resident="1Gi", **rest):
    return scenario(JOBS.replace("COUNT", str(count)).replace("RESIDENT", resident), **rest)


def deployment(count, resident="1Gi", units=10_000, **rest):
    text = DEPLOYMENT.replace("COUNT", str(count)).replace("RESIDENT", resident)
    return scenario(text.replace("units: 10", f"units: {units}"), **{"duration": "20m", **rest})


def service(count, extra="", resident="1Gi", **rest):
    text = SERVICE.replace("COUNT", str(count)).replace("RESIDENT", resident)
    return scenario(text.replace("EXTRA", extra), **{"duration": "5m", **rest})


def budget(limit, severity="Deny"):
    return f"policies: [{{name: budget, assert: cost.monthly <= {limit}, severity: {severity}}}]"


# A Job at the end makes Karpenter start a node that has no place for the service.
NODE_FOR_OTHERS = scenario(
    SERVICE.replace("COUNT", "2").replace("RESIDENT", "1Gi").replace("EXTRA", "")
    + JOBS.replace("COUNT", "1").replace("RESIDENT", "1Gi").replace(
        "podTemplate:", "submitAt: 4m30s\n    podTemplate:\n      nodeSelector: {lane: jobs}"),
    duration="5m").replace("  workloads:", """  - name: grows
    instanceType: g4dn.xlarge
    nodes: {min: 0, max: 1}
    labels: {lane: jobs}
    taints: [{key: lane, value: jobs, effect: NoSchedule}]
  provisioner: {kind: Karpenter}
  workloads:""").replace("      nodeSelector: {lane: jobs}", """      nodeSelector: {lane: jobs}
      tolerations: [{key: lane, operator: Exists}]""")

# Name: scenario, flags, causes of each variant (in any order).
CASES = {
    "jobs that all fit": (jobs(1), (), [set()]),
    "jobs that queue and are done": (jobs(5), (), [set()]),
    "jobs that share": (jobs(4, share=4), (), [set()]),
    "a queue that the end cuts off": (jobs(5, duration="90s"), (), [{"podsPending"}]),
    "the same, allowed": (jobs(5, duration="90s"), ("--allow-pending",), [set()]),
    "jobs out of memory": (jobs(4, resident="6Gi", share=4), (), [{"outOfMemory"}]),
    "jobs out of memory, pending allowed": (jobs(4, resident="6Gi", share=4), ("--allow-pending",),
                                            [{"outOfMemory"}]),
    "a deployment that runs": (deployment(1), (), [set()]),
    "a deployment that shares": (deployment(4, share=4), (), [set()]),
    "six replicas on four GPUs": (deployment(6, nodes=4), (), [{"podsPending"}]),
    "six replicas on four GPUs, allowed": (deployment(6, nodes=4), ("--allow-pending",), [set()]),
    "half of a deployment dies of memory": (deployment(4, resident="6Gi", share=4), (),
                                            [{"outOfMemory", "crashLoopBackOff"}]),
    "a deployment whose work ends": (deployment(2, units=5, nodes=2), (), [{"crashLoopBackOff"}]),
    "a service without objectives": (service(1), (), [set()]),
    "an objective that holds": (service(1, "slo: {latencyP99: 5s}"), (), [set()]),
    "an objective that is missed": (service(1, "slo: {latencyP99: 21ms}"), (),
                                    [{"objectiveMissed"}]),
    "an objective that an interval leaves open": (service(1, "slo: {latencyP99: 98ms}"), (),
                                                  [{"objectiveUndecided"}]),
    "a service that answers less than comes": (service(1).replace("mean: 20/s", "mean: 80/s"), (),
                                               [{"overloaded"}]),
    "a service with a replica Pending": (service(2), (), [{"podsPending"}]),
    "... and its objective met": (service(2, "slo: {latencyP99: 5s}"), (), [{"podsPending"}]),
    "... and its objective missed": (service(2, "slo: {latencyP99: 21ms}"), (),
                                     [{"podsPending", "objectiveMissed"}]),
    "... and forgiven": (service(2, "slo: {latencyP99: 5s}"), ("--allow-pending",), [set()]),
    "a service out of memory": (service(4, "slo: {latencyP99: 5s}", resident="6Gi", share=4), (),
                                [{"outOfMemory", "crashLoopBackOff"}]),
    "a policy that holds": (jobs(1, policies=budget(100_000)), (), [set()]),
    "a policy that denies": (jobs(1, policies=budget(1)), (), [{"policyDenies"}]),
    "a policy that warns": (jobs(1, policies=budget(1, "Warn")), (), [set()]),
    "a denied service": (service(1, "slo: {latencyP99: 5s}", policies=budget(1)), (), [{"policyDenies"}]),
    "a denied service with pods lost": (service(2, policies=budget(1)), (),
                                        [{"podsPending", "policyDenies"}]),
    "no node has the GPU": (jobs(1).replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 2"), (),
                            [{"nothingRan", "podsPending"}]),
    "AWS before and greedy": (AWS, ("--variant", "before", "--variant", "after-greedy"),
                              [set(), {"outOfMemory", "podsFailed"}]),
    "AWS after": (AWS, ("--variant", "after", "--variant", "after-memory-growth"), [set(), set()]),
    "GPUs shared by hand": ("scenarios/examples/manual-sharing.yaml", (),
                            [{"outOfMemory", "podsFailed"}, set()]),
    "gangs": ("scenarios/examples/data-parallel-p3.yaml", ("--variant", "beside-a-single-gpu"),
              [set()]),
    "a node that Karpenter brings": ("scenarios/examples/karpenter-thrash.yaml",
                                     ("--variant", "node-overlay"), [set()]),
    "a node is on its way, for other pods": (NODE_FOR_OTHERS, (), [{"podsPending"}]),
    "a sweep of queues": ("scenarios/examples/replica-sweep.yaml", (), [set()] * 9),
}


def one_line(text):
    return " ".join(text.split())


def expected_exit(variants):
    """Of `run`: what the documented order of the codes makes of the verdicts."""
    causes = {cause for found in variants for cause in found}
    if "nothingRan" in causes:
        return INFEASIBLE
    if causes & {"objectiveMissed", "objectiveUndecided", "overloaded", "policyDenies"}:
        return MISSED
    return PODS_LOST if causes & LOST else SUCCESS


class Verdicts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def simulate(self, name):
        text, flags, causes = CASES[name]
        file = text
        if "\n" in text:
            file = str(self.folder / "scenario.yaml")
            pathlib.Path(file).write_text(text, encoding="utf-8")
        return file, (*flags, "--replications", "2"), causes

    def output(self, code, *arguments):
        result = run(*arguments, cwd=ROOT)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stderr}")
        return result.stdout

    def check_page(self, page, variants):
        """The tick, the buttons and the row of each variant."""
        stands = {v["name"]: v["verdict"]["stands"] for v in variants}
        heading = re.search(r'<h2 id="verdict-h" class="(good|bad)">.*?</h2>', page, re.S)
        if not any(stands.values()):
            self.assertEqual(heading.group(1), "bad")
            self.assertNotIn('class="js copy" data-copy="apply-', page)
        best = re.search(r'<tr[^>]*class="?best"?[^>]*><th[^>]*>([^<\n]*)', page)
        self.assertEqual(best is not None, heading.group(1) == "good")
        if best:
            self.assertTrue(stands[html.unescape(best.group(1))])
        for variant in variants:
            rows = [row for row in re.split(r"<tr|</tbody>", page)
                    if f">{html.escape(variant['name'])}\n" in row
                    and ("✓ ok" in row or "✗ " in row)]
            self.assertTrue(rows, variant["name"])
            for row in rows:
                self.assertEqual("✓ ok" in row, variant["verdict"]["stands"], row)

    def check_junit(self, text, variants):
        suites = {s.get("name"): s for s in ElementTree.fromstring(text).iter("testsuite")}
        for variant in variants:
            failures = [f.get("message") for f in suites[variant["name"]].iter("failure")]
            self.assertEqual(not failures, variant["verdict"]["stands"], variant["name"])
            for reason in variant["verdict"]["reasons"]:
                if reason["cause"] in LOST:
                    self.assertTrue(any(reason["text"] in f for f in failures), reason["text"])

    def check_text(self, text, variants, sign):
        """What is said of a variant that does not stand, and of no other."""
        for variant in variants:
            verdict = variant["verdict"]
            said = f"{sign} {variant['name']}: "
            self.assertEqual(said in text, not verdict["stands"], text)
            words = "text" if f"{said}{one_line(self.full(verdict))}" in text else "brief"
            between = "; " if words == "text" else ", "
            if not verdict["stands"]:
                self.assertIn(said + between.join(r[words] for r in verdict["reasons"]), text)
            if not verdict["stands"] and any(r["cause"] in LOST for r in verdict["reasons"]):
                self.assertNotRegex(text, rf"(?m)^\W*{re.escape(variant['name'])} .* met\b")

    @staticmethod
    def full(verdict):
        return "; ".join(reason["text"] for reason in verdict["reasons"])

    def test_every_rendering_gives_the_one_verdict(self):
        for name in CASES:
            with self.subTest(name):
                file, flags, causes = self.simulate(name)
                code = expected_exit(causes)
                document = self.output(code, "run", "-f", file, *flags, "-o", "json", "--junit",
                                       str(self.folder / "junit.xml"))
                variants = json.loads(document)["variants"]
                found = [{r["cause"] for r in v["verdict"]["reasons"]} for v in variants]
                self.assertEqual(found, causes)
                for variant, reasons in zip(variants, found):
                    self.assertEqual(variant["verdict"]["stands"], not reasons)
                self.check_junit((self.folder / "junit.xml").read_text("utf-8"), variants)
                table = self.output(code, "run", "-f", file, *flags)
                self.check_text(one_line(table), variants, "✗" if "✗" in table else "X")
                markdown = self.output(code, "run", "-f", file, *flags, "-o", "md")
                self.check_text(one_line(html.unescape(markdown)).replace("\\", ""), variants, "✗")
                for row in csv.DictReader(self.output(code, "run", "-f", file, *flags, "-o",
                                                      "csv").splitlines()):
                    verdict = next(v["verdict"] for v in variants if v["name"] == row["variant"])
                    self.assertEqual(row["stands"], json.dumps(verdict["stands"]))
                    self.assertEqual(row["reasons"],
                                     "; ".join(r["brief"] for r in verdict["reasons"]))
                page = self.output(expected_exit([reasons & LOST for reasons in found]), "report", file, *flags)
                self.check_page(page, variants)

    def test_a_difference_names_both_verdicts(self):
        documents = []
        for name in ("six replicas on four GPUs, allowed", "six replicas on four GPUs"):
            file, flags, _ = self.simulate(name)
            documents.append(str(self.folder / f"{len(documents)}.json"))
            run("run", "-f", file, *flags, "-o", "json", "--out", documents[-1])
        self.assertRegex(self.output(SUCCESS, "diff", *documents), r"verdict +stands +2 Pending")
        comment = self.output(MISSED, "diff", *documents, "--fail-on", "verdict", "-o", "md")
        self.assertIn("✗ base no longer stands: 2 Pending", comment.splitlines()[0])
        self.assertIn("- ✗ --fail-on verdict: base no longer stands", comment)
        comment = self.output(SUCCESS, "diff", *documents[::-1], "--fail-on", "verdict", "-o", "md")
        self.assertIn("✓ base stands now", comment.splitlines()[0])

    def test_an_explanation_of_a_result_gives_its_verdict(self):
        file, flags, _ = self.simulate("... and its objective missed")
        document = str(self.folder / "result.json")
        run("run", "-f", file, *flags, "-o", "json", "--out", document)
        text = one_line(self.output(SUCCESS, "explain", document))
        variant = json.loads(pathlib.Path(document).read_text("utf-8"))["variants"][0]
        for reason in variant["verdict"]["reasons"]:
            self.assertIn(f"{reason['text']}", text)
        missed = next(f for f in variant["findings"] if f["code"] == "OBJECTIVE_MISSED")
        self.assertEqual(missed["workloads"], ["chat"])
        self.assertIn("OBJECTIVE_MISSED: ",
                      one_line(self.output(SUCCESS, "explain", document + "#chat")))

    def test_a_comparison_recommends_nothing_that_loses_pods(self):
        file, flags, _ = self.simulate("six replicas on four GPUs")
        compare = ("compare", "-f", file, "--instances", "g4dn.xlarge", "--nodes", "4")
        document = json.loads(self.output(SUCCESS, *compare, *flags, "-o", "json"))
        for option in document["options"]:
            stands = option["verdict"]["stands"]
            self.assertEqual(option["losesPods"], not stands, option["title"])
            self.assertTrue(stands or not option["best"])
        exclusive = next(o for o in document["options"] if o["strategy"] == "exclusive")
        self.assertEqual(exclusive["verdict"]["reasons"][0]["brief"], "2 Pending")

    def check_plan_table(self, text, document):
        """The row of each option, and of the scenario's own pools."""
        good, bad = ("✓", "✗") if re.search("[✓✗]", text) else ("ok", "X")
        today = [line for line in text.splitlines() if "the scenario's own pools" in line
                 and (f" {good} ok" in line or f" {bad} " in line)]
        self.assertEqual(len(today), 1, text)
        verdict = document["today"]
        self.assertEqual(f" {good} ok" in today[0], verdict["stands"], today[0])
        if not verdict["stands"]:
            self.assertIn(f"{bad} {verdict['reasons'][0]['brief']}", today[0])
        options = [line for line in text.splitlines() if line not in today
                   and re.search(rf"^(\| )?[\d+] x .* {good} ok", line)]
        self.assertGreaterEqual(len(options), len(document["options"]), text)
        self.assertEqual("Nothing that was tried stands" in one_line(text),
                         not document["options"], text)

    def test_a_plan_judges_as_run_does_and_ranks_only_what_stands(self):
        for name, (text, _, _) in CASES.items():
            if "\n" not in text:
                continue
            with self.subTest(name):
                file, flags, causes = self.simulate(name)
                # What the first has simulated the others read.
                plan = ("plan", "-f", file, "--instances", "g4dn.xlarge", "--no-risk", "--no-flips",
                        "--journal", str(self.folder / f"{name}.journal"), *flags)
                stored = str(self.folder / "plan.json")
                code = run(*plan, "-o", "json", "--out", stored, cwd=ROOT).returncode
                document = json.loads(pathlib.Path(stored).read_text("utf-8"))
                options, today = document["options"], document["today"]
                self.assertTrue(all(option["stands"] for option in options))
                # More runs decide it: pools that are an option have as many as that.
                decided = {"objectiveUndecided"} if today["replications"] > 2 else set()
                self.assertEqual(today["stands"], not causes[0] - decided)
                self.assertEqual({r["cause"] for r in today.get("reasons", [])}, causes[0] - decided)
                tried = any(r["stage"] == "simulation" for r in document["rejected"])
                self.assertEqual(code, SUCCESS if options else
                                 expected_exit(causes) if tried else INFEASIBLE)
                for output in ("wide", "md"):
                    self.check_plan_table(self.output(code, *plan, "-o", output), document)
                rows = csv.DictReader(self.output(code, *plan, "-o", "csv").splitlines())
                self.assertTrue(all((r["stands"], r["reasons"]) == ("true", "") for r in rows))
                junit = ElementTree.fromstring(self.output(code, *plan, "-o", "junit"))
                self.assertEqual(not list(junit.iter("failure")), bool(options))
                explained = self.output(SUCCESS, "explain", stored)
                self.assertEqual("No configuration that was tried stands." in explained,
                                 not options)

    def test_the_highest_load_judges_as_run_does(self):
        for name, (text, _, causes) in CASES.items():
            if "slo:" not in text:
                continue
            with self.subTest(name):
                file, flags, _ = self.simulate(name)
                found = causes[0] - {"objectiveUndecided"}  # more runs decide it
                load = ("max-load", "-f", file, *flags)
                code = expected_exit([found])
                document = json.loads(self.output(code, *load, "-o", "json"))
                self.assertEqual({r["cause"] for r in document["verdict"]["reasons"]}, found)
                found -= {"policyDenies"}  # what denies the scenario as it is limits no load
                own = document["probes"][0]
                self.assertEqual(own["verdict"], "fails" if found else "passes")
                self.assertEqual({r["cause"] for r in own.get("lostPods", [])}, found & LOST)
                self.assertEqual({o["verdict"] for o in own["objectives"]},
                                 {"fails" if "objectiveMissed" in found else "passes"})
                self.assertEqual(document.get("passedFactor", 0) >= 1, not found)
                table = one_line(self.output(code, *load))
                markdown = self.output(code, *load, "-o", "md").replace("\\", "")
                probe = next(line for line in markdown.splitlines() if line.startswith("| 1 |"))
                self.assertIn(f"| {own['verdict']} |", probe)
                for rendering in (table, one_line(markdown)):
                    self.assertEqual("Not even " in rendering, bool(found))
                for reason in own.get("lostPods", [])[:1]:
                    self.assertIn(reason["text"], probe)
                row = next(csv.DictReader(self.output(code, *load, "-o", "csv").splitlines()))
                self.assertEqual(row["passedLoad"] == "", bool(found))

    def test_a_policy_that_holds_as_it_is_limits_the_load(self):
        file = str(self.folder / "busy.yaml")
        slo = "slo: {latencyP99: 5s}"
        for name, policy, code, objectives in (("ceiling", "gpu.busy <= 60%", SUCCESS, slo),
                                               ("floor", "gpu.busy >= 60%", MISSED, slo),
                                               ("no objective", "gpu.busy <= 60%", SUCCESS, "")):
            text = service(1, objectives,
                           policies=f"policies: [{{name: spare, assert: {policy}, severity: Deny}}]")
            pathlib.Path(file).write_text(text.replace("mean: 20/s", "mean: 15/s"), encoding="utf-8")
            load = ("max-load", "-f", file, "--precision", "10%")
            table = one_line(self.output(code, *load))
            document = json.loads(self.output(code, *load, "-o", "json"))
            failed = next(one for one in document["probes"] if one["factor"] == document["failedFactor"])
            denied = f'policy "spare" denies it: {policy} does not hold'
            if name == "floor":
                self.assertIn(f"Already at the scenario's own load {denied}.", table)
                self.assertNotIn("lostPods", failed)
                continue
            self.assertIn("does; a policy denies by their mean", table)
            self.assertIn("a policy denies it. What gives way first: " + denied, table)
            self.assertEqual([reason["cause"] for reason in failed["lostPods"]], ["policyDenies"])
            for factor, exit_code in (("passedFactor", SUCCESS), ("failedFactor", MISSED)):
                self.output(exit_code, "run", "-f", file, "--set",
                            f"workloads.chat.traffic.mean={15 * document[factor]}/s")

    def test_a_study_around_a_scenario_that_loses_pods_says_so(self):
        both = scenario(
            SERVICE.replace("COUNT", "4").replace("RESIDENT", "1Gi").replace("EXTRA", "")
            + JOBS.replace("COUNT", "1").replace("RESIDENT", "1Gi"), duration="5m")
        file = str(self.folder / "both.yaml")
        pathlib.Path(file).write_text(both, encoding="utf-8")
        vary = ("sensitivity", "-f", file, "--vary", "traffic", "--break-evens", "0")
        for verb in (("neighbours", "-f", file), vary):
            with self.subTest(verb[0]):
                document = json.loads(self.output(PODS_LOST, *verb, "-o", "json"))
                self.assertIn("podsPending", {r["cause"] for r in document["verdict"]["reasons"]})
                for reason in document["verdict"]["reasons"]:
                    self.assertIn(reason["text"], one_line(self.output(PODS_LOST, *verb)))
                    self.assertIn(reason["brief"].split()[0],
                                  self.output(PODS_LOST, *verb, "-o", "md"))
                document = json.loads(self.output(SUCCESS, *verb, "--allow-pending", "-o", "json"))
                self.assertTrue(document["verdict"]["stands"])


if __name__ == "__main__":
    unittest.main()
