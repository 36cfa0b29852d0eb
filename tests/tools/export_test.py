"""slicewise export: flags, and plans in place of scenarios."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import yaml

from program import EXAMPLE, ROOT, TIMEOUT_S, apply_bundle, environment, run

SHARED = "scenarios/examples/shared-inference.yaml"
AFTER = ("-f", EXAMPLE, "--variant", "after")


SERVICE = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: other-pods}
spec:
  duration: 2m
  warmup: 20s
  nodePools:
  - {name: g, instanceType: g5.xlarge, nodes: 6}
  workloads:
  - name: api
    kind: Service
    replicas: 6
    podTemplate:
      resources: {requests: {cpu: 700m, memory: 3Gi}, limits: {nvidia.com/gpu: 1}}
    gpuMemory: {resident: 5Gi}
    measured: {device: A10G, requestGpuTime: {p50: 20ms, p99: 40ms}, smActive: 50%}
    traffic: {shape: Poisson, mean: 40/s}
    slo: {latencyP99: 300ms}
"""
DAY = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: day}
spec:
  duration: 24h
  warmup: 5m
  replications: 2
  nodePools: [{name: gpus, instanceType: g4dn.xlarge, nodes: 4}]
  workloads:
  - name: api
    kind: Service
    replicas: 4
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    gpuMemory: {resident: 9Gi}
    measured: {requestGpuTime: {mean: 500ms}, provenance: Assumed}
    traffic: {shape: Diurnal, mean: 80/m, peak: 4/s, peakAt: "14:00", utcOffset: "+01:00"}
    slo: {latencyP99: 10s}
"""
APART = SERVICE.replace("replicas: 6", "replicas: 3").replace("mean: 40/s", "mean: 20/s") + """\
  - name: train
    kind: Job
    count: 2
    podTemplate:
      resources: {requests: {cpu: 1500m, memory: 6Gi}, limits: {nvidia.com/gpu: 1}}
    gpuMemory: {resident: 8Gi}
    work: {units: 2}
    measured: {device: A10G, unitTime: 15s, gpuBusy: 60%, smActive: 50%}
    slo: {completionP95: 2m}
"""


# Devices that are made on demand beside a claim that MPS shares.
BOTH_GATES = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: gates}
spec:
  duration: 1m
  nodePools:
  - {name: a100, instanceType: p4d.24xlarge, nodes: 1, dra: true, dynamicMig: {}}
  resourceClaims:
  - {name: whole, kind: ResourceClaim, sharing: {strategy: MPS}}
  workloads:
  - name: rank
    kind: Deployment
    podTemplate: {resourceClaim: whole}
    gpuMemory: {resident: 8Gi}
    work: {units: 1}
    measured: {device: A100-SXM4-40GB, unitTime: 1s}
"""


class Outages(unittest.TestCase):
    def test_pods_of_a_plan_for_the_loss_of_a_zone_are_spread(self):
        """Karpenter started one node for all of them."""
        with tempfile.TemporaryDirectory() as folder:
            scenario, plan = (str(pathlib.Path(folder, name)) for name in ("s.yaml", "plan.json"))
            pathlib.Path(scenario).write_text(SERVICE, encoding="utf-8")
            for survive, label in (("zone", "topology.kubernetes.io/zone"), ("node", "kubernetes.io/hostname"),
                                   (None, None)):
                flags = ("--survive", survive) if survive else ()
                made = run("plan", "-f", scenario, "--set",
                           "nodePools.g.labels={topology.kubernetes.io/zone: us-east-1a}", "--instances", "g5.xlarge", "--strategies", "timeSlicing",
                           "--no-flips", "--no-risk", "--no-headroom", *flags, "-o", "json", "--out", plan)
                self.assertEqual(made.returncode, 0, made.stderr)
                nodes = run("export", "-f", plan, "--to", "karpenter")
                self.assertEqual("topology.kubernetes.io/zone" in nodes.stdout, survive != "zone")
                exported = run("export", "-f", plan, "--to", "pod-patch")
                self.assertEqual(exported.returncode, 0, exported.stderr)
                pods = yaml.safe_load(exported.stdout)["spec"]["template"]
                spread = pods["spec"].get("topologySpreadConstraints", [])
                self.assertEqual([one["topologyKey"] for one in spread], [label] if label else [])
                for one in spread:
                    self.assertLessEqual(one["labelSelector"]["matchLabels"].items(), pods["metadata"]["labels"].items())


class Flags(unittest.TestCase):
    def test_what_no_pod_can_start_with_is_written_by_force_only(self):
        args = ("export", "-f", "-", "--to", "helm-values", "--set", "workloads.api.gpuMemory.resident=30Gi")
        refused = run(*args, stdin=SERVICE)
        self.assertEqual((refused.returncode, refused.stdout), (4, ""))
        self.assertIn('no pod of "api" can ever start', refused.stderr)
        self.assertIn("--force writes it", refused.stderr)
        forced = run(*args, "--force", stdin=SERVICE)
        self.assertEqual(forced.returncode, 0, forced.stderr)
        self.assertIn("version", forced.stdout)
        # As long as one workload starts.
        self.assertEqual(run(*args, stdin=APART).returncode, 0)
        nowhere = run("export", "-f", "-", "--to", "pod-patch", "--set",
                      "workloads.api.podTemplate.nodeSelector={team: x}", stdin=SERVICE)
        self.assertEqual((nowhere.returncode, nowhere.stdout), (4, ""))
        self.assertIn("NODE_SELECTOR_UNMET", nowhere.stderr)
        in_a_zone = run("export", "-f", "-", "--to", "pod-patch", "--set",
                        "workloads.api.podTemplate.nodeSelector={topology.kubernetes.io/zone: us-east-1a}", stdin=SERVICE)
        self.assertEqual((in_a_zone.returncode, in_a_zone.stderr), (0, ""))

    def test_what_a_cluster_refuses_is_written_by_force_only(self):
        args = ("export", "-f", "-", "--to", "dra")
        refused = run(*args, stdin=BOTH_GATES)
        self.assertEqual((refused.returncode, refused.stdout), (3, ""))
        self.assertIn("error[DRA_GATES_EXCLUDE]", refused.stderr)
        self.assertEqual(run(*args, "--force", stdin=BOTH_GATES).returncode, 0)

    def test_flags_that_say_nothing_are_refused(self):
        for arguments, said in (
                (("--to", "pod-patch", "--cluster", "prod"), "--cluster says nothing"),
                (("--to", "helm-values", "--image", "bottlerocket"), "--image says nothing"),
                (("--to", "karpenter", "--chart-version", "0.17.4"), "--chart-version says"),
                (("--to", "helm-values", "--candidate", "2"), "--candidate chooses an option")):
            result = run("export", *AFTER, *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(said, result.stderr)
            self.assertEqual(result.stdout, "")

    def test_what_is_known_to_kill_pods_is_said_where_it_is_applied(self):
        """It was exported without a word: 16 of its 20 pods die."""
        greedy = ("-f", EXAMPLE, "--variant", "after-greedy")
        for kind in ("helm-values", "configmap", "pod-patch"):
            result = run("export", *greedy, "--to", kind)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("aws-cifar10.yaml:74:46: warning[GPU_MEM_GREEDY]", result.stderr)
            self.assertTrue(result.stdout.startswith('# Warning: "cifar10" maps all free GPU memory'), result.stdout)
            self.assertIsNotNone(list(yaml.safe_load_all(result.stdout)))
            of_sound = run("export", *AFTER, "--to", kind)
            self.assertEqual((of_sound.stderr, "Warning" in of_sound.stdout), ("", False))
        self.assertEqual(run("export", *greedy, "--to", "probe-job").stderr, "")  # it starts none of these pods
        with tempfile.TemporaryDirectory() as folder:
            bundle = pathlib.Path(folder, "bundle")
            self.assertEqual(run("export", *greedy, "--to", "bundle", "--out", str(bundle)).returncode, 0)
            for name in ("apply.sh", "VERIFY.md"):
                self.assertIn("Warning: \"cifar10\" maps", (bundle / name).read_text(encoding="utf-8"))

    def test_a_variable_is_for_the_kinds_that_use_it(self):
        for kind in ("pod-patch", "karpenter"):
            result = run("export", *AFTER, "--to", kind, env={"SLICEWISE_CLUSTER": "prod"})
            self.assertEqual(result.returncode, 0, result.stderr)


class Bundle(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bundle = pathlib.Path(folder.name, "bundle")
        self.assertEqual(run("export", *AFTER, "--to", "bundle", "--out", str(self.bundle)).returncode, 0)

    def refused(self, said):
        result = apply_bundle(self.bundle)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn(said, result.stderr)
        return result.stderr

    def test_it_is_applied_as_a_whole_only(self):
        whole = apply_bundle(self.bundle)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertIn("helm upgrade -i nvdp", whole.stdout)
        listed = {line[66:] for line in (self.bundle / "SHA256SUMS").read_text().splitlines()}
        files = {str(file.relative_to(self.bundle)) for file in self.bundle.rglob("*") if file.is_file()}
        self.assertEqual(listed, files - {"SHA256SUMS", "labels-before.txt", "release-before.txt", "patched.txt"})
        values = self.bundle / "nvdp-values.yaml"
        text = values.read_text(encoding="utf-8")
        values.unlink()
        self.refused("nvdp-values.yaml")
        values.write_text(text + "# mine", encoding="utf-8")
        said = self.refused("nvdp-values.yaml")
        # The command that it names takes the change in.
        renew = next(line for line in said.splitlines() if line.startswith("  sha256sum"))
        self.assertEqual(os.system(f"cd {self.bundle} && {renew}"), 0)
        self.assertEqual(apply_bundle(self.bundle).returncode, 0)

    def test_a_list_that_is_cut_off_or_missing_is_said(self):
        sums = self.bundle / "SHA256SUMS"
        lines = sums.read_text(encoding="utf-8").splitlines(keepends=True)
        for cut in ("", "".join(lines[:-1]), "".join(lines)[:-3]):
            sums.write_text(cut, encoding="utf-8")
            self.refused("this bundle is incomplete")
        sums.unlink()
        self.refused("this bundle is incomplete")


KUBECTL = '''#!/usr/bin/env python3
"""Nodes with their labels, in nodes.json beside it; of other calls it knows nothing."""
import json, pathlib, re, sys
file, words = pathlib.Path(__file__).with_name("nodes.json"), sys.argv[1:]
nodes = json.loads(file.read_text())
def has(labels, term):
    if among := re.fullmatch(r"(.+) notin \\((.*)\\)", term):
        return labels.get(among[1]) not in among[2].split(",")
    key, unequal, value = term.partition("!=")
    if unequal:
        return labels.get(key) != value
    if term.startswith("!"):
        return term[1:] not in labels
    key, equal, value = term.partition("=")
    return labels.get(key) == value if equal else key in labels
def selected():
    terms = re.split(r",(?![^(]*\\))", words[words.index("-l") + 1])
    return [name for name, labels in nodes.items() if all(has(labels, term) for term in terms)]
if words[:2] == ["get", "nodes"]:
    for name in selected():
        label = words[-1].split("VALUE:.metadata.labels.")[-1].replace("\\\\.", ".")
        print("node/" + name if words[-1] == "name" else name + "  " + nodes[name].get(label, "<none>"))
elif words[0] == "label":
    if words[1].startswith("node/"):
        words[1:2] = ["node", words[1][5:]]
    names = selected() if words[2] == "-l" else [words[2]]
    for name in names:
        if name not in nodes:
            sys.exit("Error from server (NotFound)")
        for word in words[4 if words[2] == "-l" else 3:]:
            key, sign, value = word.partition("=")
            if sign:
                nodes[name][key] = value
            elif word != "--overwrite":
                nodes[name].pop(word.removesuffix("-"), None)
    file.write_text(json.dumps(nodes))
'''


class Labels(unittest.TestCase):
    """rollback.sh, beside nodes that have labels of somebody else's."""
    OURS = "nvidia.com/device-plugin.config"
    GROUP = {"eks.amazonaws.com/nodegroup": "gpu", "node.kubernetes.io/instance-type": "p3.8xlarge"}

    def test_nodes_have_again_what_they_had(self):
        """It took the config away: the nodes fell back to the default of the release before."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        tools, bundle = pathlib.Path(folder.name), pathlib.Path(folder.name, "bundle")
        self.assertEqual(run("export", *AFTER, "--to", "bundle", "--out", str(bundle)).returncode, 0)
        (tools / "kubectl").write_text(KUBECTL, encoding="utf-8")
        (tools / "helm").write_text("#!/bin/sh\necho '{\"revision\": 1} --reset-then-reuse-values'\n", encoding="utf-8")
        for tool in ("kubectl", "helm"):
            (tools / tool).chmod(0o755)

        def nodes(changed=None):
            if changed is not None:
                (tools / "nodes.json").write_text(json.dumps(changed), encoding="utf-8")
            return json.loads((tools / "nodes.json").read_text(encoding="utf-8"))

        def script(name, code=0):
            done = subprocess.run(["bash", str(bundle / name)], capture_output=True, text=True, check=False,
                                  timeout=TIMEOUT_S, env=environment(PATH=f"{tools}:{os.environ['PATH']}"))
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        before = nodes({"ip-1": {**self.GROUP, self.OURS: "four", "nvidia.com/gpu.present": "true"},
                        "ip-11": dict(self.GROUP), "ip-2": {self.OURS: "", **self.GROUP}, "gone": dict(self.GROUP),
                        "of-another-group": {"eks.amazonaws.com/nodegroup": "t4"}})
        for _ in range(2):  # what the first one did is not taken for what there was
            script("apply.sh")
        after = nodes()
        config = after["ip-1"][self.OURS]
        self.assertEqual([after[name].get(self.OURS) for name in before], [config] * 4 + [None])
        # Nodes come and go.
        nodes({**{name: labels for name, labels in after.items() if name != "gone"}, "ip-3": after["ip-1"]})
        told = script("rollback.sh")
        del before["gone"]
        self.assertEqual(nodes(), {**before, "ip-3": {**self.GROUP, "nvidia.com/gpu.present": "true"}})
        self.assertIn("skipped: nvidia.com/device-plugin.config- of gone", told)
        self.assertIn("was taken back: nothing is done", script("rollback.sh", code=1))
        self.assertEqual(nodes()["ip-1"], before["ip-1"])


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        shutil.copy(ROOT / SHARED, os.path.join(cls.folder, "shared.yaml"))
        cls.plan = os.path.join(cls.folder, "plan.json")
        result = run("plan", "-f", "shared.yaml", "--variant", "shared", "--instances",
                     "g4dn.xlarge", "--strategies", "timeSlicing,exclusive", "--set",
                     "duration=2m", "--no-flips", "--no-headroom", "-o", "json", "--out",
                     cls.plan, cwd=cls.folder)
        assert result.returncode == 0, result.stderr

    def test_the_scenario_is_looked_for_beside_the_plan(self):
        for arguments, stdin in ((("-f", self.plan), ""), (("-f", "plan.json"), "")):
            result = run("export", *arguments, "--to", "karpenter", stdin=stdin,
                         cwd=self.folder if arguments[1] == "plan.json" else ROOT)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("kind: NodePool", result.stdout)

    def test_a_plan_may_come_from_standard_input(self):
        with open(self.plan, encoding="utf-8") as file:
            text = file.read()
        result = run("export", "-f", "-", "--to", "pod-patch", stdin=text, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = run("export", "-f", "-", "--to", "pod-patch", stdin=text)
        self.assertEqual(result.returncode, 5, result.stderr)

    def test_what_does_not_fit_a_plan_is_refused(self):
        for code, said, arguments in ((2, "takes no --set", ("--set", "seed=1")),
                                      (3, "no option 99", ("--candidate", "99"))):
            result = run("export", "-f", self.plan, "--to", "pod-patch", *arguments)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(said, result.stderr)

    def test_an_edited_plan_is_said_with_its_places(self):
        with open(self.plan, encoding="utf-8") as file:
            plan = json.load(file)
        plan["options"][0]["pools"][0]["replicas"] = 0
        edited = os.path.join(self.folder, "edited.json")
        with open(edited, "w", encoding="utf-8") as file:
            json.dump(plan, file, indent=1)
        result = run("export", "-f", edited, "--to", "helm-values")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertRegex(result.stderr, r"edited\.json:\d+:\d+: error\[VALUE_RANGE\]: replicas")

    def test_an_option_is_a_scenario(self):
        """Which gives the figures of the option, and no other."""
        for option in ("#1", "#2"):
            self.expect_same_run(self.plan + option, "-f", self.plan + option)

    def test_an_option_with_other_pods_batches_or_nodes_is_one_too(self):
        cases = (("pods", SERVICE, ("--vary-pods", "3")),
                 ("batches", SERVICE.replace("mean: 40/s", "mean: 130/s"),
                  ("--max-batch", "4", "--max-delay", "5ms")),
                 ("apart", APART, ()))
        for name, scenario, flags in cases:
            with self.subTest(name):
                file, plan = (os.path.join(self.folder, f"{name}.{end}") for end in ("yaml", "json"))
                pathlib.Path(file).write_text(scenario, encoding="utf-8")
                planned = run("plan", "-f", file, *flags, "--instances", "g5.xlarge,g4dn.xlarge", "-o",
                              "json", "--no-flips", "--no-headroom", "--no-risk", "--out", plan)
                self.assertEqual(planned.returncode, 0, planned.stderr)
                best = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))["options"][0]
                self.assertIn({"pods": "pods", "batches": "serving", "apart": "apart"}[name],
                              best["pools"][0])
                self.expect_same_run(plan + "#1", "-f", plan + "#1")
                # With the replications that decided it stands as the plan says.
                self.assertEqual(run("run", "-f", plan + "#1").returncode, 0)

    def test_what_stands_after_a_step_of_a_path_is_one_too(self):
        """Only its end could be put in place."""
        scenario, plan = (os.path.join(self.folder, name) for name in ("from.yaml", "path.json"))
        pathlib.Path(scenario).write_text(SERVICE, encoding="utf-8")
        made = run("plan", "-f", scenario, "--max-changes", "1", "--instances", "g5.xlarge,g4dn.xlarge",
                   "--no-flips", "--no-headroom", "--no-risk", "-o", "json", "--out", plan)
        self.assertEqual(made.returncode, 0, made.stderr)
        path = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))["path"]
        self.assertEqual(len(path["steps"]), 1)
        self.assertTrue(path["cheapest"])
        self.expect_same_run(plan + "#step1", "-f", plan + "#step1")
        result = json.loads(run("run", plan + "#step1", "-o", "json").stdout)
        self.assertEqual(result["variants"][0]["cost"]["monthlyUsd"], path["steps"][0]["monthlyUsd"])
        folder = os.path.join(self.folder, "step-1")
        result = run("export", plan + "#step1", "--to", "bundle", "--out", folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("apply.sh", "rollback.sh", "VERIFY.md"):
            text = pathlib.Path(folder, name).read_text(encoding="utf-8").replace("\n# ", " ")
            self.assertRegex(text, r"It is what stands after step 1 of 1 of \S+path\.json")
            self.assertNotRegex(text, "which (runs every pod|meets every objective)")
        self.assertRegex(run("export", plan + "#step1", "--to", "scenario").stdout,
                         r"from \S+path\.json#step1\n")
        # From there nothing more is to be done.
        again = run("plan", "-f", scenario, "--from", plan + "#step1", "--instances",
                    "g5.xlarge,g4dn.xlarge", "--no-flips", "--no-headroom", "--no-risk", "-o", "json")
        self.assertEqual(json.loads(again.stdout)["path"]["steps"], [])
        for part in ("step2", "step0"):
            self.assertNotEqual(run("run", f"{plan}#{part}").returncode, 0, part)
        for part in ("stepx", "0"):
            for verb in (["run", f"{plan}#{part}"], ["plan", "-f", scenario, "--from", f"{plan}#{part}"]):
                refused = run(*verb)
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertIn(f'comes after the #, from 1 on: not "{part}"', refused.stderr)

    def test_the_first_option_scaled_down_at_night_is_one_too(self):
        scenario, plan = (os.path.join(self.folder, name) for name in ("day.yaml", "day.json"))
        pathlib.Path(scenario).write_text(DAY, encoding="utf-8")
        made = run("plan", "-f", scenario, "--instances", "g4dn.xlarge", "--no-headroom", "--no-risk",
                   "-o", "json", "--out", plan)
        self.assertEqual(made.returncode, 0, made.stderr)
        planned = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))
        scheduled = planned["withSchedule"]
        self.assertLess(scheduled["monthlyUsd"], planned["options"][0]["monthlyUsd"])
        schedule = scheduled["pools"][0]["schedules"][0]
        self.expect_same_run(plan + "#schedule", "-f", plan + "#schedule")
        result = json.loads(run("run", plan + "#schedule", "-o", "json").stdout)
        self.assertEqual(result["variants"][0]["cost"]["monthlyUsd"], scheduled["monthlyUsd"])
        keda = run("export", plan + "#schedule", "--to", "keda").stdout
        self.assertIn("type: cron", keda)
        for line in (f'start: "{schedule["start"]}"', f'end: "{schedule["end"]}"',
                     f'desiredReplicas: "{schedule["replicas"]}"', "timezone: Etc/GMT-1",
                     f'minReplicaCount: {schedule["otherwise"]}'):
            self.assertIn(line, keda)
        schedule["start"] = "0 25 * * *"
        pathlib.Path(plan).write_text(json.dumps(planned), encoding="utf-8")
        refused = run("run", plan + "#schedule")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn('"api" has no window of pods that could be kept', refused.stderr)
        # Without a night there is no such part.
        refused = run("run", self.plan + "#schedule")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("the plan has no schedule that saves", refused.stderr)

    def test_an_option_of_a_run_of_minutes_stands_where_it_was_judged(self):
        scenario, plan = (os.path.join(self.folder, name) for name in ("minutes.yaml", "minutes.json"))
        pathlib.Path(scenario).write_text(DAY.replace("24h", "20m"), encoding="utf-8")
        made = run("plan", "-f", scenario, "--instances", "g4dn.xlarge", "--no-headroom", "--no-risk",
                   "-o", "json", "--out", plan)
        self.assertEqual(made.returncode, 0, made.stderr)
        planned = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))
        self.assertEqual(planned["metadata"]["startsAt"], "Mon 12:45")
        self.assertIn("STARTS_AT_PEAK", [note["code"] for note in planned["notes"]])
        seen = json.loads(run("run", plan + "#1", "-o", "json").stdout)["variants"][0]
        best = planned["options"][0]
        self.assertEqual(seen["workloads"][0]["objectives"][0]["value"], best["objectives"][0]["value"])
        self.assertEqual(seen["cost"]["monthlyUsd"], best["monthlyUsd"])
        self.expect_same_run(plan + "#1", "-f", plan + "#1")
        self.assertIn('startsAt: "Mon 12:45"', run("export", plan + "#1", "--to", "scenario").stdout)
        # The night is looked at over a whole day.
        for part, key in (("#schedule", "withSchedule"), ("#load", "withAutoscaling")):
            self.expect_same_run(plan + part, "-f", plan + part)
            night = json.loads(run("run", plan + part, "-o", "json").stdout)["variants"][0]
            self.assertEqual(night["cost"]["monthlyUsd"], planned[key]["monthlyUsd"], part)
        # A startsAt that is named is kept.
        named = run("plan", "-f", scenario, "--set", "startsAt=Mon 00:00", "--instances", "g4dn.xlarge",
                    "--no-headroom", "--no-risk", "--no-flips", "-o", "json")
        named = json.loads(named.stdout)
        self.assertNotIn("startsAt", named["metadata"])
        self.assertIn("PEAK_NOT_IN_RUN", [note["code"] for note in named["notes"]])

    def test_a_bundle_says_which_option_it_is_and_what_the_plan_found(self):
        folder = os.path.join(self.folder, "of-two")
        result = run("export", self.plan + "#2", "--to", "bundle", "--out", folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("apply.sh", "rollback.sh", "VERIFY.md"):
            text = pathlib.Path(folder, name).read_text(encoding="utf-8").replace("\n# ", " ")
            self.assertRegex(text, r"It is option 2 of \S+plan\.json, which meets every objective "
                                   r"for \$\d+\.\d\d a month\.")

    ONCE = ("--replications", "1", "--progress", "none", "-o", "json")

    def expect_same_run(self, ran, *exported, cwd=ROOT):
        here = ("--variant", exported[3]) if len(exported) > 2 else ()
        self.expect_run(json.loads(run("run", "-f", ran, *here, *self.ONCE, cwd=cwd).stdout)["variants"][0],
                        *exported, cwd=cwd)

    def expect_run(self, whole, *exported, cwd=ROOT):
        file = os.path.join(self.folder, "one.yaml")
        result = run("export", *exported, "--to", "scenario", "--out", file, cwd=cwd)
        self.assertEqual(result.returncode, 0, result.stderr)
        alone = run("run", "-f", file, *self.ONCE)
        self.assertTrue(alone.stdout, alone.stderr)
        alone = json.loads(alone.stdout)["variants"][0]
        for named in (whole, alone):
            del named["name"]
            named.pop("description", None)
            named.pop("findings", None)  # which say where they stand
        self.assertEqual(alone, whole)

    def test_every_variant_of_the_examples_is_a_scenario(self):
        for example in sorted((ROOT / "scenarios/examples").glob("*.yaml")):
            text = example.read_text(encoding="utf-8")
            if "kind: Scenario" not in text or "trace:" in text:
                continue  # a trace is named by where it is from the file
            for variant in json.loads(run("run", "-f", str(example), *self.ONCE).stdout)["variants"]:
                with self.subTest(example=example.name, variant=variant["name"]):
                    self.expect_run(variant, "-f", str(example), "--variant", variant["name"])


if __name__ == "__main__":
    unittest.main()
