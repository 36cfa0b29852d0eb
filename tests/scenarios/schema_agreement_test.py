"""The published JSON Schema and the loader accept and refuse the same files.

Arguments: the program load_verdicts, the root of the source tree. Every example and the files of every field
must be accepted by both; then each field of the schema is broken in turn, in every way that its type
allows (by day in one way of three), and both must refuse.
"""

import copy
import glob
import json
import os
import re
import subprocess
import sys

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(1 if os.environ.get("SLICEWISE_REQUIRE_TOOLS") == "1" else 77)


class Core(yaml.SafeLoader):
    """YAML 1.2 core schema: dates, `on` and 06:00 are text."""


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in (
        ("null", r"^(~|null|Null|NULL|)$", ["~", "n", "N", ""]),
        ("bool", r"^(true|True|TRUE|false|False|FALSE)$", list("tTfF")),
        ("int", r"^[-+]?[0-9]+$", list("-+0123456789")),
        ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", list("-+.0123456789"))):
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)


ONE_IN = 1 if os.environ.get("SLICEWISE_NIGHTLY") == "1" else 3
PATCH = {}  # definitions/patch, the only $ref of the schema


def as_text(schema):
    """Blocks that stand in two places, as traffic does, are used once."""
    return json.dumps(schema, sort_keys=True)


def branches(schema):
    return [PATCH if "$ref" in option else option for option in schema.get("anyOf", [schema])]


def with_value(document, path, value):
    """A copy of the document with `value` at `path`; the ellipsis removes what is there."""
    changed = copy.copy(document)
    holder = changed
    for step in path[:-1]:  # what is not on the path is shared
        holder[step] = copy.copy(holder[step])
        holder = holder[step]
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


def around(document, path, required):
    """A valid document of little more than what `path` leads to, and the path there: a mistake far from all else is
    seen in it as it is in the whole."""
    if len(path) < 3 or path[0] != "spec":
        return document, path
    spec = {key: document["spec"][key][:1] for key in required}
    part = document["spec"][path[1]]
    inside_item = isinstance(part, list) and len(path) > 3
    spec[path[1]] = [part[path[2]]] if inside_item else part
    return {**document, "spec": spec}, [*path[:2], 0, *path[3:]] if inside_item else path


def walk(schema, value, path, seen):
    """Yields (what, path, broken value) for every mistake that the schema can see below `path`."""
    options = branches(schema)
    kinds = {option.get("type") for option in options}
    if isinstance(value, dict):
        option = next(o for o in options if o.get("type") == "object" and (
            set(value) <= set(o.get("properties", value)) or "patternProperties" in o))
        free = [below for pattern, below in option.get("patternProperties", {}).items()]
        if isinstance(option.get("additionalProperties"), dict):
            free.append(option["additionalProperties"])
        # Keys that the writer of a file chooses: names of layouts, labels, MIG profiles.
        for key in value if free else []:
            if key not in option.get("properties", {}):
                yield from walk(free[0], value[key], path + [key], seen)
        if option.get("minProperties"):
            yield "empty mapping", path, {}
        if option.get("additionalProperties") is False:
            yield "unknown key", path + ["someKey"], 1
        for key in option.get("required", []):
            yield "missing key", path + [key], ...
        for key, below in value.items():
            seen.add(as_text(option.get("properties", {}).get(key)))
            if key in option.get("properties", {}):
                yield from walk(option["properties"][key], below, path + [key], seen)
        yield "mapping as text", path, "text"
        if "array" not in kinds:
            yield "mapping as list", path, ["text"]
    elif isinstance(value, list):
        option = next(o for o in options if o.get("type") == "array")
        if option.get("minItems"):
            yield "empty list", path, []
        if isinstance(option.get("items"), dict):
            for index, below in enumerate(value):
                yield from walk(option["items"], below, path + [index], seen)
        yield "list as number", path, 7
    else:
        yield "mapping", path, {"someKey": 1}
        yield "boolean as number" if kinds == {"boolean"} else "boolean", path, (
            1 if kinds == {"boolean"} else True)
        if any("enum" in option for option in options):
            yield "bad word", path, "someWord"
        elif any("pattern" in option for option in options):
            yield "bad unit", path, "8GB"
            yield "negative", path, "-1s"
        elif "integer" in kinds:
            yield "text for a number", path, "7"
            yield "fraction", path, 1.5
            yield "too small", path, -3_000_000_000
        elif "number" in kinds:
            yield "text for a number", path, "0.5"
            yield "too small", path, options[0]["minimum"] - 0.5
            yield "too large", path, options[0]["maximum"] + 0.5
        if kinds == {"string"}:
            yield "number for text", path, 7


def schema_properties(schema):
    for option in schema.get("anyOf", [schema]):
        for name, below in option.get("properties", {}).items():
            yield name, below
            yield from schema_properties(below)
        for inside in ("items", "additionalProperties"):
            if isinstance(option.get(inside), dict):
                yield from schema_properties(option[inside])


def main():
    program, root = sys.argv[1:3]
    schema_file = os.path.join(root, "scenarios/schema/scenario.v1alpha1.json")
    printed = subprocess.run([program, "schema"], capture_output=True, text=True, check=True).stdout
    problems = []
    if open(schema_file, encoding="utf-8").read() != printed:
        problems.append(f"{schema_file} is not what the program prints; write it anew")
    schema = json.loads(printed)
    jsonschema.Draft7Validator.check_schema(schema)
    PATCH.update(schema["definitions"]["patch"])
    validator = jsonschema.Draft7Validator(schema)

    good = glob.glob(os.path.join(root, "scenarios/examples/*.yaml"))
    seeds = [os.path.join(root, "tests/scenarios", name) for name in ("every_field.yaml", "kai_queues.yaml")]
    cases = []
    for name in sorted(good) + seeds:
        with open(name, encoding="utf-8") as file:
            cases.append((True, name, [], yaml.load(file, Core)))
    seen, valid = set(), {}
    for name, seed in [(case[1], case[3]) for case in cases[-len(seeds):]]:
        for number, (what, path, value) in enumerate(walk(schema, seed, [], seen)):
            if path and number % ONE_IN == 0:
                small, there = around(seed, path, schema["properties"]["spec"]["required"])
                valid.setdefault((name, *path[:3]), small)
                cases.append((False, what, path, with_value(seed, path, value), with_value(small, there, value)))
    # What varies at random has three forms of which each use shows one.
    random = ("mean", "distribution", "p50", "p95", "p99")
    unseen = [name for name, below in schema_properties(schema)
              if as_text(below) not in seen and name not in ("until", *random)]
    if unseen:
        problems.append(f"every_field.yaml and kai_queues.yaml do not use: {unseen}")

    lines = "".join(json.dumps(case[3]) + "\n" for case in cases)
    answers = subprocess.run([program], input=lines, capture_output=True, text=True,
                             check=True).stdout.splitlines()
    problems += [f"not valid around {path}" for path, small in valid.items() if not validator.is_valid(small)]
    for (expected, what, path, *documents), answer in zip(cases, answers, strict=True):
        by_schema = validator.is_valid(documents[-1])
        if (answer == "accepted") != expected or by_schema != expected:
            problems.append(f"{what} at {path}: loader {answer}, schema "
                            f"{'accepts' if by_schema else 'refuses'}")
    refused = sum(not case[0] for case in cases)
    if refused < 60:
        problems.append(f"only {refused} broken documents")
    print(f"{len(cases) - refused} good and {refused} broken documents")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
