"""slicewise advise: a recorded cluster, through a kubectl that only answers what was recorded."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import time
import unittest

import yaml
from program import BINARY, ROOT, TIMEOUT_S, environment, interrupt_at_work, main

OBJECTS = ROOT / "scenarios/examples/logs/kubectl.json"
INSTANCES = ("--instances", "g4dn.xlarge,g5.xlarge")
FAST = ("--replications", "1", "--no-headroom", "--no-flips", "--max-nodes", "4", "--set", "duration=2m")
# A claim of DRA, which a pod names by its template.
DRA = [
    {"kind": "Node", "apiVersion": "v1",
     "metadata": {"name": "n", "labels": {"node.kubernetes.io/instance-type": "g5.xlarge"}},
     "status": {"allocatable": {"cpu": "3920m", "memory": "14Gi", "pods": "58"}}},
    {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "chat", "namespace": "ml"},
     "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "chat"}},
              "template": {"metadata": {"labels": {"app": "chat"}}, "spec": {
                  "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "own"}],
                  "containers": [{"name": "c", "image": "x", "resources": {
                      "requests": {"cpu": "500m", "memory": "1Gi"}, "claims": [{"name": "gpu"}]}}]}}}},
    {"kind": "ResourceClaimTemplate", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "own", "namespace": "ml"},
     "spec": {"spec": {"devices": {"requests": [
         {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}}}]
CATALOGUE = """apiVersion: slicewise.dev/v1alpha1
kind: Catalogue
date: 2026-11-23
regions: [eu-central-1]
prices:
- {instanceType: g4dn.xlarge, region: eu-central-1, usdPerHour: 0.9}
"""
# The software that serves the GPUs, as eksctl, Helm and the GPU Operator leave it.
PLUGIN = {"spec": {"selector": {"matchLabels": {"name": "ndp"}}, "template": {
    "metadata": {"labels": {"name": "ndp"}},
    "spec": {"containers": [{"name": "ctr", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}]}}}}
STATIC = {"apiVersion": "apps/v1", "kind": "DaemonSet",
          "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": "kube-system"}, **PLUGIN}
RELEASE = {"apiVersion": "apps/v1", "kind": "DaemonSet", **PLUGIN, "metadata": {
    "name": "nvidia-device-plugin", "namespace": "kube-system",
    "labels": {"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "nvidia-device-plugin-0.17.1"},
    "annotations": {"meta.helm.sh/release-name": "nvidia-device-plugin", "meta.helm.sh/release-namespace": "kube-system"}}}
POLICY = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"},
          "spec": {"devicePlugin": {"enabled": True, "config": {"name": "plugin-config", "default": "any"}}}}
CONFIGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plugin-config", "namespace": "gpu-operator"},
           "data": {"any": "version: v1\nflags: {migStrategy: none}\n"}}
NODE_POOL = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "gpu-auto"}, "spec": {"template": {"spec": {
    "nodeClassRef": {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"},
    "requirements": [{"key": "eks.amazonaws.com/instance-family", "operator": "In", "values": ["g5"]}]}}}}


def cluster(*software, labels=None, image="Amazon Linux 2023"):
    """Two pods on two nodes with a GPU each, and what serves these."""
    nodes = [{"apiVersion": "v1", "kind": "Node",
              "metadata": {"name": name, "labels": {"node.kubernetes.io/instance-type": "g5.xlarge",
                                                    "topology.kubernetes.io/region": "us-east-1",
                                                    **(labels or {"eks.amazonaws.com/nodegroup": "ml"})}},
              "status": {"allocatable": {"cpu": "3920m", "memory": "14Gi", "nvidia.com/gpu": "1", "pods": "58"},
                         "conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"osImage": image}}}
             for name in ("n1", "n2")]
    pods = [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "q"},
             "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": {
                 "metadata": {"labels": {"app": name}, "annotations": {
                     "slicewise.dev/traffic": "10/s", "slicewise.dev/gpu-memory": "4Gi", "slicewise.dev/request-gpu-time": "8ms"}},
                 "spec": {"containers": [{"name": name, "image": "x:1", "resources": {
                     "requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"nvidia.com/gpu": "1"}}}]}}}} for name in ("a", "b")]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *software, *pods]}, indent=1)


# What apply.sh finds of a cluster, and what it does to it.
APPLIED = {"kubectl": """#!/bin/bash
case "$*" in
"get daemonsets --all-namespaces "*) echo "$DAEMONS" ;;
*" delete daemonset "*) echo kubectl "$@" >>"$CALLS"; echo deleted ;;
*"get daemonset nvidia-device-plugin-daemonset "*yaml) printf 'kind: DaemonSet\\nmetadata:\\n  uid: 1\\n' ;;
*devicePlugin.config.name}) echo -n plugin-config ;;
*instance-type*|*notin*) ;;
"get nodes -l eks.amazonaws.com/nodegroup="*" -o name") echo node/there ;;
"get nodes -l nvidia.com/device-plugin.config="*) ;;
"get "*|*" get "*) ;;
*) echo kubectl "$@" >>"$CALLS" ;;
esac
""", "helm": """#!/bin/bash
case "$*" in
list*"^nvidia-device-plugin"*) echo '[{"name":"nvidia-device-plugin","revision":"3"}]' ;;
list*) echo '[]' ;;
"upgrade --help") echo "$HELM_HAS" ;;
*) echo helm "$@" >>"$CALLS"; [[ $1 != "$FAILS" ]] ;;
esac
"""}

KUBECTL = '''#!/usr/bin/env python3
"""Answers as the API server of scenarios/examples/logs/kubectl.json did; writes down what it was asked."""
import json, pathlib, sys
words = [word for word in sys.argv[1:] if not word.startswith("--context") and not word.startswith("--kubeconfig")]
here = pathlib.Path(__file__).parent
with open(here / "asked", "a") as asked:
    print(*sys.argv[1:], file=asked)
items = json.loads(pathlib.Path("{objects}").read_text())["items"]
plurals = {{"Node": "nodes", "Pod": "pods", "Deployment": "deployments.apps", "DaemonSet": "daemonsets.apps",
           "NodePool": "nodepools.karpenter.sh", "ConfigMap": "configmaps",
           "ResourceClaimTemplate": "resourceclaimtemplates.resource.k8s.io"}}
if words[0] == "api-resources":
    print(*plurals.values(), sep="\\n")
elif words[:2] == ["get", "configmap"]:
    print(json.dumps(next(item for item in items if item["kind"] == "ConfigMap" and item["metadata"]["name"] == words[2])))
elif words[0] == "get":
    if (here / "forbidden").exists() and words[1] == "pods":
        sys.exit("Error from server (Forbidden): pods is forbidden")
    print(json.dumps({{"kind": "List", "apiVersion": "v1", "items": [item for item in items if plurals[item["kind"]] == words[1]]}}))
else:
    sys.exit("not read-only: " + " ".join(words))
'''


def recording():
    """What a Prometheus server answers about one pod of asr."""
    pod = "asr-6d5f7c8b9f-bx2zq"

    def series(name, values, **labels):
        return {"metric": {"__name__": name, **labels},
                "values": [[1718000000 + 60 * i, value] for i, value in enumerate(values)]}
    of = {"namespace": "voice", "pod": pod, "uid": "u"}
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [
        series("kube_pod_created", ["1717999000"], **of),
        series("kube_pod_container_state_started", ["1717999030"], container="main", **of),
        series("kube_pod_info", ["1"], created_by_kind="ReplicaSet", created_by_name="asr-6d5f7c8b9f", **of),
        series("kube_pod_container_resource_requests", ["1", "1"], container="main", resource="nvidia_com_gpu", **of),
        series("DCGM_FI_DEV_GPU_UTIL", ["20", "40"], UUID="GPU-1", exported_namespace="voice", exported_pod=pod),
        series("vllm:request_success_total", ["0", "600"], **of)]}}, separators=(",", ":"))


def known_objects():
    """Those of the recorded cluster, with annotations that say what comes to its workloads."""
    items = json.loads(OBJECTS.read_text())
    for item in items["items"]:
        if item["kind"] == "Deployment":
            item["spec"]["template"]["metadata"].setdefault("annotations", {})["slicewise.dev/traffic"] = "1/s"
        if item["metadata"]["name"].startswith("finetune"):
            item["metadata"].setdefault("annotations", {})["slicewise.dev/gpu-util"] = "50%"
    return items


class Advise(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "advice"
        self.known = self.folder / "known.json"
        self.known.write_text(json.dumps(known_objects(), indent=1), encoding="utf-8")

    def run_in(self, cwd, *arguments, **variables):
        return subprocess.run([BINARY, *arguments], cwd=cwd, text=True, capture_output=True, check=False,
                              timeout=TIMEOUT_S, env=environment(**variables))

    def advise(self, *arguments, code=0, instances=INSTANCES, **variables):
        result = self.run_in(self.folder, "advise", *FAST, *instances, *arguments, "--out", self.out, **variables)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def with_kubectl(self, objects=OBJECTS):
        tools = self.folder / "tools"
        tools.mkdir()
        program = tools / "kubectl"
        program.write_text(KUBECTL.format(objects=objects), encoding="utf-8")
        program.chmod(0o755)
        return tools, {"PATH": f"{tools}:{os.environ['PATH']}"}

    def test_kubectl_is_asked_to_get_only_and_what_it_says_is_what_files_say(self):
        tools, path = self.with_kubectl(self.known)
        self.advise("--context", "arn:aws:eks:eu-central-1:1:cluster/prod", "-q", **path)
        asked = (tools / "asked").read_text().splitlines()
        self.assertEqual({line.split()[1] for line in asked}, {"get", "api-resources"})
        self.assertTrue(all(line.startswith("--context=arn:aws:eks:eu-central-1:1:cluster/prod ") for line in asked))
        self.assertIn("--context=arn:aws:eks:eu-central-1:1:cluster/prod get configmap nvdp-nvidia-device-plugin-configs --namespace "
                      "nvidia-device-plugin --ignore-not-found -o json", asked)
        by_kubectl = {file.name: file.read_bytes() for file in self.out.iterdir() if file.is_file()}
        self.advise("-f", self.known, "--name", "prod", "--replace", "-q")
        for name in ("today.json", "plan.json", "changes.diff", "report.html"):
            self.assertEqual((self.out / name).read_bytes(), by_kubectl[name], name)

    def test_kubectl_is_asked_for_claims_of_dra(self):
        objects = self.folder / "dra.json"
        objects.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": DRA}), encoding="utf-8")
        _, path = self.with_kubectl(objects)
        self.advise("-q", **path)
        self.assertIn("resourceClaim: own", (self.out / "scenario.yaml").read_text())

    def test_nothing_is_to_be_applied_where_what_there_is_is_kept(self):
        """It wrote the files of a dearer option, and the dashboard showed a saving below zero."""
        self.advise("-f", self.known, "--instances", "g5.12xlarge", "-q", instances=())
        self.assertTrue(json.loads((self.out / "plan.json").read_text())["keepAsIs"])
        text = (self.out / "README.md").read_text()
        self.assertIn("Keep what you have: ", text)
        self.assertIn("## Nothing is to be applied", text)
        self.assertNotIn("apply.sh", text)
        for name in ("apply", "today", "changes.diff"):
            self.assertFalse((self.out / name).exists(), name)
        exported = self.run_in(self.out, "export", "-f", "plan.json#1", "--to", "helm-values")
        self.assertIn("keep what there is", " ".join(exported.stdout.replace("#", " ").split()))
        metrics = (self.out / "metrics.prom").read_text()
        monthly = re.findall(r'^slicewise_advice_monthly_usd.*pools="(today|best)"} (.*)$', metrics, re.MULTILINE)
        self.assertEqual([of for of, _ in monthly], ["today", "best"])
        self.assertEqual(monthly[0][1], monthly[1][1])

    def test_the_operator_of_the_cluster_keeps_the_plugin(self):
        """It installed the plugin's own chart beside it: two plugins on each node."""
        objects = known_objects()
        objects["items"].append({"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"},
                                 "spec": {"devicePlugin": {"enabled": True}}})
        file = self.folder / "operator.json"
        file.write_text(json.dumps(objects), encoding="utf-8")
        self.advise("-f", file, "-q")
        self.assertTrue((self.out / "apply/gpu-operator-values.yaml").exists())
        self.assertFalse((self.out / "apply/nvdp-values.yaml").exists())
        self.assertIn("gpuSoftware: {gpuOperator: true}\n", (self.out / "scenario.yaml").read_text())
        # The page offered the plugin's own chart.
        page = (self.out / "report.html").read_text()
        self.assertIn("Copy gpu-operator-values.yaml", page)
        for part in ("nvdp-values.yaml", "helm upgrade -i nvdp"):
            self.assertNotIn(part, page)

    def advise_on(self, *software, strategies="timeSlicing", instances="g5.xlarge,g4dn.xlarge", **nodes):
        file = self.folder / "cluster.json"
        file.write_text(cluster(*software, **nodes), encoding="utf-8")
        self.advise("-f", file, "-q", *(("--strategies", strategies) if strategies else ()),
                    "--set", "workloads.a.slo.latencyP99=200ms",
                    "--set", "workloads.b.slo.latencyP99=200ms", instances=("--instances", instances))
        return (self.out / "README.md").read_text()

    def script(self, name, daemons="", code=0, fails="", helm_has="--reset-then-reuse-values"):
        """What it did to the cluster, and what it said; `fails`: a command of helm's."""
        tools = self.folder / "applied"
        tools.mkdir(exist_ok=True)
        for tool, text in APPLIED.items():
            (tools / tool).write_text(text, encoding="utf-8")
            (tools / tool).chmod(0o755)
        calls = self.folder / "calls"
        calls.write_text("")
        done = subprocess.run(["bash", self.out / "apply" / name], capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
                              env=environment(PATH=f"{tools}:{os.environ['PATH']}", CALLS=calls, DAEMONS=daemons, FAILS=fails,
                                              HELM_HAS=helm_has))
        self.assertEqual(done.returncode, code, done.stderr)
        return calls.read_text(), done.stderr

    def check_with_cluster(self):
        found = self.run_in(self.folder, "check", "cluster.json", self.out / "apply")
        self.assertNotIn("TWO_DEVICE_PLUGINS", found.stdout + found.stderr)
        self.assertNotIn("OPERATOR_DEFAULT_MISSING", found.stdout + found.stderr)

    def test_a_static_device_plugin_goes_before_the_chart_comes(self):
        """It ran on beside the chart: each GPU was offered twice, under two names."""
        readme = self.advise_on(STATIC)
        self.assertIn("DaemonSet kube-system/nvidia-device-plugin-daemonset runs the device plugin", readme)
        daemon = "kube-system nvidia-device-plugin-daemonset nvcr.io/nvidia/k8s-device-plugin:v0.17.1\n"
        # Without the internet, or where its values are refused, no node is left without one.
        for command in ("repo", "show"):
            self.assertNotIn("delete daemonset", self.script("apply.sh", daemon, code=1, fails=command)[0])
        calls, said = self.script("apply.sh", daemon, code=1, fails="upgrade")
        self.assertTrue(calls.endswith("kubectl apply -f plugins-before.yaml\n"), calls)
        self.assertIn("what ran the device plugin comes back", said)
        self.assertNotIn("helm uninstall", self.script("rollback.sh")[0])  # of a release that there is not
        calls, _ = self.script("apply.sh", daemon)
        self.assertNotIn("kubectl apply -f plugins-before.yaml", calls)
        away = "kubectl -n kube-system delete daemonset nvidia-device-plugin-daemonset --ignore-not-found\n"
        self.assertLess(calls.index(away), calls.index("helm upgrade -i nvdp "))
        self.assertIn("kubectl apply -f plugins-before.yaml\n", self.script("rollback.sh")[0])
        self.check_with_cluster()
        # Another one that nobody knew of.
        calls, said = self.script("apply.sh", daemon.replace("kube-system", "ml"), code=1)
        self.assertEqual(calls, "")
        self.assertIn("DaemonSet nvidia-device-plugin-daemonset in namespace ml runs a device plugin as well", said)

    def test_a_release_of_another_name_is_upgraded_in_its_version(self):
        """A second release was installed beside it, and check let it pass."""
        self.advise_on(RELEASE)
        daemon = "kube-system nvidia-device-plugin nvcr.io/nvidia/k8s-device-plugin:v0.17.1\n"
        calls, said = self.script("apply.sh", daemon, code=1, helm_has="--reuse-values")
        self.assertEqual(calls, "")
        self.assertIn("helm 3.14 or newer is needed", said)
        calls, _ = self.script("apply.sh", daemon)
        self.assertIn("helm upgrade -i nvidia-device-plugin nvdp/nvidia-device-plugin --version 0.17.1 -n kube-system ", calls)
        # Its runtimeClassName and tolerations were thrown away.
        self.assertIn(" -f nvdp-values.yaml --reset-then-reuse-values --set config.name=\n", calls)
        by_terraform = self.run_in(self.out, "export", "-f", "plan.json#1", "--to", "terraform", "--out", self.folder / "tf")
        self.assertEqual(by_terraform.returncode, 0, by_terraform.stderr)
        text = (self.folder / "tf/gpu_nodes.tf").read_text()
        self.assertIn("terraform import helm_release.device_plugin kube-system/nvidia-device-plugin\n", text)
        self.assertRegex(text, r"reuse_values +=.true\n")
        self.assertIn("kubectl -n kube-system rollout status daemonset/nvidia-device-plugin ", calls)
        self.assertIn("helm rollback nvidia-device-plugin 3 -n kube-system\n", self.script("rollback.sh")[0])
        self.check_with_cluster()
        values = self.out / "apply/nvdp-values.yaml"
        self.assertIn("#     --reset-then-reuse-values --set config.name= -f nvdp-values.yaml\n", values.read_text())
        values.write_text(values.read_text().replace("-i nvidia-device-plugin", "-i nvdp"), encoding="utf-8")
        found = self.run_in(self.folder, "check", "cluster.json", values)
        self.assertIn("TWO_DEVICE_PLUGINS", found.stdout + found.stderr)

    def test_configs_are_added_to_the_map_of_the_operators_plugin(self):
        """apply.sh always stopped there, once the nodes were bought, whose plugin had no such config."""
        readme = self.advise_on(POLICY, CONFIGS)
        self.assertFalse((self.out / "apply/gpu-operator-values.yaml").exists())
        calls, _ = self.script("apply.sh")
        patch = "kubectl -n gpu-operator patch configmap plugin-config --type merge --patch-file "
        self.assertLess(calls.index(f"{patch}plugin-config.yaml\n"), calls.index("kubectl label nodes"))
        self.assertNotIn("helm", calls)
        self.assertIn("=slicewise-", calls)
        if "First these nodes" in readme:
            self.assertIn(f"`{patch}apply/plugin-config.yaml`", readme)
        self.assertRegex(self.script("rollback.sh")[0], r"plugin-config --type merge -p {\"data\":{\"slicewise-[^\"]*\":null}}\n")
        self.check_with_cluster()

    def test_on_eks_auto_mode_pods_have_whole_gpus(self):
        """Sharing was recommended, with a chart, an EC2NodeClass and a NodeOverlay, which it has not."""
        readme = self.advise_on(NODE_POOL, strategies="", labels={"eks.amazonaws.com/compute-type": "auto",
                                                                   "karpenter.sh/nodepool": "gpu-auto"})
        self.assertIn("nodes of EKS Auto Mode share no GPU", " ".join(readme.split()))
        plan = json.loads((self.out / "plan.json").read_text())
        self.assertEqual({pool["strategy"] for option in plan["options"] for pool in option["pools"]}, {"exclusive"})
        self.assertEqual({file.name for file in (self.out / "apply").glob("*.yaml")}, {"karpenter.yaml"})
        text = (self.out / "apply/karpenter.yaml").read_text()
        self.assertIn("group: eks.amazonaws.com\n", text)
        for absent in ("EC2NodeClass", "NodeOverlay", "karpenter.k8s.aws", "nvidia.com/device-plugin"):
            self.assertNotIn(absent, text)
        self.assertNotIn("helm", (self.out / "apply/apply.sh").read_text())

    def test_nodes_of_bottlerocket_stay_such(self):
        """A chart was installed beside the plugin of their image."""
        readme = self.advise_on(image="Bottlerocket OS 1.54.0 (aws-k8s-1.33-nvidia)", instances="g5.xlarge")
        self.assertFalse((self.out / "apply/nvdp-values.yaml").exists())
        self.assertIn("amiFamily: Bottlerocket", (self.out / "apply/eksctl.yaml").read_text())
        self.assertNotIn("helm", (self.out / "apply/apply.sh").read_text())
        # User data is of new nodes: those that stayed offered whole GPUs, and all pods were Pending.
        self.assertIn("--include 'g5-xlarge-timeslicing' ", readme)
        self.assertRegex(readme, r"node group `ml`, \d nodes?, away: ")

    def test_the_directory_has_the_advice_and_what_it_takes_to_follow_it(self):
        self.advise("-f", self.known)
        files = {str(file.relative_to(self.out)) for file in self.out.rglob("*") if file.is_file()}
        self.assertLessEqual({"README.md", "scenario.yaml", "today.json", "plan.json", "report.html", "metrics.prom",
                              "changes.diff", "apply/apply.sh", "apply/rollback.sh", "apply/VERIFY.md",
                              "today/pods/voice-asr.yaml"}, files)
        self.assertTrue(os.access(self.out / "apply/apply.sh", os.X_OK))
        self.assertFalse([name for name in files if name.startswith("today/") and name.endswith(".sh")])
        text = (self.out / "README.md").read_text()
        self.assertIn("Nobody knows: no recording was read.", text)
        self.assertIn("kubectl --namespace monitoring port-forward pod/prometheus-k8s-0 9090", text)
        self.assertIn("| CONFIGURATION |", text)
        plan = json.loads((self.out / "plan.json").read_text())
        self.assertEqual((self.out / "dashboard.json").read_bytes(), (ROOT / "tools/chart/drift.json").read_bytes())
        metrics = (self.out / "metrics.prom").read_text()
        self.assertIn(f'pools="best"}} {plan["options"][0]["monthlyUsd"]:g}', metrics)

    def test_the_commands_of_the_advice_make_the_same_bytes(self):
        self.advise("-f", self.known)
        text = (self.out / "README.md").read_text()
        commands = [line.strip() for line in text.splitlines() if line.startswith("    slicewise ")]
        self.assertEqual([command.split()[1] for command in commands], ["run", "plan", "report", "export"])
        again = self.folder / "again"
        again.mkdir()
        (again / "scenario.yaml").write_bytes((self.out / "scenario.yaml").read_bytes())
        for command in commands:
            done = self.run_in(again, *shlex.split(command)[1:])
            self.assertIn(done.returncode, (0, 6, 99), command + done.stderr)
        for file in again.rglob("*"):
            if file.is_file():
                self.assertEqual(file.read_bytes(), (self.out / file.relative_to(again)).read_bytes(), file)

    def test_what_is_applied_are_patches_of_what_was_read(self):
        self.advise("-f", self.known, "-q")
        asr = (self.out / "apply/pods/voice-asr.yaml").read_text()
        for line in ("- name: main", "nvidia.com/gpu: null", "eks.amazonaws.com/nodegroup: null"):
            self.assertIn(f"  {line}\n", asr)
        tuning = (self.out / "apply/pods/research-finetune.yaml").read_text()
        self.assertIn("# By hand: PyTorchJob finetune", tuning)
        self.assertTrue(all(line.startswith("#") for line in tuning.splitlines()))
        self.assertNotIn("finetune", (self.out / "apply/pods/kustomization.yaml").read_text())
        script = (self.out / "apply/apply.sh").read_text()
        self.assertLess(script.index("\npatch_objects server"), script.index("helm upgrade -i"))
        checked = self.run_in(self.folder, "check", self.out / "apply")
        self.assertNotIn("NODES_NEVER_LAUNCHED", checked.stdout + checked.stderr)
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_the_commands_name_what_changes_the_bytes(self):
        """They left out the catalogue, and gave another plan."""
        catalogue = self.folder / "own.yaml"
        catalogue.write_text(CATALOGUE, encoding="utf-8")
        done = self.run_in(self.folder, "advise", *FAST, *INSTANCES, "-q", "-f", self.known, "--catalogue", "own.yaml",
                           "--max-memory", "6Gi", "--out", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        commands = [line.strip() for line in (self.out / "README.md").read_text().splitlines()
                    if line.startswith("    slicewise ")]
        again = self.folder / "again"
        again.mkdir()
        (again / "scenario.yaml").write_bytes((self.out / "scenario.yaml").read_bytes())
        for command in commands:
            self.assertIn("--max-memory 6291456Ki", command)
            done = self.run_in(again, *shlex.split(command)[1:])
            self.assertIn(done.returncode, (0, 6, 99), command + done.stderr)
        for name in ("today.json", "plan.json", "report.html", "apply/apply.sh"):
            self.assertEqual((again / name).read_bytes(), (self.out / name).read_bytes(), name)

    def test_a_pod_without_a_gpu_keeps_nobody_from_a_plan(self):
        """The plan that leaves it out could not be read again, and no path began at its pools."""
        objects = known_objects()
        node = next(item["metadata"]["name"] for item in objects["items"] if item["kind"] == "Node")
        objects["items"].append({
            "kind": "Pod", "apiVersion": "v1", "metadata": {"name": "agent-1", "namespace": "tools"},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "100m"}}}]},
            "status": {"phase": "Running"}})
        self.known.write_text(json.dumps(objects), encoding="utf-8")
        self.advise("-f", self.known, "-q")
        self.assertIn("processesPerPod: 0", (self.out / "scenario.yaml").read_text())
        self.assertTrue((self.out / "apply/apply.sh").exists())
        text = (self.out / "README.md").read_text()
        self.assertNotIn("PLAN_STALE", text)
        self.assertNotIn("which the scenario does not have", text)

    def test_what_rests_on_placeholders_is_no_recommendation(self):
        """It recommended, wrote apply.sh and showed a saving where 1 request/s of 30 ms were its own."""
        before = time.time()
        said = self.advise("-f", OBJECTS).stderr
        self.assertIn("warning: no recommendation: nobody says what load asr, tts, finetune", said)
        text = (self.out / "README.md").read_text()
        self.assertIn("**asr, tts, finetune**", text)
        page = (self.out / "report.html").read_text()
        for shown in (text, page):
            self.assertNotIn("Recommended: ", shown)
            self.assertIn("No recommendation: nobody says what load asr, tts", shown)
        self.assertNotIn("apply.sh", page)
        self.assertIn("\n## The plan, if that were so\n", text)
        self.assertIn("## Nothing is to be applied yet", text)
        for name in ("apply", "today", "changes.diff"):
            self.assertFalse((self.out / name).exists(), name)
        metrics = (self.out / "metrics.prom").read_text()
        self.assertIn('slicewise_advice_assumed_workloads{cluster="cluster"} 3\n', metrics)
        self.assertNotIn('pools="best"', metrics)
        self.assertIn('pools="today"', metrics)
        read_at = int(re.search(r"^slicewise_advice_timestamp_seconds\S* (\d+)$", metrics, re.MULTILINE)[1])
        self.assertLessEqual(int(before), read_at)
        self.advise("-f", OBJECTS, "--replace", "-q", *(word for name in ("asr", "tts")
                    for word in ("--set", f"workloads.{name}.traffic.mean=2/s")))
        text = (self.out / "README.md").read_text()
        self.assertIn("**finetune**", text)
        self.assertIn("What --set gives takes their place", text)
        # By their places they are the same workloads; what says neither load nor GPU time does not count.
        self.advise("-f", OBJECTS, "--replace", "-q", "--set", "workloads[0].traffic.mean=2/s",
                    "--set", "workloads.tts.traffic.shape=Constant", "--set", "workloads.tts.measured.smActive=50%")
        self.assertIn("**tts, finetune**", (self.out / "README.md").read_text())
        self.assertEqual(json.loads((self.out / "plan.json").read_text())["placeholders"], ["tts", "finetune"])
        exported = self.run_in(self.out, "export", "plan.json#1", "--to", "helm-values")
        self.assertIn("no recommendation", " ".join(exported.stdout.replace("#", " ").split()))

    def test_pools_that_were_made_up_are_nobody_s_today(self):
        objects = {"kind": "List", "items": [item for item in known_objects()["items"]
                                             if item["kind"] in ("Deployment", "DaemonSet")]}
        file = self.folder / "nonodes.json"
        file.write_text(json.dumps(objects), encoding="utf-8")
        self.advise("-f", file, "-q")
        self.assertIn("made up", (self.out / "README.md").read_text())
        self.assertNotIn('pools="today"', (self.out / "metrics.prom").read_text())

    def test_a_pod_on_a_mig_slice_may_have_all_of_it(self):
        """2 GiB of 4.75 were taken, and seven of them put on a T4."""
        node = {"kind": "Node", "metadata": {"name": "n", "labels": {
            "node.kubernetes.io/instance-type": "p4d.24xlarge", "nvidia.com/mig.config": "all-1g.5gb",
            "nvidia.com/mig.strategy": "mixed"}},
                "status": {"allocatable": {"cpu": "95690m", "memory": "1100Gi", "pods": "110", "nvidia.com/mig-1g.5gb": "56"}}}
        rank = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "rank", "namespace": "ads"},
                "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "rank"}},
                         "template": {"metadata": {"labels": {"app": "rank"}}, "spec": {"containers": [
                             {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/mig-1g.5gb": "1"}}}]}}}}
        file = self.folder / "mig.json"
        file.write_text(json.dumps({"kind": "List", "items": [node, rank]}), encoding="utf-8")
        imported = self.run_in(self.folder, "import", "k8s", file, "-o", "scenario")
        self.assertEqual(imported.returncode, 0, imported.stderr)
        resident = re.search(r"gpuMemory: {resident: (\d+)Mi}  # TODO: Assumed: all of its MIG instance", imported.stdout)
        # 4.75 GiB less what a process has for its CUDA context.
        self.assertTrue(resident, imported.stdout)
        self.assertGreater(int(resident[1]), 4000)
        self.assertLess(int(resident[1]), 4864)

    def test_an_advice_leaves_nothing_of_the_one_before(self):
        """Yesterday's apply.sh stood beside "Nothing is to be applied"."""
        self.advise("-f", self.known, "-q")
        self.assertTrue((self.out / "apply/apply.sh").exists())
        (self.out / "mine.md").write_text("mine", encoding="utf-8")
        # It took the way back with it.
        for name in ("release-before.txt", "labels-before.txt", "karpenter-before.yaml", "operator-before.txt", "patched.txt"):
            (self.out / "apply" / name).touch()
            self.assertIn(f'apply/{name}" is the way back', self.advise("-f", "absent.json", "--replace", code=2).stderr)
            (self.out / "apply" / name).unlink()
        self.advise("-f", self.known, "--instances", "g5.12xlarge", "--replace", "-q", instances=())
        self.assertIn("## Nothing is to be applied", (self.out / "README.md").read_text())
        self.assertEqual({file.name for file in self.out.iterdir()},
                         {"README.md", "scenario.yaml", "today.json", "plan.json", "report.html", "metrics.prom",
                          "dashboard.json", "mine.md"})
        self.advise("-f", self.known, "--replace", "-q")
        done = self.run_in(self.out, "advise", *FAST, "-f", self.known, "--instances", "g5.12xlarge", "--replace", "-q",
                           "--out", ".")  # whoever stands there stays
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.out / "apply").exists())

    def test_the_steps_say_which_nodes_are_no_longer_needed(self):
        """Who followed all of them saved nothing."""
        figures = [f"workloads.{name}.traffic.mean=1/s" for name in ("asr", "tts")] + ["workloads.finetune.measured.gpuBusy=50%"]
        self.advise("-f", OBJECTS, "-q", *(word for one in figures for word in ("--set", one)))
        text = (self.out / "README.md").read_text()
        nodes = json.loads((self.out / "plan.json").read_text())["options"][0]["pools"][0]["nodes"]
        self.assertEqual(nodes, 2)
        steps = text[text.index("## Before anything is applied"):text.index("## The files")]
        cluster = "\"$CLUSTER_NAME\" --region 'eu-central-1'"
        for step in ("node group `voice-t4`, 3 -> 2 nodes: `aws eks update-nodegroup-config --cluster-name "
                     f"{cluster} --nodegroup-name 'voice-t4' --scaling-config minSize=2,maxSize=2,desiredSize=2`",
                     "node group `research-a10g`, 1 node, away: `aws eks update-nodegroup-config --cluster-name "
                     f"{cluster} --nodegroup-name 'research-a10g' --scaling-config minSize=0,maxSize=1,desiredSize=0`; "
                     f"when all of this stays, `aws eks delete-nodegroup --cluster-name {cluster} --nodegroup-name 'research-a10g'`",
                     "   - PyTorchJob finetune in namespace research, see pods/research-finetune.yaml\n",
                     "6. The way back: first the nodes that went, until they are Ready:\n",
                     "NodePool `burst`, 0 to 4 nodes, away: `kubectl get nodepool 'burst' -o yaml >'burst-before.yaml' && "
                     "kubectl delete nodepool 'burst'`, of which there are no nodes with GPUs now, unless"):
            self.assertIn(step, steps)
        self.assertEqual([int(number) for number in re.findall(r"^(\d)\. ", steps, re.MULTILINE)], [1, 2, 3, 4, 5, 6])

    def test_the_diff_is_against_what_is_there(self):
        """It was against what slicewise would have written of today: pools and configs that the cluster has not."""
        objects = known_objects()
        for item in objects["items"]:
            if item["kind"] == "NodePool":  # that option 1 takes for its own
                item["metadata"]["name"] = "voice-t4"
        there = {(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]): item for item in objects["items"]}
        self.known.write_text(json.dumps(objects), encoding="utf-8")
        self.advise("-f", self.known, "-q")
        today = {}
        for file in (self.out / "today").rglob("*.yaml"):
            for document in yaml.safe_load_all(file.read_text()):
                if file.name == "nvdp-values.yaml":
                    [configs] = (item["data"] for (kind, _, _), item in there.items() if kind == "ConfigMap")
                    self.assertEqual(document, {"config": {"map": configs}})
                    continue
                name = (document["kind"], document["metadata"].get("namespace"), document["metadata"]["name"])
                today[name] = document
                self.assertEqual(document["spec"], there[name]["spec"])
                self.assertEqual(set(document["metadata"]) - {"name", "namespace", "labels", "annotations"}, set())
        self.assertIn(("NodePool", None, "voice-t4"), today)
        self.assertIn(("Deployment", "voice", "asr"), today)
        copy = self.folder / "copy"
        subprocess.run(["cp", "-r", self.out / "today", copy], check=True)
        subprocess.run(["patch", "-p1", "-s", "-i", self.out / "changes.diff"], cwd=copy, check=True)
        pools = {document["metadata"]["name"]: document for document in yaml.safe_load_all((copy / "karpenter.yaml").read_text())
                 if document["kind"] == "NodePool"}
        pool = pools["voice-t4"]["spec"]
        self.assertEqual(pool["disruption"]["budgets"], [{"nodes": "10%"}])  # of the API server: nobody takes it away
        self.assertEqual(pool["limits"], {"nodes": "2"})  # kubectl does: it was applied, and is said no more
        asr = yaml.safe_load((copy / "pods/voice-asr.yaml").read_text())
        was = there["Deployment", "voice", "asr"]["spec"]["template"]["spec"]["containers"][0]
        [container] = asr["spec"]["template"]["spec"]["containers"]
        self.assertEqual({**container, "resources": None}, {**was, "resources": None})
        self.assertEqual(container["resources"]["limits"], {"nvidia.com/gpu.shared": 1})

    def test_a_recording_says_how_far_the_simulation_is_off(self):
        answers = self.folder / "answers.json"
        answers.write_text(recording(), encoding="utf-8")
        self.advise("-f", OBJECTS, "-f", answers, "-q", "--set", "duration=30m")
        text = (self.out / "README.md").read_text()
        row = next(line for line in text.splitlines() if line.startswith("| voice/asr | GPU in use by a pod | 30%"))
        self.assertIn('workload="asr",figure="gpuUse"', (self.out / "metrics.prom").read_text())
        result = json.loads((self.out / "today.json").read_text())["variants"][0]
        asr = next(one for one in result["workloads"] if one["name"] == "asr")
        gpus = sum(gpu.get("gpuShare", 1) * gpu.get("upRatio", 1) for gpu in result["gpus"])
        self.assertIn(f"{100 * asr['gpuBusyShare'] * gpus / 3:.0f}%", row)

    def test_nothing_is_accepted_silently(self):
        self.assertIn("--context and --kubeconfig are for kubectl",
                      self.advise("-f", OBJECTS, "--context", "x", code=2).stderr)
        self.assertIn("go with --prometheus", self.advise("-f", OBJECTS, "--latency", "x", code=2).stderr)
        self.out.mkdir()
        (self.out / "mine").write_text("mine", encoding="utf-8")
        self.assertIn("--replace", self.advise("-f", OBJECTS, code=2).stderr)
        self.assertEqual([file.name for file in self.out.iterdir()], ["mine"])

    def test_ctrl_c_leaves_what_there_is_and_says_so(self):
        """It crashed where the plan was stopped: the page's first option had no result."""
        for after_s in (0.3, 0):
            with subprocess.Popen([BINARY, "advise", "-f", OBJECTS, "--out", self.out, "--replace"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
                interrupt_at_work(process, after_s)
                said = process.communicate(timeout=TIMEOUT_S)[1]
            self.assertEqual(process.returncode, 130, said)
            self.assertIn("interrupted: the advice covers what had been simulated", said)
            text = (self.out / "README.md").read_text()
            self.assertIn("interrupted: the advice covers", text)
            self.assertTrue((self.out / "scenario.yaml").is_file())
            for name in ("report.html", "metrics.prom", "apply"):
                self.assertFalse((self.out / name).exists(), name)

    def test_what_an_advice_can_do_without_does_not_end_it(self):
        """One aggregated API that is down ended it, and one resource that nobody may read."""
        tools, path = self.with_kubectl()
        program = tools / "kubectl"
        script = program.read_text().replace('print(*plurals.values(), sep="\\n")', '''print(*plurals.values(), "clusterqueues.kueue.x-k8s.io", sep="\\n")
    sys.exit("error: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1")
elif words[1].startswith("clusterqueues"):
    sys.exit("one line\\nError from server (Forbidden): clusterqueues is forbidden")''')
        program.write_text(script, encoding="utf-8")
        self.advise("-q", **path)
        text = (self.out / "README.md").read_text()
        self.assertIn("api-resources --verbs=list -o name: exit code 1: error: unable to retrieve", text)
        self.assertIn("-o json: exit code 1: Error from server (Forbidden): clusterqueues is forbidden", text)
        # Of a ConfigMap it cannot: it says how GPUs are shared.
        program.write_text(script.replace('words[:2] == ["get", "configmap"]:', '''words[:2] == ["get", "configmap"]:
    sys.exit("Error from server (Forbidden): configmaps is forbidden")'''), encoding="utf-8")
        refused = self.advise("--replace", code=5, **path).stderr
        self.assertIn("configMaps: [{namespace: nvidia-device-plugin, name: nvdp-nvidia-device-plugin-configs}]", refused)

    def test_an_url_without_a_scheme_is_shown_as_it_has_to_be(self):
        refused = self.advise("-f", OBJECTS, "--prometheus", "host:9090", code=5).stderr
        self.assertIn('"host:9090": not a URL of a server', refused)
        self.assertIn("write http://host:9090", refused)

    def test_a_kubectl_that_fails_or_is_absent_is_said(self):
        tools, path = self.with_kubectl()
        (tools / "forbidden").touch()
        refused = self.advise(code=5, **path).stderr
        self.assertIn("pods is forbidden", refused)
        self.assertIn("get pods --all-namespaces -o json: exit code 1: Error from server (Forbidden): pods", refused)
        self.assertIn("No such file or directory", self.advise(code=5, PATH=str(self.folder)).stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    main()
