#!/usr/bin/env python3
"""tools/chart as its users meet it: helm lint, helm template with several values, Kubernetes' object schemas.

    validate_own_chart.py CHART PROGRAM
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from validators import Problems, load_all_yaml, pinned, tool

COPY = {"copy": {"image": "rclone/rclone:1.71", "command": ["rclone", "sync", "/advice", "s3:b/s"],
                 "envFrom": [{"secretRef": {"name": "s3"}}]}}
VALUES = {
    "as it comes": {},
    "with all there is": {**COPY, "prometheus": "http://p:9090", "prometheusTokenSecret": "token",
                          "arguments": ["--set", "workloads.asr.slo.latencyP99=300ms"],
                          "storage": {"storageClass": "efs", "accessMode": "ReadWriteMany"},
                          "metrics": {"serviceMonitor": True}, "nodeSelector": {"a": "b"},
                          "tolerations": [{"key": "k", "operator": "Exists"}]},
    "with little": {"metrics": {"enabled": False}, "dashboard": {"enabled": False}, "existingClaim": "mine",
                    "configMaps": []},
}
REFUSED = {"schedule": {"schedule": ""}, "cluster": {"cluster": "Not a name"}, "a typo": {"promtheus": "http://p"}}


def helm(*words):
    return subprocess.run([tool("bin", "helm"), *words], capture_output=True, text=True,
                          check=False)


def rendered(chart, values):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(values, file)
        file.flush()
        return helm("template", "night", str(chart), "--namespace", "gpu", "--kube-version", "1.36.0", "-f", file.name)


def pods_of(documents):
    for document in documents:
        spec = document.get("spec", {})
        template = spec.get("jobTemplate", {}).get("spec", spec).get("template")
        if template:
            yield document["kind"], template["spec"]


def check_pods(problems, where, documents):
    for kind, pod in pods_of(documents):
        problems.check(pod["securityContext"]["runAsNonRoot"], where, f"{kind} may run as root")
        for container in pod.get("initContainers", []) + pod["containers"]:
            rights = container["securityContext"]
            problems.check(rights["readOnlyRootFilesystem"] and not rights["allowPrivilegeEscalation"]
                           and rights["capabilities"] == {"drop": ["ALL"]}, where, f"{container['name']}: {rights}")


KUBECTL = """#!/bin/sh
echo "$@" >>"$(dirname "$0")/asked"
if [ "$1" = api-resources ]; then echo RESOURCES; else echo '{"items": []}'; fi
"""


def asked_of_a_cluster_that_has(resources, program):
    with tempfile.TemporaryDirectory() as folder:
        kubectl = pathlib.Path(folder, "kubectl")
        kubectl.write_text(KUBECTL.replace("RESOURCES", " ".join(sorted(resources))), encoding="utf-8")
        kubectl.chmod(0o755)
        subprocess.run([program, "advise", "--out", pathlib.Path(folder, "advice")], capture_output=True, check=False,
                       env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
        lines = pathlib.Path(folder, "asked").read_text(encoding="utf-8").splitlines()
        return {line.split()[1] for line in lines if line.startswith("get ")}


def check_rights(problems, where, documents, program):
    """Least rights: what kubectl is asked for, nothing that changes anything, no wildcard."""
    listed = {f"{resource}.{group}".rstrip(".") for document in documents if document["kind"] == "ClusterRole"
              for rule in document["rules"] for group in rule["apiGroups"] for resource in rule["resources"]}
    asked = asked_of_a_cluster_that_has(listed, program)
    problems.check(asked == listed, where, f"listed and not asked for: {listed - asked}")
    source = (pathlib.Path(__file__).parents[2] / "tools/slicewise/kubectl.cpp").read_text(encoding="utf-8")
    named = set(re.findall(r'"([a-z0-9.-]+)"', source.split("kResources = ")[1].split("});")[0]))
    problems.check(named <= listed, where, f"asked for and not listed: {named - listed}")
    verbs = {verb for document in documents if document["kind"] in ("ClusterRole", "Role")
             for rule in document["rules"] for verb in rule["verbs"]}
    problems.check(verbs <= {"get", "list"}, where, verbs)


def check_flags(problems, where, documents, program):
    """The program has the flags that the CronJob gives it."""
    shown = subprocess.run([program, "advise", "--help"], capture_output=True, text=True, check=True).stdout
    for document in documents:
        if document["kind"] != "CronJob":
            continue
        pod = document["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        container = next(one for one in pod.get("initContainers", []) + pod["containers"] if one["name"] == "advise")
        for word in container["args"][1:]:
            flag = word.split("=")[0]
            problems.check(not flag.startswith("--") or flag in shown, where, f"advise has no {flag}")


def main():
    chart, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    kubernetes = pinned()["KUBERNETES_VALIDATE_VERSION"]
    sys.path.insert(0, str(tool("python", "kubernetes-validate-" + kubernetes)))
    import kubernetes_validate  # pylint: disable=import-error,import-outside-toplevel

    problems = Problems()
    lint = helm("lint", "--strict", "--kube-version", "1.36.0", str(chart))
    problems.check(lint.returncode == 0, "helm lint", lint.stdout + lint.stderr)
    for where, values in VALUES.items():
        out = rendered(chart, values)
        problems.check(out.returncode == 0, where, out.stderr)
        documents = [document for document in load_all_yaml(out.stdout) if document]
        problems.check(len(documents) >= 4, where, "nothing is rendered")
        for document in documents:
            if document["apiVersion"].startswith("monitoring.coreos.com"):
                continue
            try:
                kubernetes_validate.validate(document, ".".join(kubernetes.split(".")[:2]), strict=True)
                problems.check(True, where, "")
            except kubernetes_validate.ValidationError as found:
                problems.check(False, where, f"{document['kind']}: {found.message}")
        check_pods(problems, where, documents)
        check_rights(problems, where, documents, program)
        check_flags(problems, where, documents, program)
    for where, values in REFUSED.items():
        problems.check(rendered(chart, values).returncode != 0, where, "is accepted")
    problems.exit(minimum=40)


if __name__ == "__main__":
    main()
