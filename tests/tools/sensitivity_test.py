"""slicewise sensitivity and slicewise diff: what the answer depends on, and what changed."""

import csv
import io
import json
import os
import tempfile
import unittest

import yaml

from program import run, skip_without

try:
    import jsonschema
except ImportError:
    jsonschema = None

SHARED = "scenarios/examples/shared-inference.yaml"
FAST = ("-f", SHARED, "--variant", "shared", "--set", "duration=2m", "--replications", "2")
STUDY = ("sensitivity", *FAST, "--vary", "traffic", "--vary", "switchCost", "--break-evens", "1")


def check_schema(case, kind, document):
    if jsonschema is None:
        skip_without(case, "python3-jsonschema")
    schema = json.loads(run("schema", kind).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    errors = jsonschema.Draft7Validator(schema).iter_errors(document)
    case.assertEqual([error.message for error in errors], [])


class Sensitivity(unittest.TestCase):
    def test_all_formats_say_the_same(self):
        document = json.loads(run(*STUDY, "-o", "json").stdout)
        check_schema(self, "sensitivity", document)
        self.assertEqual(yaml.safe_load(run(*STUDY, "-o", "yaml").stdout), document)
        rows = list(csv.DictReader(io.StringIO(run(*STUDY, "-o", "csv").stdout)))
        changes = [change for entry in document["inputs"] for end in ("low", "high")
                   if end in entry for change in entry[end]["changes"]]
        self.assertEqual(len(rows), len(changes))
        text = run(*STUDY, env={"LC_ALL": "C.UTF-8"}).stdout
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)

    def test_the_ends_are_what_run_finds_there(self):
        document = json.loads(run(*STUDY, "-o", "json").stdout)
        traffic = next(i for i in document["inputs"] if i["kind"] == "traffic")
        high = traffic["high"]
        ran = json.loads(run("run", *FAST, "--set",
                             f"workloads.classifier.traffic.mean={high['value']}/s",
                             "-o", "json").stdout)
        objective = ran["variants"][0]["workloads"][0]["objectives"][0]
        change = next(c for c in high["changes"] if c["name"] == objective["name"])
        self.assertAlmostEqual(change["value"], objective["value"], places=9)

    def test_threads_do_not_change_a_byte(self):
        one = run(*STUDY, "-o", "json", "--jobs", "1").stdout
        self.assertEqual(one, run(*STUDY, "-o", "json", "--jobs", "7").stdout)

    def test_mistakes(self):
        for code, message, arguments in (
                (3, "did you mean traffic?", ("--vary", "trafic")),
                (3, "has no users to vary", ("--vary", "users")),
                (2, "would be gone", ("--by", "100%"))):
            result = run("sensitivity", *FAST, *arguments)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(message, result.stderr)


class Diff(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.old, self.new = (os.path.join(folder.name, name) for name in ("old.json", "new.json"))
        for path, rate in ((self.old, "20/s"), (self.new, "30/s")):
            result = run("run", *FAST, "--set", f"workloads.classifier.traffic.mean={rate}",
                         "-o", "json", "--out", path)
            self.assertIn(result.returncode, (0, 99), result.stderr)

    def test_exit_codes(self):
        for code, arguments in ((0, (self.old, self.old, "--exit-code")),
                                (0, (self.old, self.new)),
                                (1, (self.old, self.new, "--exit-code")),
                                (99, (self.old, self.new, "--fail-on", "p99:+1%", "--exit-code")),
                                (0, (self.old, self.new, "--fail-on", "cost:+1%,pods.oom")),
                                (2, (self.old, self.new, "--fail-on", "costs:+1%")),
                                (3, (self.old, SHARED)),
                                (5, (self.old, "absent.json")),
                                (2, (self.old,))):
            result = run("diff", *arguments)
            self.assertEqual(result.returncode, code, (arguments, result.stderr))

    def test_formats(self):
        document = json.loads(run("diff", self.old, self.new, "-o", "json").stdout)
        check_schema(self, "difference", document)
        self.assertTrue(document["differs"])
        self.assertEqual(yaml.safe_load(run("diff", self.old, self.new, "-o", "yaml").stdout),
                         document)
        comment = run("diff", self.old, self.new, "-o", "md").stdout
        self.assertTrue(comment.endswith("<!-- slicewise:shared-inference -->\n"), comment)
        self.assertIn("no difference", run("diff", self.old, self.old).stdout)


if __name__ == "__main__":
    unittest.main()
