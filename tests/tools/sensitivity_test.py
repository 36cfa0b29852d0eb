"""slicewise sensitivity: what the answer depends on."""

import csv
import io
import json
import unittest

import yaml

from program import check_schema, run

SHARED = "scenarios/examples/shared-inference.yaml"
FAST = ("-f", SHARED, "--variant", "shared", "--set", "duration=2m", "--replications", "2")
STUDY = ("sensitivity", *FAST, "--vary", "traffic", "--vary", "switchCost", "--break-evens", "1")


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


if __name__ == "__main__":
    unittest.main()
