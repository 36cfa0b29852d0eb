"""slicewise plan: formats, the stored plan, the journal."""

import csv
import functools
import io
import json
import os
import pathlib
import shutil
import tempfile
import unittest

import yaml

from program import ROOT, check_schema, run, thorough

SHARED = "scenarios/examples/shared-inference.yaml"
FAST = ("plan", "-f", SHARED, "--variant", "shared", "--instances", "g4dn.xlarge,g6.xlarge",
        "--set", "duration=2m", "--replications", "2")
TRACE = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: cur}
spec:
  replications: 1
  nodePools:
  - {name: p3, instanceType: g4dn.xlarge, nodes: 2}
  workloads:
  - name: team
    kind: TraceJobs
    trace: {file: jobs.trace}
    podTemplate: {resources: {requests: {cpu: 100m, memory: 1Gi}}}
    gpuMemory: {resident: 2Gi}
    measured: {gpuBusy: 40%, smActive: 30%, provenance: Assumed}
    slo: {waitP95: 30m}
"""
WITH_RISK = (*FAST, "--no-headroom", "--no-flips")
QUICK = (*WITH_RISK, "--no-risk")


@functools.cache
def stored_plan():
    return run(*QUICK, "-o", "json").stdout


class Plan(unittest.TestCase):
    @thorough
    def test_all_formats_say_the_same(self):
        document = json.loads(run(*FAST, "-o", "json").stdout)
        check_schema(self, "plan", document)
        self.assertEqual(yaml.safe_load(run(*FAST, "-o", "yaml").stdout), document)
        rows = list(csv.DictReader(io.StringIO(run(*FAST, "-o", "csv").stdout)))
        self.assertGreaterEqual(len(rows), len(document["options"]))
        text = run(*FAST, env={"LC_ALL": "C.UTF-8"}).stdout
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)
        self.assertIn("Recommended: #1", text)

    @thorough
    def test_the_fee_for_the_cluster_is_said_beside_the_options(self):
        """The bill of a run has it, and a plan did not name it: $0.10 an hour, 730 of them."""
        for plane, fee in (("standard", 73.0), ("extended", 438.0), ("none", 0)):
            flags = (*QUICK, "--set", f"controlPlane={plane}")
            self.assertEqual(json.loads(run(*flags, "-o", "json").stdout).get("controlPlaneMonthlyUsd"), fee)
            said = f"EKS's control plane is ${fee:.2f} a month beside the nodes"
            self.assertEqual(said in run(*flags).stdout.replace("\n  ", " "), fee > 0, plane)

    def test_the_best_option_is_what_run_finds(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan.json")
            pathlib.Path(plan).write_text(stored_plan(), encoding="utf-8")
            best = json.loads(stored_plan())["options"][0]
            pool = best["pools"][0]
            exported = run("export", "-f", plan, "--to", "helm-values")
            self.assertEqual(exported.returncode, 0, exported.stderr)
            self.assertIn(f"replicas: {pool['replicas']}", exported.stdout)
            beyond = run("export", "-f", plan, "--to", "helm-values", "--candidate", "99")
            self.assertEqual(beyond.returncode, 3)

    @thorough
    def test_what_only_the_dra_driver_sets_up_is_planned_and_exported_for_it(self):
        small = (*QUICK, "--no-split", "--replicas", "2", "--max-nodes", "2")
        for flags, strategy, refusal in (
                (("--strategies", "mpsUncapped"), "mpsUncapped", "no setting for the active thread percentage"),
                (("--strategies", "mig+mps", "--instances", "p4d.24xlarge"), "mig+mps", "refuses MPS on MIG"),
                (("--strategies", "timeSlicing"), "timeSlicing", None)):
            with self.subTest(strategy), tempfile.TemporaryDirectory() as folder:
                plan = os.path.join(folder, "plan.json")
                self.assertEqual(run(*small, *flags, "-o", "json", "--out", plan).returncode, 0)
                best = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))["options"][0]
                self.assertEqual({pool["strategy"] for pool in best["pools"]}, {strategy})
                plugin, dra, auto_mode = best["routes"]
                self.assertTrue(auto_mode["refused"], "it shares no GPU and cuts none")
                self.assertEqual((plugin["by"], dra), ("devicePlugin", {"by": "dra"}))
                self.assertEqual("refused" in plugin, refusal is not None)
                self.assertIn(refusal or "", " ".join(plugin.get("refused", [])))
                self.assertEqual(run("export", plan, "--to", "dra").returncode, 0)
                kind = "gpu-operator" if "mig" in strategy else "helm-values"
                self.assertEqual(run("export", plan, "--to", kind).returncode, 3 if refusal else 0)

    @thorough
    def test_families_that_aws_retired_are_said_to_be_that(self):
        for verb in ("plan", "compare"):
            result = run(verb, "-f", SHARED, "--variant", "shared", "--instances", "p3,g6f")
            self.assertEqual(result.returncode, 3)
            self.assertRegex(result.stderr, r"all types of p3 were retired by AWS \(p3\.")
        own = run("plan", "-f", SHARED, "--variant", "shared", "--instances", "p3.2xlarge", "--no-flips", "--no-risk",
                  "--replications", "1")
        self.assertIn("INSTANCE_RETIRED: p3.2xlarge was retired by AWS on 2025-12-20: no node of it starts", own.stdout)

    def test_what_only_the_dra_driver_sets_up_is_tried_when_asked_for(self):
        tried = [json.loads(run(*QUICK, "--no-split", "--replicas", "2", "--max-nodes", "2", *flags,
                                "-o", "json").stdout)["counts"]["configurations"] for flags in ((), ("--dra",))]
        self.assertGreater(tried[1], tried[0])

    @thorough
    def test_an_option_is_a_scenario_for_every_verb(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan.json")
            self.assertEqual(run(*QUICK, "--seed", "7", "-o", "json", "--out", plan).returncode, 0)
            document = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))
            for number, planned in enumerate(document["options"][:2], 1):
                option = f"{plan}#{number}"
                result = os.path.join(folder, f"{number}.json")
                ran = run("run", option, "-o", "json", "--out", result)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                found = json.loads(pathlib.Path(result).read_text(encoding="utf-8"))
                self.assertEqual(found["metadata"]["seed"], 7)
                self.assertEqual(found["metadata"]["replications"], 2)
                variant = found["variants"][0]
                self.assertEqual(variant["cost"]["monthlyUsd"], planned["monthlyUsd"])
                self.assertEqual(variant["cost"]["per1kRequestsInSloUsd"],
                                 planned["per1kRequestsInSloUsd"])
                self.assertEqual(variant["verdict"]["stands"], True)
                # What was made from an option is made again from it.
                again = run("report", result, "-o", "csv")
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertEqual(run("report", option, "-o", "csv").stdout, again.stdout)
                self.assertEqual(run("explain", option).returncode, 0)
                self.assertIn(f"replicas: {planned['pools'][0]['replicas']}",
                              run("export", option, "--to", "helm-values").stdout)
            load = run("max-load", f"{plan}#1", "-o", "json", "--replications", "1")
            self.assertEqual(load.returncode, 0, load.stderr)

    def test_pools_that_come_and_go_are_exported_with_who_adds_nodes(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario, plan, out = (pathlib.Path(folder, name) for name in ("s.yaml", "plan.json", "out.yaml"))
            scenario.write_text(TRACE, encoding="utf-8")
            trace = pathlib.Path(folder, "jobs.trace")
            trace.write_text("arrival_s,run_s,gpus\n" + "".join(f"{at},3600,1\n" for at in range(0, 36000, 7200)),
                             encoding="utf-8")
            done = run("plan", str(scenario), "--instances", "g5.xlarge", "-o", "json", "--out", str(plan),
                       "--no-headroom", "--no-flips", "--horizon", "2", "--growth", "0%")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(json.loads(plan.read_text(encoding="utf-8"))["options"][0]["pools"][0]["autoscaled"])
            self.assertEqual(run("export", "-f", f"{plan}#1", "--to", "scenario", "--out", str(out)).returncode, 0)
            ran = run("run", "-f", str(out), "--replications", "1")
            self.assertIn(ran.returncode, (0, 4), ran.stderr)

    def test_exports_buy_as_the_plan_does(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan.json")
            self.assertEqual(run(*QUICK, "--purchase", "spot", "--instances", "g4dn.xlarge",
                                 "--top", "20", "-o", "json", "--out", plan).returncode, 0)
            document = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))
            self.assertEqual(document["metadata"]["purchaseOptions"], ["spot-fallback", "spot"])
            bought = {option["pools"][0]["purchaseOption"]: number
                      for number, option in enumerate(document["options"], 1)
                      if len(option["pools"]) == 1}
            types = {}
            for purchase, number in bought.items():
                exported = run("export", f"{plan}#{number}", "--to", "karpenter")
                self.assertEqual(exported.returncode, 0, exported.stderr)
                pools = [each for each in yaml.safe_load_all(exported.stdout)
                         if each["kind"] == "NodePool"]
                types[purchase] = [term["values"]
                                   for pool in pools
                                   for term in pool["spec"]["template"]["spec"]["requirements"]
                                   if term["key"] == "karpenter.sh/capacity-type"]
            self.assertEqual(types, {"spot": [["spot"]],
                                     "spot-fallback": [["spot", "on-demand"]]})

    def test_inputs_are_drawn_only_in_the_runs_of_risk(self):
        """--no-risk left none, and --inputs sampled said nothing."""
        refused = run("plan", "-f", SHARED, "--inputs", "sampled", "--no-risk")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("--no-risk leaves out", refused.stderr)

    def test_what_names_no_option_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan.json")
            pathlib.Path(plan).write_text(stored_plan(), encoding="utf-8")
            for code, said, arguments in (
                    (2, "comes after the #", ("run", plan + "#best")),
                    (3, "no option 99", ("run", plan + "#99")),
                    (2, "takes no --set", ("max-load", plan + "#1", "--set", "seed=1")),
                    (2, "both choose an option",
                     ("export", plan + "#1", "--candidate", "2", "--to", "helm-values")),
                    (5, "cannot read", ("run", "missing.json#1"))):
                result = run(*arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(said, result.stderr)

    def test_a_plan_of_another_scenario_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = os.path.join(folder, "scenario.yaml")
            shutil.copy(ROOT / SHARED, scenario)
            plan = os.path.join(folder, "plan.json")
            arguments = [scenario if a == SHARED else a for a in QUICK]
            self.assertEqual(run(*arguments, "-o", "json", "--out", plan).returncode, 0)
            with open(scenario, "a", encoding="utf-8") as file:
                file.write("# changed\n")
            stale = run("export", "-f", plan, "--to", "helm-values")
            self.assertEqual(stale.returncode, 3)
            self.assertIn("PLAN_STALE", stale.stderr)

    def test_policies_deny_and_exit_codes_tell(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = yaml.safe_load((ROOT / SHARED).read_text(encoding="utf-8"))
            spec["spec"]["policies"] = [{"name": "budget", "assert": "cost.monthly <= 1"}]
            scenario = os.path.join(folder, "scenario.yaml")
            with open(scenario, "w", encoding="utf-8") as file:
                yaml.safe_dump(spec, file)
            arguments = [scenario if a == SHARED else a for a in QUICK]
            denied = run(*arguments, "--instances", "g4dn.xlarge", "--max-nodes", "1", "-o", "json")
            self.assertEqual(denied.returncode, 99, denied.stderr)
            document = json.loads(denied.stdout)
            self.assertEqual(document["options"], [])
            self.assertTrue(any("budget denies it" in r["reason"] for r in document["rejected"]))

    def test_what_nothing_is_cheap_enough_for_has_a_price(self):
        found = run(*QUICK, "--max-cost", "100")
        self.assertEqual(found.returncode, 4, found.stderr)
        self.assertIn("--max-cost leave nothing to try", found.stderr)
        self.assertIn("The cheapest that stands is 1 x g4dn.xlarge", found.stdout)
        self.assertIn("$384 a month: --max-cost 384.", found.stdout)

    @thorough
    def test_months_of_growing_traffic(self):
        grows = (*QUICK, "--horizon", "12", "--growth", "10%")
        document = json.loads(run(*grows, "-o", "json").stdout)
        check_schema(self, "plan", document)
        found = document["overTime"]
        months = [month for span in found["spans"] for month in range(span["fromMonth"], span["toMonth"] + 1)]
        self.assertEqual(months, list(range(1, found.get("failsFromMonth", 13))))
        self.assertEqual(found["spans"][0]["option"]["pools"], document["options"][0]["pools"])
        paid = sum((span["toMonth"] - span["fromMonth"] + 1) * span["option"]["monthlyUsd"]
                   for span in found["spans"])
        self.assertAlmostEqual(found["byTheHourUsd"], paid, 3)
        saved = sum(each["savesUsd"] for each in found.get("commitments", []))
        self.assertAlmostEqual(found["totalUsd"], paid - saved, 3)
        text = run(*grows, env={"LC_ALL": "C.UTF-8"}).stdout
        self.assertIn("OVER TIME", text)
        with tempfile.TemporaryDirectory() as folder:
            stored = pathlib.Path(folder, "plan.json")
            stored.write_text(json.dumps(document), encoding="utf-8")
            page = run("report", str(stored), "-o", "html").stdout
        self.assertIn("months cost", page)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)

    def test_what_the_options_cost_in_other_regions(self):
        asked = ("--regions", "us-west-2,eu-central-1", "--instances", "g4dn.xlarge")
        document = json.loads(run(*QUICK, *asked, "-o", "json").stdout)
        here = document["options"][0]["monthlyUsd"]
        oregon, frankfurt = document["otherRegions"]
        self.assertEqual((oregon["region"], oregon["option"]), ("us-west-2", 1))
        self.assertAlmostEqual(oregon["monthlyUsd"], here, places=6)
        self.assertAlmostEqual(frankfurt["monthlyUsd"], here * 0.658 / 0.526, places=6)
        text = run(*QUICK, *asked).stdout
        self.assertIn("In us-west-2 the same nodes cost", text)
        self.assertRegex(text, r"In eu-central-1 the same nodes cost \$[0-9.,]+ a month \(\+25.1%\)")

    def test_mistakes(self):
        for arguments, code in ((("--instances", "g99.xlarge"), 3), (("--top", "0"), 2),
                                (("--growth", "5%"), 2), (("--horizon", "2", "--growth", "-1%"), 2), (("--horizon", "0"), 2),
                                (("--horizon", "6", "--survive", "node"), 3), (("--regions", "mars-1"), 3),
                                (("--strategies", "mpss"), 3), (("--journal", "/no/such/file"), 5)):
            refused = run(*QUICK, *arguments)
            self.assertEqual(refused.returncode, code, refused.stderr)
            self.assertEqual(refused.stdout, "")
            self.assertNotEqual(refused.stderr, "")


class Journal(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.journal = pathlib.Path(self.folder.name) / "journal"

    def test_a_run_that_was_cut_off_goes_on(self):
        whole = run(*WITH_RISK, "-o", "json", "--journal", str(self.journal))
        self.assertEqual(whole.returncode, 0, whole.stderr)
        lines = self.journal.read_bytes().splitlines(keepends=True)
        self.assertEqual(whole.stdout, run(*WITH_RISK, "-o", "json").stdout)
        # As a killed run leaves it: half the lines, the last one cut in the middle.
        half = lines[:len(lines) // 2]
        self.journal.write_bytes(b"".join(half) + lines[len(half)][:20])
        resumed = run(*WITH_RISK, "-o", "json", "--journal", str(self.journal))
        self.assertEqual(resumed.stdout, whole.stdout)
        self.assertIn(f"note: {len(half) - 1} simulations were in", resumed.stderr)
        self.assertEqual(sorted(self.journal.read_bytes().splitlines(keepends=True)), sorted(lines))

    def test_another_scenario_or_seed_is_refused(self):
        self.assertEqual(run(*QUICK, "--journal", str(self.journal)).returncode, 0)
        before = self.journal.read_bytes()
        for change in (("--seed", "7"), ("--set", "duration=3m")):
            refused = run(*QUICK, *change, "--journal", str(self.journal))
            self.assertEqual(refused.returncode, 3)
            self.assertIn("PLAN_STALE", refused.stderr)
        self.assertEqual(self.journal.read_bytes(), before)

    def test_another_catalogue_is_refused(self):
        own = pathlib.Path(self.folder.name) / "own.yaml"
        text = (ROOT / "scenarios/examples/own/catalogue.yaml").read_text(encoding="utf-8")
        own.write_text(text, encoding="utf-8")
        arguments = (*QUICK, "--catalogue", str(own), "--journal", str(self.journal))
        self.assertEqual(run(*arguments).returncode, 0)
        own.write_text(text + "# as before\n", encoding="utf-8")
        refused = run(*arguments)
        self.assertEqual((refused.returncode, refused.stdout), (3, ""))
        self.assertIn("PLAN_STALE", refused.stderr)

    def test_a_damaged_journal_is_refused_at_its_line(self):
        self.assertEqual(run(*QUICK, "--journal", str(self.journal)).returncode, 0)
        lines = self.journal.read_bytes().splitlines(keepends=True)
        lines[2] = b"nonsense\n"
        self.journal.write_bytes(b"".join(lines))
        refused = run(*QUICK, "--journal", str(self.journal))
        self.assertEqual(refused.returncode, 3)
        self.assertIn(f"{self.journal}:3:1: error[PLAN_STALE]", refused.stderr)


if __name__ == "__main__":
    unittest.main()
