"""slicewise check: what a cluster will do with files."""

import json
import pathlib
import tempfile
import unittest

from program import ROOT, run

CLUSTER = "scenarios/examples/cluster"
ONE_REPLICA = ("version: v1\nsharing: {timeSlicing: {failRequestsGreaterThanOne: true, "
               "resources: [{name: nvidia.com/gpu, replicas: 1}]}}\n")
UNCERTAIN = "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n"


class Check(unittest.TestCase):
    def test_the_shipped_cluster_is_right(self):
        result = run("check", "-f", CLUSTER, "--strict")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("no errors, 0 warnings, 1 note in 3 files", result.stdout)

    def test_exit_codes(self):
        for text, flags, code in ((ONE_REPLICA, (), 3), (UNCERTAIN, (), 0),
                                  (UNCERTAIN, ("--strict",), 3)):
            with self.subTest(text=text, flags=flags):
                self.assertEqual(run("check", "-f", "-", *flags, stdin=text).returncode, code)
        self.assertEqual(run("check", "-f", "no-such-file.yaml").returncode, 5)
        self.assertEqual(run("check").returncode, 2)
        nothing = run("check", "/dev/null")
        self.assertEqual(nothing.returncode, 0)
        self.assertIn("nothing there that is judged", nothing.stdout)
        self.assertEqual(run("check", "-f", CLUSTER, "--plugin-version", "new").returncode, 2)

    def test_a_queue_that_nobody_knows_is_told(self):
        text = ("apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: q}\nspec:\n"
                "  nodePools: [{name: gpu, instanceType: g5.xlarge}]\n"
                "  resourceFlavors: [{name: all}]\n"
                "  clusterQueues:\n  - name: research\n    resourceGroups:\n"
                "    - coveredResources: [nvidia.com/gpu]\n      flavors:\n"
                "      - {name: all, resources: [{name: nvidia.com/gpu, nominalQuota: 1}]}\n"
                "  workloads:\n  - {name: w, kind: Job, queue: reserch, "
                "profile: cifar-10-resnet-training-tf-keras/a100-40gb/b128}\n")
        for verb in ("check", "run"):
            result = run(verb, "-f", "-", stdin=text)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("QUEUE_UNKNOWN", result.stdout + result.stderr)
            self.assertIn('did you mean research?', result.stdout + result.stderr)

    def test_quotas_are_in_the_order_of_what_their_group_covers(self):
        """Kueue's webhook refuses another one."""
        queue = ("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\nspec:\n  resourceGroups:\n"
                 "  - coveredResources: [%s]\n    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 8}, "
                 "{name: nvidia.com/gpu, nominalQuota: 4}]}]\n")
        result = run("check", "-f", "-", stdin=queue % "nvidia.com/gpu, cpu")
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("in another order than coveredResources", result.stdout)
        self.assertEqual(run("check", "-f", "-", stdin=queue % "cpu, nvidia.com/gpu").returncode, 0)

    def test_an_autoscaler_alone_is_judged(self):
        result = run("check", "-f", "-", stdin="apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"
                     "metadata: {name: h}\nspec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, "
                     "kind: Deployment, name: d}}\n")
        self.assertEqual(result.stdout, "no errors, 0 warnings, 0 notes in 1 file\n")

    def test_pods_of_a_dump_are_counted_once_and_nodes_that_are_alike_told_together(self):
        node = ("apiVersion: v1\nkind: Node\nmetadata: {{name: {}, labels: {{node.kubernetes.io/instance-type: "
                "g5.xlarge}}}}\nstatus: {{allocatable: {{nvidia.com/gpu: \"4\"}}}}\n---\n")
        pods = ("{{containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}")
        made = ("apiVersion: {}\nkind: {}\nmetadata: {{name: {}, labels: {{app: d, pod-template-hash: abc}}, "
                "ownerReferences: [{{apiVersion: apps/v1, kind: {}, name: {}, uid: u}}]}}\nspec: {}\n---\n")
        template = ("selector: {{matchLabels: {{app: d}}}}, template: {{metadata: {{labels: {{app: d}}}}, spec: "
                    + pods + "}}")
        text = (node.format("n1") + node.format("n2") + node.format("n3")
                + "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2, "
                + template.format() + "}\n---\n"
                + made.format("apps/v1", "ReplicaSet", "d-abc", "Deployment", "d",
                              "{replicas: 2, " + template.format() + "}")
                + made.format("v1", "Pod", "d-abc-0", "ReplicaSet", "d-abc", pods.format()))
        result = run("check", "-f", "-", stdin=text)
        self.assertIn("n1 and 2 more like it: what d needs of the GPU's memory is in no file", result.stdout)

    def test_a_scenario_with_another_api_version_is_one(self):
        text = ("kind: Scenario\nmetadata: {name: s}\nspec:\n  nodePools: [{name: g, instanceType: g5.xlarge}]\n"
                "  workloads: [{name: w, kind: Job, profile: cifar-10-resnet-training-tf-keras/a100-40gb/b128}]\n")
        for version, code in (("slicewise/v1", "API_VERSION_UNKNOWN"), (None, "FIELD_MISSING")):
            with self.subTest(version=version):
                result = run("check", "-f", "-", stdin=(f"apiVersion: {version}\n" if version else "") + text)
                self.assertEqual(result.returncode, 3, result.stdout)
                self.assertIn(f"error[{code}]", result.stdout)

    def test_places_and_caret(self):
        result = run("check", "-f", "-", stdin=ONE_REPLICA)
        self.assertIn("-:2:", result.stdout)
        self.assertIn("error[REPLICAS_TOO_FEW]: number of replicas must be >= 2", result.stdout)
        self.assertIn("^", result.stdout)

    def test_files_are_judged_together(self):
        pod = ("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, "
               "image: x, resources: {limits: {nvidia.com/gpu.shared: 1}}}]}\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "pod.yaml"
            path.write_text(pod)
            result = run("check", "-f", CLUSTER, "-f", str(path))
            self.assertEqual(run("check", CLUSTER, str(path)).stdout, result.stdout)
        self.assertEqual(result.returncode, 3)
        self.assertIn("RESOURCE_NAME_MISMATCH", result.stdout)

    def test_a_config_that_nodes_do_not_have_yet_is_no_error(self):
        for offered, renames in (("nvidia.com/gpu", "true"), ("nvidia.com/gpu.shared", "false")):
            text = ("apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {node.kubernetes.io/instance-type: "
                    f"g4dn.xlarge, nvidia.com/gpu.present: \"true\"}}}}\nstatus: {{allocatable: {{{offered}: \"4\"}}}}\n"
                    f"---\nversion: v1\nsharing: {{timeSlicing: {{renameByDefault: {renames}, "
                    "failRequestsGreaterThanOne: true, resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n")
            result = run("check", "-f", "-", stdin=text)
            self.assertEqual(result.returncode, 0, result.stdout)
            self.assertIn(f"note[SHARED_RESOURCE_ABSENT]: not in force on n1, which offers {offered}:", result.stdout)

    def test_a_limit_of_no_gpu_is_told(self):
        pod = ("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, "
               "image: x, resources: {limits: {nvidia.com/gpu: 0}}}]}\n")
        result = run("check", "-f", "-", stdin=pod)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.count("warning[GPU_NOT_REQUESTED]"), 1)

    def test_formats(self):
        document = json.loads(run("check", "-f", "-", "-o", "json", stdin=ONE_REPLICA).stdout)
        self.assertEqual(document["errors"], 1)
        schema = json.loads(run("schema", "check").stdout)
        self.assertEqual(set(schema["required"]), set(document))
        sarif = json.loads(run("check", "-f", "-", "-o", "sarif", stdin=ONE_REPLICA).stdout)
        levels = [result["level"] for result in sarif["runs"][0]["results"]]
        self.assertEqual(levels.count("error"), 1)
        github = run("check", "-f", "-", "-o", "github", stdin=ONE_REPLICA).stdout
        self.assertRegex(github, r"(?m)^::error line=2,")

    def test_scenario_files_are_judged_too(self):
        text = (ROOT / "scenarios/examples/aws-cifar10.yaml").read_text()
        self.assertEqual(run("check", "-f", "scenarios/examples/aws-cifar10.yaml").returncode, 0)
        wrong = text.replace("instanceType: ", "instanceType: x", 1)
        result = run("check", "-f", "-", stdin=wrong)
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("INSTANCE_UNKNOWN", result.stdout)

    def test_what_a_run_refuses_is_an_error_once_for_all_variants(self):
        text = ("apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n"
                "  nodePools: [{name: g, instanceType: g5.xlarge, nos: {slices: [20gb, 20gb]}}]\n"
                "  workloads: [{name: w, kind: Job, profile: cifar-10-resnet-training-tf-keras/a100-40gb/b128, "
                "work: {units: 1}, podTemplate: {resources: {limits: {nvidia.com/gpu-20gb: 1}}}}]\n"
                "  variants: [{name: a}, {name: b, patch: {workloads: [{name: w, count: 2}]}}]\n")
        ran = run("run", "-f", "-", stdin=text)
        checked = run("check", "-f", "-", stdin=text)
        self.assertEqual((ran.returncode, checked.returncode), (3, 3))
        error = "-:5:50: error[VALUE_RANGE]: the slices add up to 40 GiB, the A10G has 22.5"
        self.assertIn(error, ran.stderr)
        self.assertEqual(checked.stdout.count(error), 1, checked.stdout)

    def test_the_memory_of_what_may_meet_on_a_gpu_is_added_up(self):
        text = (ROOT / "scenarios/examples/aws-cifar10-g5.yaml").read_text()
        fits = run("check", "-f", "-", stdin=text)
        self.assertIn("after: 10 per GPU: 10 x (1.4 + 0.4 GiB) of 22.1; the plugin's replicas bind",
                      fits.stdout)
        self.assertNotIn("GPU_OOM", fits.stdout)
        large = text.replace("resident: 1400Mi", "resident: 8Gi")
        result = run("check", "-f", "-", stdin=large)
        self.assertEqual(result.returncode, 0, result.stdout)  # a run may mean to show it
        self.assertIn("2 per GPU: 2 x (8.0 + 0.4 GiB) of 22.1; a third lacks 3.1 GiB", result.stdout)
        self.assertRegex(result.stdout, r"-:\d+:\d+: warning\[GPU_OOM\]")
        self.assertEqual(run("check", "--strict", "-f", "-", stdin=large).returncode, 3)

    def test_a_limit_of_mps_is_that_of_one_process(self):
        bundle = run("export", "-f", "scenarios/examples/aws-cifar10-g5.yaml", "--variant", "after", "--to",
                     "karpenter").stdout
        container = ("{image: 'x:1', resources: {requests: {cpu: 500m, memory: 2Gi}, "
                     "limits: {nvidia.com/gpu: 1}}, name: ")
        pod = f"""apiVersion: v1
kind: Pod
metadata: {{name: duo, annotations: {{slicewise.dev/gpu-memory: 9Gi}}}}
spec:
  tolerations: [{{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}}]
  containers: [{container}a}}, {container}b}}]
"""
        values = """config:
  default: gpu-timeslicing10
  map:
    gpu-timeslicing10: |
      version: v1
      sharing: {mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}
"""
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for name, text in (("nodes", bundle), ("pod", pod), ("values", values)):
                files += ["-f", str(pathlib.Path(folder, name + ".yaml"))]
                pathlib.Path(files[-1]).write_text(text, "utf-8")
            found = run("check", *files).stdout
        self.assertIn("a process of duo needs 9.4 GiB with its context, its limit is 5.5", found)

    def test_unknown_kinds_are_named(self):
        result = run("check", "-f", "-", stdin="apiVersion: v1\nkind: Gadget\n")
        self.assertEqual(result.returncode, 0)
        self.assertIn("objects of kind Gadget are not checked", result.stdout)


if __name__ == "__main__":
    unittest.main()
