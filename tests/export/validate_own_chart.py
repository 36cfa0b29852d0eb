#!/usr/bin/env python3
"""tools/chart as its users meet it: helm lint, helm template with several values, Kubernetes' object schemas.

    validate_own_chart.py CHART PROGRAM
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from validators import Problems, load_all_yaml, pinned, tool

COPY = {"copy": {"image": "rclone/rclone:1.71", "command": ["rclone", "sync", "/advice", "s3:b/s"],
                 "envFrom": [{"secretRef": {"name": "s3"}}]}}
VALUES = {
    "as it comes": {},
    "with all there is": {**COPY, "prometheus": "http://p:9090", "prometheusTokenSecret": "token",
                          "arguments": ["--set", "workloads.asr.slo.latencyP99=300ms"],
                          "storage": {"storageClass": "efs", "accessMode": "ReadWriteMany"},
                          "metrics": {"serviceMonitor": True}, "keep": 2,
                          "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/r"}}, "nodeSelector": {"a": "b"},
                          "tolerations": [{"key": "k", "operator": "Exists"}]},
    "a copy by the image's own command": {"copy": {"image": "mine:1"}},
    "a copy and no volume": {**COPY, "storage": {"ephemeral": True}, "metrics": {"enabled": False}, "keep": 0},
    "nodes of its own": {"nodeSelector": {"pool": "system"}, "tolerations": [{"key": "k", "operator": "Exists"}],
                         "existingClaim": "mine"},
    "with little": {"metrics": {"enabled": False}, "dashboard": {"enabled": False}, "existingClaim": "mine", "keep": 0,
                    "configMaps": []},
}
REFUSED = {"schedule": {"schedule": ""}, "cluster": {"cluster": "Not a name"}, "a typo": {"promtheus": "http://p"},
           "keep": {"keep": -1}, "a volume that is gone": {"storage": {"ephemeral": True}}}


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
            home = [one["value"] for one in container.get("env", []) if one["name"] == "HOME"]
            written = [mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")]
            problems.check(container["name"] in ("keep", "httpd") or home and home[0] in written, where,
                           f"{container['name']} has no home to write to")


def check_nodes(problems, where, documents, values):
    """The pods that share a volume of one node may be on the same nodes, and are kept together."""
    pods = dict(pods_of(documents))
    for kind, pod in pods.items():
        problems.check(pod.get("nodeSelector", {}) == values.get("nodeSelector", {})
                       and pod.get("tolerations", []) == values.get("tolerations", []), where, f"{kind} goes elsewhere")
    is_shared = values.get("storage", {}).get("accessMode") != "ReadWriteMany" and "Deployment" in pods
    problems.check(("affinity" in pods["CronJob"]) == is_shared, where, "affinity")
    volumes = [volume for volume in pods["CronJob"]["volumes"] if volume["name"] == "advice"]
    problems.check(("emptyDir" in volumes[0]) == values.get("storage", {}).get("ephemeral", False), where, volumes)


def check_notes(problems, chart):
    """What `helm install` says: nothing happens before night."""
    with tempfile.TemporaryDirectory() as name:  # `helm template` prints no notes: as an object's text it does
        copy = pathlib.Path(name, "chart")
        shutil.copytree(chart, copy)
        (copy / "templates/NOTES.txt").rename(copy / "NOTES.txt")
        (copy / "templates/notes.yaml").write_text('notes: {{ tpl (.Files.Get "NOTES.txt") . | quote }}', encoding="utf-8")
        done = helm("template", "night", str(copy), "--namespace", "gpu", "--kube-version", "1.36.0", "-s", "templates/notes.yaml")
    for word in ("create job --from=cronjob/night night-now", "30 3 * * *", "404 until then", "storage.storageClass"):
        problems.check(word in done.stdout, "NOTES.txt", done.stdout[-2000:] + done.stderr)


def container_of(documents, name):
    return next((container for _, pod in pods_of(documents)
                 for container in pod.get("initContainers", []) + pod["containers"] if container["name"] == name), None)


def check_kept(problems, where, documents, keep):
    """The container that keeps advices, by the shell of this machine, over twelve nights."""
    with tempfile.TemporaryDirectory() as name:
        latest = pathlib.Path(name, "latest")
        latest.mkdir()
        for night in range(12):
            (latest / "README.md").write_text(f"night {night}", encoding="utf-8")
            os.utime(latest / "README.md", (86_400 * night, 86_400 * night))
            for _ in range(2):  # a night that failed is made again
                done = subprocess.run(container_of(documents, "keep")["command"], cwd=name, capture_output=True,
                                      text=True, check=False)
                problems.check(done.returncode == 0, where, done.stderr)
        found = {path.parent.name: path.read_text(encoding="utf-8") for path in pathlib.Path(name).glob("*/README.md")}
        expected = {f"1970-01-{night + 1:02}T000000Z": f"night {night}" for night in range(12 - keep, 12)}
        problems.check(found == {"latest": "night 11", **expected}, where, found)


def check_served(problems, where, documents):
    """What Prometheus gets of the container with the metrics, where there is a busybox."""
    busybox = shutil.which("busybox")
    if busybox is None:
        print("SKIPPED: no busybox: nobody looked how the metrics are served")
        return
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as free:
        folder = pathlib.Path(name)
        (folder / "latest").mkdir()
        (folder / "latest/metrics.prom").write_text("slicewise_advice_ok 1\n", encoding="utf-8")
        settings = (document.get("data", {}).get("httpd.conf") for document in documents)
        (folder / "httpd.conf").write_text(next(filter(None, settings), ""), encoding="utf-8")
        port = free.getsockname()[1]
        free.close()
        here = {"8080": f"127.0.0.1:{port}", "/advice": name, "/types/httpd.conf": str(folder / "httpd.conf")}
        words = [here.get(word, word) for word in container_of(documents, "httpd")["command"]]
        with subprocess.Popen([busybox, *words]) as server:
            try:
                problems.check(*served_type(port, where))
            finally:
                server.terminate()


def served_type(port, where):
    for _ in range(100):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/latest/metrics.prom") as answer:
                said = answer.headers["Content-Type"]
                return said == "text/plain;version=0.0.4" and answer.read() == b"slicewise_advice_ok 1\n", where, said
        except urllib.error.URLError:
            time.sleep(0.05)
    return False, where, "busybox serves nothing"


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
    named = set(re.findall(r'"([a-z0-9.-]+)"', source.split("kResources = ")[1].split("};")[0]))
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
        check_nodes(problems, where, documents, values)
        check_rights(problems, where, documents, program)
        check_flags(problems, where, documents, program)
        if container_of(documents, "httpd"):
            check_served(problems, where, documents)
        if container_of(documents, "keep"):
            check_kept(problems, where, documents, values.get("keep", 7))
        problems.check("keep" not in values or bool(container_of(documents, "keep")) == bool(values["keep"]), where, "keep")
    check_notes(problems, chart)
    for where, values in REFUSED.items():
        problems.check(rendered(chart, values).returncode != 0, where, "is accepted")
    problems.exit(minimum=40)


if __name__ == "__main__":
    main()
