#!/usr/bin/env python3
"""Checks exported files with the tools that will read them.

  validate_exports.py helm    EXPORTS CHART_VERSION   helm template on the real chart
  validate_exports.py parser  EXPORTS                 the device plugin's own config parser
  validate_exports.py configs DIRECTORY               the same over accepted/, refused/, ...
  validate_exports.py schema  EXPORTS                 Kubernetes' object schemas
  validate_exports.py crds    EXPORTS                 CRDs of Karpenter and KEDA, CEL included
  validate_exports.py gitops  EXPORTS                 kustomize, and what Argo CD and Flux would look for
  validate_exports.py alerts  EXPORTS                 promtool
  validate_exports.py terraform EXPORTS               a parser of HCL, and terraform where it is
  validate_exports.py mig     EXPORTS                 mig-parted's own parser
  validate_exports.py operator EXPORTS                helm template on the GPU Operator's chart
  validate_exports.py scripts EXPORTS                 shellcheck, and TOML of Bottlerocket
  validate_exports.py eksctl EXPORTS                  eksctl's own schema
  validate_exports.py dra EXPORTS                     the DRA driver's strict decoding, and schemas
  validate_exports.py schemas DIRECTORY               what tools/kubernetes_schemas writes now

EXPORTS/<chart version>/<case>/ holds nvdp-values.yaml, nvdp-configs.yaml and pod-patches.yaml as
write_exports left them. The tools come from tools/export_validators. Exit: 0 all good, 1 something
is wrong, 77 a tool is missing (1 with SLICEWISE_REQUIRE_TOOLS=1).
"""

import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from validators import Problems, distinct, load_all_yaml, load_yaml, pinned, skip, tool, validators
from validate_charts import named, run_helm, unknown_keys
from validate_terraform import run_terraform


@functools.cache
def parse(config):
    """(sharing as the plugin understood it, error)."""
    out = subprocess.run([tool("bin", "go_validators"), "plugin"], input=config, capture_output=True,
                         text=True, check=False)
    return (json.loads(out.stdout) if out.returncode == 0 else None), out.stderr.strip()


def check_parsed(problems, where, config):
    parsed, error = parse(config)
    problems.check(parsed is not None, where, f"refused: {error}")
    if parsed is None:
        return
    written = load_yaml(config)
    sharing = written.get("sharing", {})
    mode = {"timeSlicing": "time-slicing", "mps": "mps"}.get(next(iter(sharing), None), "none")
    problems.check(parsed["strategy"] == mode, where, f"{parsed['strategy']} instead of {mode}")
    got = [(r["name"], r["replicas"]) for r in parsed["sharing"].get("resources") or []]
    wanted = [(r["name"] if "/" in r["name"] else "nvidia.com/" + r["name"], r["replicas"])
              for block in sharing.values() for r in block["resources"]]
    problems.check(got == wanted, where, f"the plugin shares {got}, not {wanted}")
    renames = parsed["sharing"].get("renameByDefault", False)
    wanted = any(block["renameByDefault"] for block in sharing.values())
    problems.check(renames == wanted, where, f"renameByDefault is {renames}")
    strategy = written.get("flags", {}).get("migStrategy")
    problems.check(parsed["migStrategy"] == strategy, where, f"migStrategy is not {strategy}")


def run_parser(exports):
    problems = Problems()
    for path in sorted(exports.glob("*/*/nvdp-*.yaml")):
        document = load_yaml(path.read_text())
        configs = document["data"] if document.get("kind") else document["config"]["map"]
        for key, config in configs.items():
            check_parsed(problems, f"{path} {key}", config)
    problems.exit(minimum=10)


def run_configs(directory):
    """Each config file: the plugin accepts or refuses it as the folder's name says."""
    problems = Problems()
    for path in sorted(directory.glob("*/*.yaml")):
        parsed, error = parse(path.read_text())
        refused = path.parent.name == "refused"
        problems.check((parsed is None) == refused, path, error or "accepted by the plugin")
        reason = re.match(r"# plugin: (.*)", path.read_text())
        problems.check(not refused or (reason and reason[1] in error), path, error)
    problems.exit(minimum=10)


def run_schema(exports):
    sys.path.insert(0, str(tool("python", "kubernetes-validate-"
                                + pinned()["KUBERNETES_VALIDATE_VERSION"])))
    import kubernetes_validate  # pylint: disable=import-error,import-outside-toplevel

    kubernetes = ".".join(pinned()["KUBERNETES_VALIDATE_VERSION"].split(".")[:2])
    problems = Problems()
    errors = {}  # by document: chart versions and cases have many alike, and each takes 20 ms

    def error_of(document):
        try:
            kubernetes_validate.validate(document, kubernetes, strict=True)
        except kubernetes_validate.ValidationError as found:
            return found.message
        return None

    def check(where, document):
        text = json.dumps(document, sort_keys=True)
        if text not in errors:
            errors[text] = error_of(document)
        problems.check(errors[text] is None, where, errors[text])

    for path in sorted(exports.glob("*/*/nvdp-configs.yaml")):
        check(path, load_yaml(path.read_text()))
    for path in sorted(exports.glob("*/*/pod-patches.yaml")):
        for patch in load_all_yaml(path.read_text()):
            check(path, completed(patch))
    for path in sorted(exports.glob("*/*/kustomize/priority-classes.yaml")):
        for document in load_all_yaml(path.read_text()):
            check(path, document)
    problems.exit(minimum=10)


def go_validator(*arguments, text=None):
    """(standard output, or None when the reader refuses; its words)."""
    out = subprocess.run([tool("bin", "go_validators"), *arguments], input=text,
                         capture_output=True, text=True, check=False)
    return (out.stdout if out.returncode == 0 else None), out.stderr.strip()


def check_objects(problems, crds, files):
    read, error = go_validator("objects", crds, *files)
    problems.check(read is not None, "objects", error)
    wanted = sum(path.read_text().count("\nkind: ") for path in files)
    problems.check(read is None or int(read) == wanted, "objects", f"{read} of {wanted}")
    problems.checked += wanted


def check_queries(problems, keda_files):
    if shutil.which("promtool") is None:
        skip("promtool is missing")
    rules = [{"record": "x", "expr": trigger["metadata"]["query"]}
             for path in keda_files for document in load_all_yaml(path.read_text())
             for trigger in document["spec"]["triggers"] if trigger["type"] == "prometheus"]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump({"groups": [{"name": "keda", "rules": rules}]}, file)
        file.flush()
        out = subprocess.run(["promtool", "check", "rules", "--lint=none", file.name],
                             capture_output=True, text=True, check=False)
    problems.check(out.returncode == 0, "promtool", out.stderr)
    problems.checked += len(rules)


def run_crds(exports):
    problems = Problems()
    crds = tool("crds", "karpenter-" + pinned()["KARPENTER_VERSION"])
    check_objects(problems, crds, sorted(exports.glob("*/*/*/karpenter.yaml")))
    keda = tool("crds", "keda-" + pinned()["KEDA_VERSION"])
    scaled = sorted(exports.glob("*/*/keda/keda.yaml"))
    check_objects(problems, keda, scaled)
    check_queries(problems, scaled)
    # The validator is able to refuse: a domain that a CEL rule keeps for Karpenter.
    broken = exports / "broken-karpenter.yaml"
    first = next(exports.glob("*/several-pools/karpenter/karpenter.yaml"))
    broken.write_text(first.read_text().replace("node.kubernetes.io/instance-type",
                                                "karpenter.k8s.aws/instance-gpus"))
    read, error = go_validator("objects", crds, broken)
    problems.check(read is None and "is restricted" in error, broken, f"accepted: {error}")
    broken.write_text(next(exports.glob("*/scaled-services/keda/keda.yaml")).read_text()
                      .replace("minReplicaCount: 1", "minReplicaCount: one"))
    read, error = go_validator("objects", keda, broken)
    problems.check(read is None and "minReplicaCount" in error, broken, f"accepted: {error}")
    problems.exit(minimum=20)


def promtool_problem(groups):
    """What promtool says of groups of rules; "" when it takes them."""
    if shutil.which("promtool") is None:
        skip("promtool is missing")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump({"groups": groups}, file)
        file.flush()
        out = subprocess.run(["promtool", "check", "rules", "--lint-fatal", file.name],
                             capture_output=True, text=True, check=False)
    return out.stdout + out.stderr if out.returncode else ""


def run_alerts(exports):
    problems = Problems()
    files = distinct(exports.glob("*/*/prometheus-rule/prometheus-rule.yaml"))
    for path in files:
        groups = load_yaml(path.read_text())["spec"]["groups"]
        said = promtool_problem(groups)
        problems.check(not said, path, said)
        groups[0]["rules"][0]["expr"] += " >"
        problems.check(promtool_problem(groups), path, "a broken expression is accepted")
    problems.exit(minimum=10)


def check_folder(problems, path, folder):
    """What a controller would read of a folder of the repository is there."""
    problems.check(folder.is_dir() and any(folder.iterdir()), path, f"{folder.name} is missing")
    if not (folder / "kustomization.yaml").is_file() or shutil.which("kubectl") is None:
        return
    out = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=False)
    problems.check(out.returncode == 0 and "kind: HelmRelease" in out.stdout, path, out.stderr)
    made = [o for o in load_all_yaml(out.stdout) if o and o["kind"] == "ConfigMap"]
    problems.check(made and load_yaml(made[0]["data"]["values.yaml"]), path, "no values")


def run_gitops(exports):
    problems = Problems()
    applications = sorted(exports.glob("*/*/argocd*/argocd.yaml"))
    for path in applications:
        for document in load_all_yaml(path.read_text()):
            spec = document["spec"]
            for source in spec.get("sources", [spec.get("source")]):
                for values in source.get("helm", {}).get("valueFiles", []):
                    there = path.parent / values.removeprefix("$values/slicewise/")
                    problems.check(there.is_file(), path, f"{values} is missing")
                if "path" in source:
                    check_folder(problems, path,
                                 path.parent / source["path"].removeprefix("slicewise/"))
    for path in sorted(exports.glob("*/*/flux*/flux.yaml")):
        for document in load_all_yaml(path.read_text()):
            if document["kind"] == "Kustomization":
                folder = document["spec"]["path"].removeprefix("./slicewise/")
                check_folder(problems, path, path.parent / folder)
    problems.exit(minimum=20)


def run_mig(exports):
    problems = Problems()
    for path in sorted(exports.glob("*/*/mig-parted/mig-config.yaml")):
        text = path.read_text()
        read, error = go_validator("mig-parted", text=text)
        problems.check(read is not None, path, error)
        names = sorted(load_yaml(text)["mig-configs"])
        problems.check(read is None or json.loads(read) == names, path, f"{read} is not {names}")
        read, error = go_validator("mig-parted", text=text.replace("mig-enabled", "migEnabled"))
        problems.check(read is None, path, "another key is accepted")
    problems.exit(minimum=6)


def check_operator(problems, path, chart):
    values = load_yaml(path.read_text())
    for key in unknown_keys(values, load_yaml((chart / "values.yaml").read_text())):
        problems.check(key.startswith("migManager.config"), path, f"the chart has no value {key}")
    out = subprocess.run([tool("bin", "helm"), "template", "gpu-operator", chart, "-n", "gpu-operator", "-f", path],
                         capture_output=True, text=True, check=False)
    problems.check(out.returncode == 0, path, out.stderr)
    documents = [document for document in load_all_yaml(out.stdout) if document]
    policy = next((d for d in documents if d["kind"] == "ClusterPolicy"), {"spec": {}})["spec"]
    config = policy.get("devicePlugin", {}).get("config", {})
    wanted = values["devicePlugin"]["config"]
    problems.check(config == {"name": wanted["name"], "default": wanted["default"]}, path, config)
    made = named(documents, "ConfigMap", wanted["name"])
    problems.check(made and made["data"] == wanted["data"], path, "another ConfigMap")
    problems.check(values.get("daemonsets", {}).get("tolerations", policy["daemonsets"]["tolerations"])
                   == policy["daemonsets"]["tolerations"], path, "other tolerations")
    problems.check((policy.get("mig") or {}).get("strategy", "") == values["mig"]["strategy"], path, "another MIG strategy")
    for part in ("driver", "toolkit"):
        problems.check(policy.get(part, {}).get("enabled") is False, path, f"{part} is installed")


def run_operator(exports):
    problems = Problems()
    chart = validators() / "charts" / ("gpu-operator-" + pinned()["GPU_OPERATOR_VERSION"])
    if not chart.is_dir():
        skip("the chart of the GPU Operator is missing: the Go module proxy may not serve it",
             required=False)
    for path in sorted(exports.glob("*/*/gpu-operator/gpu-operator-values.yaml")):
        check_operator(problems, path, chart)
    problems.exit(minimum=10)


def run_scripts(exports):
    import tomllib  # pylint: disable=import-outside-toplevel

    problems = Problems()
    for path in sorted(exports.glob("*/*/*/*.toml")):
        table = tomllib.loads(path.read_text())["settings"]["kubelet-device-plugins"]["nvidia"]
        problems.check(table, path, "no settings")
    for path in sorted(exports.glob("*/*/karpenter-bottlerocket/karpenter.yaml")):
        for document in load_all_yaml(path.read_text()):
            if document and document["kind"] == "EC2NodeClass":
                problems.check(tomllib.loads(document["spec"]["userData"]), path, "no settings")
    scripts = [str(path) for path in distinct(exports.glob("*/*/*/*.sh"))]
    for start in range(0, len(scripts), 50):
        out = subprocess.run(["shellcheck", *scripts[start : start + 50]], capture_output=True,
                             text=True, check=False)
        problems.check(out.returncode == 0, "shellcheck", out.stdout)
    problems.exit(minimum=10)


def run_eksctl(exports):
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        skip("python3-jsonschema is missing")
    schema = validators() / "schemas" / f"eksctl-{pinned()['EKSCTL_VERSION']}.json"
    if not schema.is_file():
        skip("the schema of eksctl is missing: the Go module proxy may not serve it",
             required=False)
    reader = jsonschema.Draft7Validator(json.loads(schema.read_text()))
    problems = Problems()
    for path in sorted(exports.glob("*/*/eksctl*/eksctl.yaml")):
        document = load_yaml(path.read_text())
        for error in reader.iter_errors(document):
            problems.check(False, path, error.message)
        for group in document["managedNodeGroups"]:
            problems.check(group["minSize"] <= group["desiredCapacity"] <= group["maxSize"], path,
                           f"sizes of {group['name']}")
        # The schema is able to refuse.
        document["managedNodeGroups"][0]["instanceTyp"] = "g5.xlarge"
        problems.check(not reader.is_valid(document), path, "an unknown key is accepted")
    problems.exit(minimum=20)


def run_dra(exports):
    sys.path.insert(0, str(tool("python", "kubernetes-validate-"
                                + pinned()["KUBERNETES_VALIDATE_VERSION"])))
    import kubernetes_validate  # pylint: disable=import-error,import-outside-toplevel

    kubernetes = ".".join(pinned()["KUBERNETES_VALIDATE_VERSION"].split(".")[:2])
    problems = Problems()
    configured = 0
    for path in distinct(exports.glob("*/*/dra/dra.yaml")):
        read, error = go_validator("dra", str(path))
        problems.check(read is not None, path, error)
        wanted = path.read_text().count("- opaque:")
        problems.check(read is None or int(read) == wanted, path, f"{read} of {wanted}")
        configured += wanted
        for document in load_all_yaml(path.read_text()):
            try:
                kubernetes_validate.validate(document, kubernetes, strict=True)
            except kubernetes_validate.ValidationError as found:
                problems.check(False, path, found.message)
    problems.check(configured >= 3, "dra", f"{configured} configurations")
    for path in distinct(exports.glob("*/*/nos/nos.yaml")):
        for patch in load_all_yaml(path.read_text()):
            patch["spec"]["template"]["spec"].setdefault("containers", [{"name": "main"}])
            try:
                kubernetes_validate.validate(completed(patch), kubernetes, strict=True)
            except kubernetes_validate.ValidationError as found:
                problems.check(False, path, found.message)
    # The driver is able to refuse.
    broken = exports / "broken-dra.yaml"
    first = next(path for path in exports.glob("*/*/dra/dra.yaml") if "interval:" in path.read_text())
    broken.write_text(first.read_text().replace("interval:", "intervals:"))
    read, error = go_validator("dra", str(broken))
    problems.check(read is None and "unknown field" in error, broken, f"accepted: {error}")
    problems.exit(minimum=10)


def merged(patch):
    """As a merge leaves it: null takes a key away."""
    if isinstance(patch, list):
        return [merged(item) for item in patch]
    if not isinstance(patch, dict):
        return patch
    return {key: merged(value) for key, value in patch.items() if value is not None}


def completed(patch):
    """The manifest that a patch would be merged into, for the schema of a whole object."""
    patch = merged(patch)
    labels = {"app": patch["metadata"]["name"]}
    template = patch["spec"]["template"]
    template["metadata"] = {"labels": labels}
    for container in template["spec"]["containers"]:
        container["image"] = "image"
    if patch["kind"] != "Job":
        patch["spec"]["selector"] = {"matchLabels": labels}
    if patch["kind"] == "StatefulSet":
        patch["spec"]["serviceName"] = "users"
    return patch


def run_schemas(directory):
    """The schemas that `check` uses are those of the versions in versions.env."""
    tool("bin", "go_validators")
    problems = Problems()
    with tempfile.TemporaryDirectory() as folder:
        writer = directory.parents[2] / "tools/kubernetes_schemas"
        out = subprocess.run([sys.executable, writer, folder], capture_output=True, text=True,
                             check=False)
        problems.check(out.returncode == 0, writer, out.stderr)
        for path in sorted(pathlib.Path(folder).glob("*.json")):
            problems.check(path.read_text() == (directory / path.name).read_text(), path.name,
                           "run tools/kubernetes_schemas")
    problems.exit(minimum=4)


def main():
    mode, path, *rest = sys.argv[1:]
    run = {"helm": run_helm, "parser": run_parser, "configs": run_configs, "schema": run_schema,
           "crds": run_crds, "mig": run_mig, "operator": run_operator, "scripts": run_scripts,
           "eksctl": run_eksctl, "dra": run_dra, "schemas": run_schemas, "gitops": run_gitops,
           "alerts": run_alerts, "terraform": run_terraform}
    run[mode](pathlib.Path(path), *rest)


if __name__ == "__main__":
    main()
