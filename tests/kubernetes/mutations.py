#!/usr/bin/env python3
"""Holds `check` to the APIs' own code: what they refuse of valid objects in which one thing is wrong.

  mutations.py SLICEWISE OBJECTS [NUMBER]    OBJECTS: the program of scheduler/objects; NUMBER: of
                                             mutations of each kind, default 60

Each object of objects.yaml is changed in one place: a key is left out or misspelt, a value is of
another type, another word, empty, negative, huge or twice there. What kube-apiserver's validation,
the CRDs of Karpenter (with their CEL rules, by go_validators) and eksctl's schema then refuse, check
must refuse. Where check is stricter it is said, too. Exit codes: 0 at least 95 % are caught, no
valid object is refused; 1 otherwise; 77 a tool of tools/export_validators is missing.
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

OF_KARPENTER = {"NodePool", "EC2NodeClass", "NodeOverlay"}
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


def eksctl_refusal(text):
    sys.path.insert(0, str(tool("python", "kubernetes-validate-"
                                + pinned()["KUBERNETES_VALIDATE_VERSION"])))
    import jsonschema  # pylint: disable=import-error,import-outside-toplevel
    schema = tool("schemas", f"eksctl-{pinned()['EKSCTL_VERSION']}.json")
    errors = jsonschema.Draft7Validator(json.loads(schema.read_text())).iter_errors(yaml.safe_load(text))
    return next((error.message for error in errors), "")


def refusal(kind, file, objects):
    """Why the API refuses it; "" when it does not."""
    if kind == "ClusterConfig":
        return eksctl_refusal(file.read_text())
    if kind in OF_KARPENTER:
        crds = tool("crds", "karpenter-" + pinned()["KARPENTER_VERSION"])
        code, text = output_of(tool("bin", "go_validators"), "objects", crds, file)
        return text.strip() if code else ""
    return output_of(objects, file)[1].strip()


def main():
    slicewise, objects = sys.argv[1:3]
    number = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    if not tool("bin", "go_validators").exists():
        skip("go_validators is missing")
    draw = random.Random(21)
    counts, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "object.yaml"
        for document in yaml.safe_load_all((HERE / "objects.yaml").read_text()):
            kind = document["kind"]
            all_of = list(mutations(document))
            chosen = draw.sample(all_of, min(number, len(all_of)))
            for changed in [document] + chosen:
                file.write_text(yaml.safe_dump(changed, sort_keys=False))
                why = refusal(kind, file, objects)
                code, said = output_of(slicewise, "check", "-f", file)
                caught = code == 3
                counts[kind, "refused"] += bool(why)
                counts[kind, "caught"] += bool(why) and caught
                if changed is document and (why or caught):
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
