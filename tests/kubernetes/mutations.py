#!/usr/bin/env python3
"""Holds `check` to the APIs' own code: what they refuse of valid objects in which one thing is wrong.

  mutations.py SLICEWISE OBJECTS [NUMBER]    OBJECTS: the program of scheduler/objects; NUMBER: of
                                             mutations of each kind, default 60

Each object of objects.yaml is changed in one place: a key is left out or misspelt, a value is of
another type, another word, empty, negative, huge or twice there. What kube-apiserver's validation,
CRDs (with their CEL rules, by go_validators) and eksctl's schema then refuse, check must refuse, or
warn of where it is a field of an operator that another release may have. Where check is stricter it is
said, too. Exit codes: 0 at least 95 % are caught, no valid object is refused; 1 otherwise; 77 a tool of
tools/export_validators is missing.
"""

import collections
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "export"))
from validators import pinned, skip, tool  # pylint: disable=wrong-import-position

BUILT_IN = {"v1", "apps", "autoscaling", "batch", "policy", "resource.k8s.io"}
LEAST_CAUGHT = 0.95


def places(node, path=()):
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield path + (key,)
        if isinstance(value, (dict, list)):
            yield from places(value, path + (key,))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def other_values(value):
    """What a value may wrongly be."""
    if isinstance(value, bool):
        return ["maybe"]
    if isinstance(value, str):
        return [value + "Q", "", "-Bad_ Value!", [value], 7]
    if isinstance(value, int):
        return [-1, 0, 1.5, 10 ** 12, "many"]
    if isinstance(value, list):
        return [[], "x", value + value[:1]]
    return [{}, "x", {**value, "surplus": "x"}]


def mutations(document):
    for path in places(document):
        if path == ("kind",):
            continue

        def changed(change, where=path):
            copied = copy.deepcopy(document)
            change(at(copied, where[:-1]), where[-1])
            return copied

        yield changed(lambda parent, key: parent.__delitem__(key))
        if isinstance(path[-1], str):
            yield changed(lambda parent, key: parent.update({key + "x": parent.pop(key)}))
        for value in other_values(at(document, path)):
            yield changed(lambda parent, key, new=value: parent.__setitem__(key, copy.deepcopy(new)))


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def eksctl_refusals(files):
    sys.path.insert(0, str(tool("python", "kubernetes-validate-"
                                + pinned()["KUBERNETES_VALIDATE_VERSION"])))
    import jsonschema  # pylint: disable=import-error,import-outside-toplevel
    schema = tool("schemas", f"eksctl-{pinned()['EKSCTL_VERSION']}.json")
    validator = jsonschema.Draft7Validator(json.loads(schema.read_text()))
    errors = ((file, next(validator.iter_errors(yaml.safe_load(file.read_text())), None)) for file in files)
    return {file: error.message for file, error in errors if error}


def crds_of(api_version, kind):
    """The folder that has the CRD of it; None where the kind is not one of a CRD that is installed."""
    group = api_version.split("/")[0]
    for folder in sorted(tool("crds").iterdir()):
        if any(f"group: {group}\n" in text and f"    kind: {kind}\n" in text
               for text in (path.read_text() for path in folder.glob("*.yaml"))):
            return folder
    return None


def refusals(document, files, objects):
    """Why the API refuses which of the files; None where the CRD is missing."""
    kind, api_version = document["kind"], document["apiVersion"]
    if kind == "ClusterConfig":
        return eksctl_refusals(files)
    if api_version.split("/")[0] not in BUILT_IN:
        crds = crds_of(api_version, kind)
        if crds is None:
            return None
        _, text = output_of(tool("bin", "go_validators"), "objects", crds, *files)
    else:
        _, text = output_of(objects, *files)
    lines = (line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return {pathlib.Path(start): why for start, why in lines if pathlib.Path(start) in files}


def main():
    slicewise, objects = sys.argv[1:3]
    number = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    if not tool("bin", "go_validators").exists():
        skip("go_validators is missing")
    draw = random.Random(21)
    counts, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for document in yaml.safe_load_all((HERE / "objects.yaml").read_text()):
            kind = document["kind"]
            all_of = list(mutations(document))
            chosen = [document] + draw.sample(all_of, min(number, len(all_of)))
            files = [pathlib.Path(folder) / f"{kind}-{n}.yaml" for n in range(len(chosen))]
            for file, changed in zip(files, chosen):
                file.write_text(yaml.safe_dump(changed, sort_keys=False))
            reasons = refusals(document, files, objects)
            if reasons is None:
                print(f"{kind}: its CRD is missing, not looked at")
                continue
            for file in files:
                why = reasons.get(file, "")
                code, said = output_of(slicewise, "check", "-f", file)
                caught = code == 3 or bool(why) and "warning[FIELD_UNKNOWN]" in said
                counts[kind, "refused"] += bool(why)
                counts[kind, "caught"] += bool(why) and caught
                if file is files[0] and (why or caught):
                    wrong += 1
                    print(f"{kind}: valid, and refused: {why or said[:300]}")
                elif why and not caught:
                    print(f"{kind}: not caught: {' '.join(why.split())[-200:]}")
                elif caught and not why:
                    counts[kind, "stricter"] += 1
                    print(f"{kind}: stricter: {said.splitlines()[0][:200]}")
    refused = sum(n for (_, what), n in counts.items() if what == "refused")
    caught = sum(n for (_, what), n in counts.items() if what == "caught")
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind}: {counts[kind, 'caught']} of {counts[kind, 'refused']} caught, stricter "
              f"{counts[kind, 'stricter']}")
    print(f"{caught} of {refused} caught, {100 * caught / max(1, refused):.1f} %")
    sys.exit(1 if wrong or caught < LEAST_CAUGHT * refused else 0)


if __name__ == "__main__":
    main()
