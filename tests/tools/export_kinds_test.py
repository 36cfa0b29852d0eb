"""Exports of the examples as their readers see them: what each names is there, and the numbers are the scenario's."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

import yaml

from program import EXAMPLE, ROOT, apply_bundle, main, run, skip_without

NIGHTLY = os.environ.get("SLICEWISE_NIGHTLY") == "1"
UNFIT = 3
NEW_KINDS = ("argocd", "flux", "terraform", "kueue", "prometheus-rule")
MIG = "scenarios/examples/mig-multi-tenant.yaml"
SHARED = "scenarios/examples/shared-inference.yaml"


def variants_of(example):
    """Of a file of scenarios, in its order; [] for other files."""
    text = example.read_text(encoding="utf-8")
    if "kind: Scenario" not in text:
        return []
    said = run("export", "-f", str(example), "--to", "pod-patch").stderr
    return said.split("its variants are ")[1].split("\n")[0].split(", ") if "its variants are " in said else [""]


def export(example, variant, kind, folder, *more):
    named = ("--variant", variant) if variant else ()
    return run("export", "-f", str(example), *named, "--to", kind, "--out", str(folder), *more)


def documents(path):
    return [d for d in yaml.safe_load_all(path.read_text(encoding="utf-8")) if d]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Examples(Folder):
    def test_each_new_kind_of_each_example_passes_check_or_says_why_not(self):
        """`check` finds no error in what `export` wrote of a variant of each example; by night, of each variant."""
        written = dict.fromkeys(NEW_KINDS, 0)
        for number, example in enumerate(sorted((ROOT / "scenarios/examples").glob("*.yaml"))):
            variants = variants_of(example)
            for variant in variants if NIGHTLY else variants[number % len(variants):][:1]:
                for kind in NEW_KINDS:
                    with self.subTest(example=example.name, variant=variant, kind=kind):
                        folder = self.folder / f"{example.stem}-{variant.replace('/', '_')}" / kind
                        folder.parent.mkdir(exist_ok=True)
                        result = export(example, variant, kind, folder, "--cluster", "prod") \
                            if kind in ("argocd", "flux", "terraform") \
                            else export(example, variant, kind, folder)
                        if result.returncode == UNFIT:
                            self.assertRegex(result.stderr, r"error\[")
                            continue
                        self.assertEqual(result.returncode, 0, result.stderr)
                        written[kind] += 1
                        files = [folder] if folder.is_file() else \
                            [f for f in sorted(folder.rglob("*.yaml"))
                             if "kind: Component" not in f.read_text(encoding="utf-8")]
                        found = json.loads(run("check", *(w for f in files for w in ("-f", str(f))),
                                               "-o", "json").stdout)
                        errors = [f for f in found["findings"] if f["severity"] == "error"]
                        self.assertEqual(errors, [])
        for kind, count in written.items():
            self.assertGreaterEqual(count, 8, kind)


class GitOps(Folder):
    def test_the_repository_and_the_cluster_are_those_of_the_flags(self):
        example, url = ROOT / "scenarios/examples/karpenter-thrash.yaml", "https://git.example.com/x.git"
        variant = variants_of(example)[0]
        for kind in ("argocd", "flux"):
            self.assertEqual(export(example, variant, kind, self.folder / kind, "--cluster", "prod",
                                    "--repository", url).returncode, 0)
            text = (self.folder / kind / f"{kind}.yaml").read_text(encoding="utf-8")
            self.assertIn(url, text)
            self.assertNotIn("sed -i", text)
            nodes = (self.folder / kind / "nodes/karpenter.yaml").read_text(encoding="utf-8")
            self.assertIn("KarpenterNodeRole-prod", nodes)
            self.assertFalse((self.folder / kind / "apply.sh").exists())
        refused = export(example, variant, "flux", self.folder / "ssh", "--repository", "git@example.com:x.git")
        self.assertEqual(refused.returncode, UNFIT, refused.stderr)
        self.assertIn("ssh://git@example.com/x.git", refused.stderr)


class Prices(Folder):
    def test_a_capacity_block_is_a_node_group_that_names_it(self):
        block = ("--set", "nodePools.gpu.capacityType=capacity-block")
        export = ("export", "-f", EXAMPLE, "--variant", "before", *block, "--to")
        self.assertEqual(run(*export, "terraform", "--out", str(self.folder / "tf")).returncode, 0)
        terraform = (self.folder / "tf/gpu_nodes.tf").read_text(encoding="utf-8")
        self.assertRegex(terraform, r'capacity_type += "CAPACITY_BLOCK"')
        self.assertRegex(terraform, r'market_type += "capacity-block"')
        self.assertRegex(terraform, r"capacity_reservation_id += var.block_gpu")
        self.assertIn('variable "block_gpu"', terraform)
        eksctl = run(*export, "eksctl")
        self.assertEqual((eksctl.returncode, eksctl.stdout), (UNFIT, ""))
        self.assertIn("error[EXPORT_UNFIT]", eksctl.stderr)
        bundle = self.folder / "bundle"
        self.assertEqual(run(*export, "bundle", "--out", str(bundle)).returncode, 0)
        self.assertFalse((bundle / "eksctl.yaml").exists())

    def test_reserved_capacity_is_exported_without_a_price(self):
        """PRICE_UNKNOWN asked for --prices, which export did not have."""
        reserved = ("--set", "nodePools.gpu.capacityType=reserved")
        result = run("export", "-f", EXAMPLE, "--variant", "before", *reserved, "--to", "karpenter")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("capacityReservationSelectorTerms", result.stdout)
        simulated = run("export", "-f", EXAMPLE, "--variant", "before", *reserved, "--to", "csv",
                        "--out", str(self.folder / "csv"))
        self.assertEqual(simulated.returncode, UNFIT)
        self.assertIn("--prices FILE", simulated.stderr)


class Scripts(Folder):
    """apply.sh ends before it has done anything, or does all."""
    def setUp(self):
        super().setUp()
        self.bundle = self.folder / "bundle"
        self.assertEqual(export(ROOT / EXAMPLE, "after", "bundle", self.bundle).returncode, 0)

    def write_stubs(self, kubectl):
        """In front of the PATH: kubectl as the test has it, and a helm that says what it is asked."""
        for tool, text in (("kubectl", kubectl), ("helm", '#!/bin/sh\necho helm "$@"\n')):
            (self.folder / tool).write_text(text, encoding="utf-8")
            (self.folder / tool).chmod(0o755)

    def test_the_name_of_the_cluster_is_asked_for_first(self):
        result = apply_bundle(self.bundle, "--karpenter")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("CLUSTER_NAME", result.stderr)
        self.assertEqual(result.stdout, "")

    def test_node_groups_of_another_type_are_not_taken_for_the_pools(self):
        """eksctl leaves a group alone that has the name already."""
        result = apply_bundle(self.bundle, other_nodes="node/ip-10-0-0-1")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, "nodes with eks.amazonaws.com/nodegroup=.* are no p3.8xlarge")
        self.assertEqual(result.stdout, "")
        self.assertEqual(apply_bundle(self.bundle).returncode, 0)

    def test_pods_are_not_sent_to_nodes_that_nobody_makes(self):
        """All Deployments were patched: their pods stayed Pending, and old ones went."""
        bundle = self.folder / "services"
        self.assertEqual(export(ROOT / "scenarios/examples/shared-inference.yaml", "shared", "bundle", bundle).returncode, 0)
        nodes = "get nodes -l eks.amazonaws.com/nodegroup=t4 --ignore-not-found -o"
        refused = apply_bundle(bundle, absent="t4")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("no node has eks.amazonaws.com/nodegroup=t4, and no NodePool makes such: CLUSTER_NAME=... ", refused.stderr)
        self.assertIn("apply.sh --karpenter makes the NodePools, eksctl.yaml the node groups\n", refused.stderr)
        config = '{"nvidia.com/device-plugin.config":"t4-timeslicing4","team":"voice"}'
        self.assertEqual(apply_bundle(bundle, absent=nodes, template=config).returncode, 0)
        for template in ("", config.replace("slicing4", "slicing2")):  # a NodePool whose nodes share otherwise, if at all
            refused = apply_bundle(bundle, absent=nodes, template=template)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn("NodePool t4 makes nodes without nvidia.com/device-plugin.config=t4-timeslicing4: CLUSTER_NAME=",
                          refused.stderr)
        self.assertEqual(apply_bundle(bundle, "--karpenter", absent=nodes, CLUSTER_NAME="c").returncode, 0)

    def test_a_kubectl_that_fails_says_so(self):
        """What it could not answer was taken for "no node has it"."""
        bundle = self.folder / "services"
        self.assertEqual(export(ROOT / "scenarios/examples/shared-inference.yaml", "shared", "bundle", bundle).returncode, 0)
        for asked in ("get nodes -l eks.amazonaws.com/nodegroup=t4 --", "instance-type!=", "pci-10de.present=true,"):
            self.write_stubs(f"""#!/bin/bash
case "$*" in
*'{asked}'*) echo forbidden >&2; exit 1 ;;
*) echo kubectl "$@" ;;
esac
""")
            stopped = subprocess.run(["bash", str(bundle / "apply.sh")], capture_output=True, text=True, check=False,
                                     env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
            self.assertEqual((stopped.returncode, stopped.stdout, stopped.stderr), (1, "", "forbidden\n"), asked)

    def test_a_device_plugin_of_somebody_elses_stops_it(self):
        """It installed a second one beside the manifest that NVIDIA's README has: two on each node."""
        self.write_stubs("""#!/bin/bash
case "$*" in
"get daemonsets --all-namespaces "*)
  printf 'kube-system kube-proxy eks/kube-proxy:v1\nkube-system own nvcr.io/nvidia/k8s-device-plugin:v0.17.1\n' ;;
*notin*|*instance-type*) ;;
*) echo kubectl "$@" ;;
esac
""")
        stopped = subprocess.run(["bash", str(self.bundle / "apply.sh")], capture_output=True, text=True, check=False,
                                 env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual((stopped.returncode, stopped.stdout), (1, ""))
        self.assertIn("DaemonSet own in namespace kube-system runs a device plugin as well", stopped.stderr)

    def test_nodes_without_gpus_of_its_node_pools_stay(self):
        """karpenter.yaml gave their NodePool one type with GPUs: Karpenter drained them."""
        self.write_stubs("""#!/bin/bash
case "$*" in
*instance-type!=*) ;;
*"in ($POOL)"*"!karpenter.k8s.aws/instance-gpu-count,"*) echo node/cpu-1 ;;
*notin*) ;;
*dry-run=server*) cat >/dev/null; [[ -z $REFUSED ]] || { echo "$REFUSED" >&2; exit 1; } ;;
*"-f -") cat >/dev/null ;;
*) echo kubectl "$@" ;;
esac
""")
        objects = yaml.safe_load_all((self.bundle / "karpenter.yaml").read_text(encoding="utf-8"))
        pool = next(one["metadata"]["name"] for one in objects if one["kind"] == "NodePool")

        def applied(*arguments, name=pool, refused=""):
            return subprocess.run(["bash", str(self.bundle / "apply.sh"), *arguments], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "CLUSTER_NAME": "c", "POOL": name,
                                       "REFUSED": refused})
        stopped = applied("--karpenter")
        self.assertEqual((stopped.returncode, stopped.stdout), (1, ""))
        self.assertIn("which have none and would go:\nnode/cpu-1: ", stopped.stderr)
        self.assertEqual(applied().returncode, 0)
        self.assertEqual(applied("--karpenter", name="others").returncode, 0)
        # Without NodeOverlay's definition it stopped halfway, after the plugin and the labels.
        refused = applied("--karpenter", name="others", refused='no matches for kind "NodeOverlay"')
        self.assertEqual((refused.returncode, refused.stdout, refused.stderr), (1, "", 'no matches for kind "NodeOverlay"\n'))

    def test_configs_of_other_nodes_stay_in_the_release(self):
        """It stopped on the very cluster that advise had read: its nodes were to be drained before there were new ones."""
        self.write_stubs("""#!/bin/bash
case "$*" in
*"!nvidia.com/"*) ;;
*notin*) printf 'ts4\\nts4\\n' ;;
*instance-type*) ;;
*"get daemonset"*) echo -n own-configs ;;
*"get configmap own-configs "*) echo -n "$CONFIG" ;;
*) echo kubectl "$@" ;;
esac
""")

        def applied(config):
            return subprocess.run(["bash", str(self.bundle / "apply.sh")], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "CONFIG": config})
        stopped = applied("")
        self.assertEqual((stopped.returncode, stopped.stdout), (1, ""))
        self.assertIn("nodes use config ts4 of the plugin's, which neither nvdp-values.yaml nor the release has", stopped.stderr)
        done = applied("version: v1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" -f nvdp-values.yaml --set-file config.map.ts4=kept-configs/ts4\n", done.stdout)
        self.assertEqual((self.bundle / "kept-configs/ts4").read_text(encoding="utf-8"), "version: v1\n")

    def test_nodes_of_other_pools_without_a_config_keep_their_default(self):
        """They got that of the values: finetune's next pod stayed Pending on nodes that shared GPUs."""
        self.write_stubs("""#!/bin/bash
case "$*" in
*"pci-10de.present=true,!nvidia.com/device-plugin.config,"*) echo node/other ;;
*notin*|*instance-type*) ;;
*DEFAULT_CONFIG*) echo -n "$DEFAULT" ;;
*"get daemonset"*) echo -n own-configs ;;
*"get configmap own-configs "*go-template*) echo -n "$NAMES" ;;
*"get configmap own-configs "*) [[ -z $NAMES ]] || echo -n "version: v1 # own" ;;
*) echo kubectl "$@" ;;
esac
""")
        for default, names, kept, text in (("ts4", "exclusive ts4 ", "ts4", "version: v1 # own\n"),
                                           ("", "exclusive default ", "default", "version: v1 # own\n"),
                                           ("", "alone ", "alone", "version: v1 # own\n"),
                                           ("", "", "no-label", "version: v1\n")):
            done = subprocess.run(["bash", str(self.bundle / "apply.sh")], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "DEFAULT": default,
                                       "NAMES": names})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f" -f nvdp-values.yaml --set config.default={kept} --set-file config.map.{kept}=kept-configs/{kept}\n",
                          done.stdout)
            self.assertEqual((self.bundle / "kept-configs" / kept).read_text(encoding="utf-8"), text)


class Rollback(Folder):
    """rollback.sh --karpenter, beside a server that has one of the NodePools already."""
    KUBECTL = """#!/bin/bash
case "$*" in
*" -o name -f -") cat >/dev/null; printf '%s\\n' $THERE ;;
*"-o yaml -f -") cat >/dev/null; echo 'kind: NodePool' ;;
*"-o name -f karpenter-before.yaml") echo nodepool.karpenter.sh/own ;;
*) echo kubectl "$@" >>"$CALLS"
   case "$*" in *"-f -") cat >/dev/null ;; esac ;;
esac
"""

    def script(self, name, *arguments, there="", code=0):
        done = subprocess.run(["bash", str(self.folder / "bundle" / name), *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "THERE": there,
                                   "CALLS": str(self.folder / "calls"), "CLUSTER_NAME": "c"})
        self.assertEqual(done.returncode, code, done.stderr)
        calls = self.folder / "calls"
        said = calls.read_text(encoding="utf-8") if calls.exists() else ""
        calls.unlink(missing_ok=True)
        return said, done.stderr

    def setUp(self):
        super().setUp()
        self.assertEqual(export(ROOT / EXAMPLE, "after", "bundle", self.folder / "bundle").returncode, 0)
        for name, text in (("kubectl", self.KUBECTL), ("helm", "#!/bin/sh\necho '{\"revision\": 1} --reset-then-reuse-values'\n")):
            (self.folder / name).write_text(text, encoding="utf-8")
            (self.folder / name).chmod(0o755)

    def test_what_was_there_comes_back_and_the_rest_goes_at_once(self):
        """It deleted NodePools that were the user's, one after the other, the node class first."""
        self.script("apply.sh", "--karpenter", there="nodepool.karpenter.sh/own")
        said, _ = self.script("rollback.sh", "--karpenter",
                              there="ec2nodeclass.karpenter.k8s.aws/gpu nodepool.karpenter.sh/own nodepool.karpenter.sh/new")
        self.assertIn("kubectl apply -f karpenter-before.yaml\n", said)
        self.assertIn("kubectl delete --ignore-not-found ec2nodeclass.karpenter.k8s.aws/gpu nodepool.karpenter.sh/new\n", said)

    def test_what_apply_did_not_do_is_not_taken_back(self):
        self.script("apply.sh", there="nodepool.karpenter.sh/own")
        said, told = self.script("rollback.sh", "--karpenter", there="nodepool.karpenter.sh/own")
        self.assertNotIn("nodepool", said)
        self.assertIn("skipped: apply.sh --karpenter", told)

    def test_the_release_and_deployments_go_back_to_what_there_was(self):
        """The release went one revision back after two apply.sh, and a second rollback.sh went forward again."""
        shutil.rmtree(self.folder / "bundle")
        self.assertEqual(export(ROOT / SHARED, "shared", "bundle", self.folder / "bundle").returncode, 0)
        helm = """#!/bin/bash
case "$*" in
list*) echo "$LISTED" ;;
"upgrade --help") echo --reset-then-reuse-values ;;
*) echo helm "$@" >>"$CALLS" ;;
esac
"""
        (self.folder / "helm").write_text(helm, encoding="utf-8")
        (self.folder / "kubectl").write_text("""#!/bin/bash
case "$*" in
*instance-type*|*notin*) ;;
*"get nodes"*"-o name") echo node/n ;;
*"{.spec.paused}"*) echo "${ROLLS-web  RollingUpdate}" ;;
*"label node "*) exit 1 ;;
*" patch "*) [[ -e patched-before ]] && echo 'patched (no change)' || echo patched ;;
*) echo kubectl "$@" >>"$CALLS" ;;
esac
""", encoding="utf-8")
        for listed, back in (('[{"name":"nvdp","revision":"3"}]', "helm rollback nvdp 3 -n "), ("[]", "helm uninstall nvdp -n ")):
            _, told = self.script("rollback.sh", code=1)
            self.assertIn("apply.sh of this folder has not been run, or was taken back", told)
            with unittest.mock.patch.dict(os.environ, LISTED=listed):
                applied, _ = self.script("apply.sh")
            self.assertRegex(applied, r"rollout status deployment/\S+ --timeout=\d{3}s\n$")
            with unittest.mock.patch.dict(os.environ, LISTED='[{"name":"nvdp","revision":"4"}]'):
                self.script("apply.sh")
                said, _ = self.script("rollback.sh")
            self.assertIn(back, said)
            self.assertEqual(said.count("rollout undo"), 1, said)
            said, _ = self.script("rollback.sh", code=1)
            self.assertEqual(said, "")
        # Those that are rolled out by people are not waited for.
        for by_hand in ("web true RollingUpdate", "web  OnDelete"):
            with unittest.mock.patch.dict(os.environ, ROLLS=by_hand, LISTED="[]"):
                applied, told = self.script("apply.sh")
            self.assertNotIn("rollout status deployment", applied)
            self.assertRegex(told, r"by hand: deployment \S+ in namespace default is rolled out when you say so")
        with unittest.mock.patch.dict(os.environ, LISTED="[]"):
            self.script("rollback.sh")
        # A Deployment that was as the patch has it made no revision; what was undone before a failure is not undone again.
        (self.folder / "bundle/patched-before").touch()
        self.script("apply.sh")
        self.assertNotIn("rollout undo", self.script("rollback.sh")[0])
        (self.folder / "bundle/patched-before").unlink()
        self.script("apply.sh")
        (self.folder / "helm").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        said, told = self.script("rollback.sh", code=1)
        self.assertIn("rollout undo", said)
        # Nodes that went back to a config which the release had not yet lost their GPUs.
        self.assertNotIn("node/n", told)
        (self.folder / "helm").write_text(helm, encoding="utf-8")
        with unittest.mock.patch.dict(os.environ, LISTED='[{"name":"nvdp","revision":"1"}]'):
            said, _ = self.script("rollback.sh")
        self.assertNotIn("rollout undo", said)
        self.assertIn("helm uninstall nvdp", said)


# MPS in slices, which the device plugin has not: DRA beside mig-manager.
MPS_IN_MIG = """
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: slices}
spec:
  until: AllJobsDone
  nodePools:
  - name: a100
    instanceType: p4d.24xlarge
    mig: {strategy: mixed, config: all-1g.5gb}
    devicePlugin: {version: v1, sharing: {mps: {resources: [{name: nvidia.com/mig-1g.5gb, replicas: 2}]}}}
  workloads:
  - {name: train, kind: Job, count: 1, podTemplate: {resources: {limits: {nvidia.com/mig-1g.5gb: 1}}},
     gpuMemory: {allocator: OnDemand, resident: 1000Mi}, work: {units: 10}, measured: {device: A100-SXM4-40GB, unitTime: 60s, gpuBusy: 40%}}
"""


class Operator(Folder):
    """apply.sh and rollback.sh --gpu-operator, beside a ClusterPolicy with a driver of its own."""
    TOOLS = {"kubectl": """#!/bin/bash
case "$*" in
*"get crd clusterpolicies"*) [[ -z $RELEASE ]] || echo crd ;;
*"get clusterpolicies.nvidia.com -o name") echo clusterpolicy.nvidia.com/cluster-policy ;;
*release-name}) echo -n "${RELEASE#none}" ;;
*release-namespace}) echo -n gpu ;;
*.driver.enabled}|*.toolkit.enabled}) echo -n true ;;
*devicePlugin.config.name}) echo -n "$CONFIGS" ;;
*mig.config*-o" name") echo -n "$CUT" ;;
*"gpu.present=true,!"*) echo -n "$UNLABELLED" ;;
*jsonpath=*|*notin*|*instance-type*) ;;
"get nodes -l eks.amazonaws.com/nodegroup="*" -o name") echo node/there ;;
"get nodes "*|"get nodepools"*) ;;
*) echo kubectl "$@" >>"$CALLS" ;;
esac
""", "helm": """#!/bin/bash
case "$*" in
list*) echo '[{"name":"nvidia","namespace":"gpu","revision":"3","status":"deployed","chart":"gpu-operator-v24.9.2"}]' ;;
history*) echo '[{"revision":1}]' ;;
"upgrade --help") echo --reset-then-reuse-values ;;
*) echo helm "$@" >>"$CALLS" ;;
esac
"""}

    def setUp(self):
        super().setUp()
        self.bundle_of(str(ROOT / EXAMPLE), "--variant", "after", "--gpu-operator")
        for name, text in self.TOOLS.items():
            (self.folder / name).write_text(text, encoding="utf-8")
            (self.folder / name).chmod(0o755)

    def bundle_of(self, scenario, *more):
        shutil.rmtree(self.folder / "bundle", ignore_errors=True)
        made = run("export", "-f", scenario, "--to", "bundle", *more, "--out", str(self.folder / "bundle"))
        self.assertEqual(made.returncode, 0, made.stderr)

    def script(self, name, release, configs="", cut="", unlabelled=""):
        """`release` is Helm's of the operator that is there: "none" Helm's is not, "" there is no operator."""
        calls = self.folder / "calls"
        calls.unlink(missing_ok=True)
        done = subprocess.run(["bash", str(self.folder / "bundle" / name)], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "RELEASE": release,
                                   "CONFIGS": configs, "CUT": cut, "UNLABELLED": unlabelled, "CALLS": str(calls)})
        return done, calls.read_text(encoding="utf-8") if calls.exists() else ""

    def test_the_release_keeps_its_version_its_values_and_its_driver(self):
        """It got the newest chart without driver and toolkit, which are not in the image of all nodes."""
        done, said = self.script("apply.sh", "nvidia")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("helm upgrade -i nvidia nvidia/gpu-operator -n gpu --version v24.9.2 --reset-then-reuse-values "
                      "--set driver.enabled=true --set toolkit.enabled=true -f gpu-operator-values.yaml\n", said)
        done, said = self.script("rollback.sh", "nvidia")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("helm rollback nvidia 3 -n gpu\n", said)
        done, said = self.script("rollback.sh", "nvidia")
        self.assertEqual((done.returncode, said), (1, ""))
        self.assertIn("operator-before.txt is not here", done.stderr)

    def stops(self, said, release="nvidia", **there):
        done, calls = self.script("apply.sh", release, **there)
        self.assertEqual((done.returncode, calls), (1, ""), done.stderr)
        self.assertIn(said, done.stderr)

    def test_configs_of_somebody_elses_stop_it_before_anything(self):
        """Nodes of other pools got slicewise's."""
        self.stops("from ConfigMap time-slicing-config-all", configs="time-slicing-config-all")
        self.assertEqual(self.script("apply.sh", "nvidia", configs="slicewise-plugin-configs")[0].returncode, 0)

    def test_nodes_of_other_pools_without_the_label_share_nothing(self):
        values = yaml.safe_load((self.folder / "bundle/gpu-operator-values.yaml").read_text(encoding="utf-8"))
        self.assertEqual(values["devicePlugin"]["config"]["default"], "")

    def test_nodes_of_others_that_are_cut_stop_layouts(self):
        self.bundle_of(str(ROOT / MIG), "--variant", "mixed", "--gpu-operator")
        self.stops("cut by MIG", cut="node/other")

    def test_values_of_a_new_operator_are_for_none_that_is_there(self):
        """Lists and, of DRA, the device plugin of all nodes were replaced."""
        (self.folder / "slices.yaml").write_text(MPS_IN_MIG, encoding="utf-8")
        for scenario, said in (((str(ROOT / MIG), "--variant", "mixed"), "export again with --gpu-operator"),
                               ((str(self.folder / "slices.yaml"),), "deploy.device-plugin=false")):
            with self.subTest(scenario=scenario):
                self.bundle_of(*scenario)
                self.stops(said)
                done, calls = self.script("apply.sh", "")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("helm upgrade -i gpu-operator nvidia/gpu-operator -n gpu-operator --version v26", calls)
                # Once more: the operator is its own.
                self.assertEqual(self.script("apply.sh", "nvidia")[0].returncode, 0)
                done, calls = self.script("rollback.sh", "nvidia")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("helm uninstall gpu-operator -n gpu-operator\n", calls)

    def test_nodes_of_other_pools_without_the_label_stop_a_default(self):
        self.assertEqual(self.script("apply.sh", "nvidia", unlabelled="node/other")[0].returncode, 0)  # the overlay has none
        self.bundle_of(str(ROOT / MIG), "--variant", "mixed")
        self.stops("node/other: label them with a config first", release="", unlabelled="node/other")

    def test_an_overlay_needs_an_operator(self):
        self.stops("export without --gpu-operator", release="")

    def test_a_policy_that_helm_does_not_keep_stops_it_before_anything(self):
        done, said = self.script("apply.sh", "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("merge gpu-operator-values.yaml into the values of what installs it", done.stderr)
        self.assertEqual(said, "")


QUEUED = """
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: queued}
spec:
  until: AllJobsDone
  nodePools: [{name: gpu, instanceType: g4dn.12xlarge, nodes: 1}]
  resourceFlavors: [{name: t4}]
  clusterQueues:
  - name: research
    resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: t4, resources: [{name: nvidia.com/gpu, nominalQuota: 2}]}]}]
  workloads:
  - {name: train, kind: Job, count: 4, queue: research, podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}},
     gpuMemory: {allocator: OnDemand, resident: 5000Mi}, work: {units: 10}, measured: {device: T4, unitTime: 60s, gpuBusy: 40%}}
"""


class OptionsOfQueuedJobs(Folder):
    """A plan is without quotas; what it writes goes to a cluster that has them."""
    def setUp(self):
        super().setUp()
        (self.folder / "q.yaml").write_text(QUEUED, encoding="utf-8")
        made = run("plan", "q.yaml", "--instances", "g4dn.12xlarge", "--strategies", "mps", "--replicas", "2", "--no-flips",
                   "--no-risk", "--no-headroom", "-q", "-o", "json", "--out", "plan.json", cwd=self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)

    def export(self, kind, *more):
        return run("export", "plan.json#1", "--to", kind, *more, cwd=self.folder)

    def test_pods_ask_for_what_their_queue_covers(self):
        """They asked for nvidia.com/gpu.shared, and Kueue never admitted one."""
        patch = self.export("pod-patch")
        self.assertEqual(patch.returncode, 0, patch.stderr)
        self.assertIn("nvidia.com/gpu: 1\n", patch.stdout)
        self.assertNotIn("gpu.shared", patch.stdout)
        self.assertIn("Planned without quotas", patch.stdout)
        self.assertIn("renameByDefault: false", self.export("helm-values").stdout)

    def test_queues_that_were_not_simulated_are_not_exported_as_such(self):
        refused = self.export("kueue", "--out", str(self.folder / "k"))
        self.assertEqual(refused.returncode, UNFIT)
        self.assertIn("simulated without the quotas of its clusterQueues", refused.stderr)

    def test_the_scenario_of_an_option_is_what_was_planned(self):
        text = self.export("scenario").stdout
        self.assertNotIn("queue: research", text)
        ran = run("run", "-f", "-", "-o", "json", stdin=text, cwd=self.folder)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_bundles_say_that_jobs_need_their_label(self):
        """Without it all start at once, which was not simulated."""
        made = run("export", "q.yaml", "--to", "bundle", "--out", "b", cwd=self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        for name in ("apply.sh", "VERIFY.md", "pods/default-train.yaml"):
            self.assertIn("queue-name", (self.folder / "b" / name).read_text(encoding="utf-8"), name)


class Kueue(Folder):
    def test_quotas_are_what_was_simulated(self):
        """4 V100 with 10 places each, and the CPU of a p3.8xlarge beside its DaemonSets."""
        self.assertEqual(export(ROOT / EXAMPLE, "after", "kueue", self.folder / "q").returncode, 0)
        objects = documents(self.folder / "q/kueue.yaml")
        queue = next(o for o in objects if o["kind"] == "ClusterQueue")
        group, = queue["spec"]["resourceGroups"]
        flavor, = group["flavors"]
        quota = {r["name"]: r["nominalQuota"] for r in flavor["resources"]}
        self.assertEqual(quota["nvidia.com/gpu"], "40")
        shown = json.loads(run("run", "-f", EXAMPLE, "--variant", "after", "--replications", "1",
                               "-o", "json").stdout)["variants"][0]["nodePools"][0]
        asked = round(sum(d["cpus"] for d in shown["daemonSets"]) * 1000)
        self.assertEqual(asked, 150)
        self.assertEqual(quota["cpu"], f"{31850 - asked}m")
        self.assertEqual(group["coveredResources"], sorted(quota))
        component, = documents(self.folder / "q/kustomization.yaml")
        patch = yaml.safe_load(component["patches"][0]["patch"])
        self.assertEqual((patch["metadata"]["name"], patch["metadata"]["labels"]),
                         ("cifar10-1", {"kueue.x-k8s.io/queue-name": "slicewise"}))
        self.assertEqual(len(component["patches"]), 20)

    def test_flavors_have_what_jobs_select(self):
        """Kueue drops what a Job selects by that no flavor has, and would take any."""
        mixed = self.folder / "mixed.yaml"
        run("init", "--template", "mixed-cluster", "--out", str(mixed))
        self.assertEqual(export(mixed, "", "kueue", self.folder / "q").returncode, 0)
        labels = {o["metadata"]["name"]: o["spec"]["nodeLabels"] for o in documents(self.folder / "q/kueue.yaml")
                  if o["kind"] == "ResourceFlavor"}
        self.assertEqual(labels["train"]["node.kubernetes.io/instance-type"], "g6e.12xlarge")
        self.assertEqual(labels["batch"]["node.kubernetes.io/instance-type"], "g4dn.12xlarge")

    def test_quotas_are_those_of_any_layout(self):
        """What a pool offers later is a quota as well."""
        change = "scenarios/examples/mig-change.yaml"
        self.assertEqual(export(ROOT / change, "change-at-30m", "kueue", self.folder / "q").returncode, 0)
        queue = next(o for o in documents(self.folder / "q/kueue.yaml") if o["kind"] == "ClusterQueue")
        quota = {r["name"]: r["nominalQuota"] for r in queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
                 if r["name"].startswith("nvidia.com/mig-")}
        self.assertNotIn("0", quota.values())

    def test_an_object_is_admitted_as_it_was_simulated(self):
        """As a whole, or with as few of its pods as it says."""
        scenario = self.folder / "shards.yaml"
        scenario.write_text("""apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: shards}
spec:
  nodePools: [{name: g5, instanceType: g5.12xlarge}]
  workloads:
  - {name: whole, kind: Job, count: 4, partOf: whole, work: {units: 2},
     podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}},
     measured: {device: A10G, unitTime: 10s, gpuBusy: 60%}}
  - {name: part, kind: Job, count: 4, partOf: part, minParallelism: 3, work: {units: 2},
     podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}},
     measured: {device: A10G, unitTime: 10s, gpuBusy: 60%}}
""", encoding="utf-8")
        self.assertEqual(export(scenario, "", "kueue", self.folder / "q").returncode, 0)
        component, = documents(self.folder / "q/kustomization.yaml")
        given = [yaml.safe_load(p["patch"])["metadata"].get("annotations") for p in component["patches"]]
        self.assertEqual(given, [None, {"kueue.x-k8s.io/job-min-parallelism": "3"}])

    def test_jobs_that_do_not_fit_at_once_are_admitted_in_part(self):
        """Kueue takes all pods of a Job or none: 12 never fitted on 4 GPUs."""
        scenario = self.folder / "twelve.yaml"
        scenario.write_text("""apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: twelve}
spec:
  nodePools: [{name: g5, instanceType: g5.12xlarge}]
  workloads:
  - name: low
    kind: Job
    count: 12
    restartPolicy: Never  # else each is a Job of its own
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    work: {units: 2}
    measured: {device: A10G, unitTime: 10s, gpuBusy: 60%}
  - name: one
    kind: Job
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    work: {units: 2}
    measured: {device: A10G, unitTime: 10s, gpuBusy: 60%}
""", encoding="utf-8")
        self.assertEqual(export(scenario, "", "kueue", self.folder / "q").returncode, 0)
        component, = documents(self.folder / "q/kustomization.yaml")
        given = [yaml.safe_load(p["patch"])["metadata"].get("annotations") for p in component["patches"]]
        # Of a single pod Kueue's webhook refuses it.
        self.assertEqual(given, [{"kueue.x-k8s.io/job-min-parallelism": "1"}, None])
        self.assertEqual(run("export", "-f", str(scenario), "--to", "pod-patch", "--out",
                             str(self.folder / "pods.yaml")).returncode, 0)
        low = documents(self.folder / "pods.yaml")[0]
        low["metadata"].update(labels={"kueue.x-k8s.io/queue-name": "slicewise"}, annotations=given[0])
        (self.folder / "q/low.yaml").write_text(yaml.safe_dump(low), encoding="utf-8")
        self.assertNotIn("JOB_NEVER_FITS", run("check", str(self.folder / "q")).stdout)

    def test_services_are_left_their_part(self):
        self.assertEqual(export(ROOT / SHARED, "shared", "kueue", self.folder / "q").returncode, 0)
        queue = next(o for o in documents(self.folder / "q/kueue.yaml") if o["kind"] == "ClusterQueue")
        quota = {r["name"]: r["nominalQuota"]
                 for r in queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]}
        self.assertEqual(quota["nvidia.com/gpu.shared"], "2")  # of 4, two are the classifier's


class Alerts(Folder):
    def rules(self, example, variant):
        file = self.folder / "rule.yaml"
        result = export(ROOT / example, variant, "prometheus-rule", file)
        self.assertEqual(result.returncode, 0, result.stderr)
        return documents(file)[0]["spec"]["groups"]

    def test_limits_are_objectives_and_what_was_simulated(self):
        groups = self.rules(SHARED, "shared")
        rules = {rule["alert"]: rule for rule in groups[0]["rules"]}
        run_of = json.loads(run("run", "-f", SHARED, "--variant", "shared", "--replications", "1",
                                "-o", "json").stdout)["variants"][0]
        self.assertTrue(rules["SlicewisePodsPending"]["expr"].endswith(f"> {run_of['pods']['pendingMax']}"))
        self.assertIn('nv_inference_request_summary_us{namespace="default",pod=~"classifier-.*",'
                      'quantile="0.99"}', rules["SlicewiseObjectiveMissed"]["expr"])
        self.assertIn("SlicewiseGpuMemory", rules)

    def test_they_fire_above_the_limit_and_not_at_it(self):
        """Real Prometheus: promtool test rules."""
        if shutil.which("promtool") is None:
            skip_without("promtool")
        groups = self.rules(SHARED, "shared")
        memory = next(r for r in groups[0]["rules"] if r["alert"] == "SlicewiseGpuMemory")
        most = int(memory["expr"].rsplit("> ", 1)[1])
        (self.folder / "rules.yaml").write_text(json.dumps({"groups": groups}), encoding="utf-8")
        labels = {"Hostname": "node", "gpu": "0", "modelName": "Tesla T4"}
        series = "DCGM_FI_DEV_FB_USED{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "}"
        for value, fires in ((most, False), (most + 1, True)):
            filled = {"value": value, "labels": labels}
            text = memory["annotations"]["description"].replace("{{ $value }}", str(value)) \
                .replace("{{ $labels.gpu }}", "0").replace("{{ $labels.Hostname }}", "node")
            expected = [{"exp_labels": {**memory["labels"], "Hostname": "node", "gpu": "0"},
                         "exp_annotations": {**memory["annotations"], "description": text}}]
            tests = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [{
                "interval": "1m", "input_series": [{"series": series, "values": f"{filled['value']}x20"}],
                "alert_rule_test": [{"eval_time": "10m", "alertname": "SlicewiseGpuMemory",
                                     "exp_alerts": expected if fires else []}]}]}
            (self.folder / "tests.yaml").write_text(json.dumps(tests), encoding="utf-8")
            out = subprocess.run(["promtool", "test", "rules", "tests.yaml"], cwd=self.folder,
                                 capture_output=True, text=True, check=False)
            self.assertEqual(out.returncode, 0, out.stdout + out.stderr)


if __name__ == "__main__":
    main()
