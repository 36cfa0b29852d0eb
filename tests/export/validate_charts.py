"""Renders NVIDIA's charts with the exported values, and looks at what would be applied."""

import json
import re
import shlex
import subprocess
import sys

from validators import Problems, load_all_yaml, load_yaml, pinned, skip, tool, validators

RELEASE_DAEMONSET = "nvdp-nvidia-device-plugin"
# By options and values: of a chart's hundred cases, thirty differ in more than their comments.
RENDERED = {}
CHART_LABELS = {"feature.node.kubernetes.io/pci-10de.present", "nvidia.com/gpu.present"}


def cases(exports, version):
    found = sorted(path for path in (exports / version).iterdir() if path.is_dir())
    if not found:
        sys.exit(f"{exports / version} holds no exports")
    return found


def documented_helm_command(text):
    """The `helm upgrade -i` of the comments, as words."""
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("#")]
    start = next(i for i, line in enumerate(lines) if line.startswith("helm upgrade -i"))
    end = start
    while lines[end].endswith("\\"):
        end += 1
    return shlex.split(" ".join(line.rstrip("\\") for line in lines[start : end + 1]))


def rendered(command, chart, version, directory):
    """Runs the documented command as `helm template` on the chart's own files."""
    expected = ["helm", "upgrade", "-i", "nvdp", "nvdp/nvidia-device-plugin", "--version", version]
    if command[:7] != expected:
        sys.exit(f"{directory}: documented command is {command}")
    options = tuple(word for word in command[7:] if word != "--create-namespace")
    values = {word: json.dumps(load_yaml((directory / word).read_text())) for word in options
              if word.endswith(".yaml")}
    if (options, *values.values()) not in RENDERED:
        out = subprocess.run([tool("bin", "helm"), "template", "nvdp", chart, *options], cwd=directory,
                             capture_output=True, text=True, check=False)
        if out.returncode:
            sys.exit(f"{directory}: helm template: {out.stderr}")
        RENDERED[options, *values.values()] = [d for d in load_all_yaml(out.stdout) if d]
    return RENDERED[options, *values.values()]


def unknown_keys(values, known, path=""):
    """Keys of ours that the chart's values.yaml lacks: Helm ignores them without a word."""
    for key, value in values.items():
        here = f"{path}{key}"
        if key not in known:
            yield here
        elif isinstance(value, dict) and known[key]:  # an empty mapping takes any key
            yield from unknown_keys(value, known[key], here + ".")


def named(documents, kind, name):
    return next((d for d in documents if d["kind"] == kind and d["metadata"]["name"] == name), None)


def environment(container):
    return {entry["name"]: entry.get("value") for entry in container.get("env", [])}


def check_daemonsets(problems, where, documents, text, default_key):
    mentioned = set(re.findall(r"daemonset/(\S+)", text)) | {RELEASE_DAEMONSET}
    for name in sorted(mentioned):
        problems.check(named(documents, "DaemonSet", name), where, f"no DaemonSet {name}")
    plugin = named(documents, "DaemonSet", RELEASE_DAEMONSET)
    if plugin is None:
        return
    pod = plugin["spec"]["template"]["spec"]
    for container in pod["initContainers"]:
        got = environment(container)["DEFAULT_CONFIG"]
        problems.check(got == default_key, where, f"DEFAULT_CONFIG is {got}, not {default_key}")
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    labels = {e["key"] for t in terms["nodeSelectorTerms"] for e in t["matchExpressions"]}
    problems.check(CHART_LABELS <= labels, where, f"affinity asks for {sorted(labels)} only")
    gfd = [d for d in documents if d["kind"] == "DaemonSet"
           and d["metadata"]["name"].endswith("gpu-feature-discovery")]
    problems.check(len(gfd) == 1, where, "no GPU Feature Discovery")
    nfd = [d for d in documents if d["kind"] == "DaemonSet"
           and d["metadata"]["name"].endswith("node-feature-discovery-worker")]
    problems.check(len(nfd) == 1, where, "no Node Feature Discovery")


def check_node_selector(problems, where, documents, wanted):
    pod = named(documents, "DaemonSet", RELEASE_DAEMONSET)["spec"]["template"]["spec"]
    got = pod.get("nodeSelector", {})
    problems.check(got == wanted, where, f"nodeSelector is {got}, not {wanted}")


def check_mps(problems, where, documents, root):
    daemon = named(documents, "DaemonSet", RELEASE_DAEMONSET + "-mps-control-daemon")
    problems.check(daemon, where, "no MPS control daemon")
    plugin = named(documents, "DaemonSet", RELEASE_DAEMONSET)["spec"]["template"]["spec"]
    volumes = {v["name"]: v.get("hostPath", {}).get("path") for v in plugin["volumes"]}
    problems.check(volumes.get("mps-root") == root, where, f"MPS root: {volumes}")


def check_tolerations(problems, where, documents, values):
    """What the values say reaches the pods of each DaemonSet."""
    for document in documents:
        if document["kind"] != "DaemonSet":
            continue
        is_worker = document["metadata"]["name"].endswith("node-feature-discovery-worker")
        part = values.get("nfd", {}).get("worker", {}) if is_worker else values
        wanted = part.get("tolerations", [])
        got = document["spec"]["template"]["spec"].get("tolerations", [])
        problems.check(all(one in got for one in wanted), where, f"{document['metadata']['name']} tolerates {got}")
        tainted = "tainted" in where
        problems.check(not tainted or any(one["key"] == "dedicated" for one in got), where, f"taints: {got}")


def check_values(problems, directory, chart, version):
    text = (directory / "nvdp-values.yaml").read_text()
    values = load_yaml(text)
    where = str(directory / "nvdp-values.yaml")
    for key in unknown_keys(values, load_yaml((chart / "values.yaml").read_text())):
        problems.check(False, where, f"the chart has no value {key}")
    documents = rendered(documented_helm_command(text), chart, version, directory)
    check_daemonsets(problems, where, documents, text, values["config"]["default"])
    check_node_selector(problems, where, documents, values.get("nodeSelector", {}))
    check_tolerations(problems, where, documents, values)
    if "mps" in values:
        check_mps(problems, where, documents, values["mps"]["root"])
    config = named(documents, "ConfigMap", RELEASE_DAEMONSET + "-configs")
    problems.check(config and config["data"] == values["config"]["map"], where,
                   "the rendered ConfigMap differs from config.map")
    problems.check(values["config"]["default"] in values["config"]["map"], where,
                   "config.default is not a key of config.map")
    problems.check(values["gfd"]["enabled"] is True, where, "gfd.enabled")


def check_config_map(problems, directory, chart, version):
    text = (directory / "nvdp-configs.yaml").read_text()
    config = load_yaml(text)
    where = str(directory / "nvdp-configs.yaml")
    command = documented_helm_command(text)
    documents = rendered(command, chart, version, directory)
    namespace = command[command.index("-n") + 1]
    default_key = next(w for w in command if w.startswith("config.default=")).partition("=")[2]
    problems.check(default_key in config["data"], where, f"{default_key} is not a key of the map")
    problems.check(config["metadata"]["namespace"] == namespace, where, "another namespace")
    check_daemonsets(problems, where, documents, text, default_key)
    plugin = named(documents, "DaemonSet", RELEASE_DAEMONSET)["spec"]["template"]["spec"]
    mounted = [v["configMap"]["name"] for v in plugin["volumes"] if "configMap" in v]
    problems.check(mounted == [config["metadata"]["name"]], where, f"the pod mounts {mounted}")
    values = load_yaml((directory / "nvdp-values.yaml").read_text())
    check_node_selector(problems, where, documents, values.get("nodeSelector", {}))
    problems.check(list(config["data"].values()) == list(values["config"]["map"].values()), where,
                   "ConfigMap and Helm values differ")


def run_helm(exports, version):
    problems = Problems()
    chart = validators() / "charts" / version
    if not chart.is_dir():
        skip(f"chart {version} is missing",
             required=version not in pinned()["CHART_VERSIONS_OPTIONAL"].split())
    for directory in cases(exports, version):
        check_values(problems, directory, chart, version)
        check_config_map(problems, directory, chart, version)
    problems.exit(minimum=10)
