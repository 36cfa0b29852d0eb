"""slicewise max-load and slicewise neighbours: how much load, and who slows whom down."""

import csv
import io
import json
import unittest

import yaml

from program import ROOT, main, run, skip_without

try:
    import jsonschema
except ImportError:
    jsonschema = None

SHARED = "scenarios/examples/shared-inference.yaml"
FAST = ("-f", SHARED, "--set", "duration=3m", "--replications", "3")
LOAD = ("max-load", *FAST, "--precision", "10%")
MATRIX = ("neighbours", *FAST, "--variant", "shared")


def document_of(*arguments, code=0):
    result = run(*arguments, "-o", "json")
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout)


class Documents(unittest.TestCase):
    def test_json_obeys_its_schema(self):
        if jsonschema is None:
            skip_without("python3-jsonschema")
        for kind, runs in {"max-load": [LOAD, (*LOAD, "--most", "2"),
                                        (*LOAD, "--variant", "shared")],
                           "neighbours": [MATRIX]}.items():
            schema = json.loads(run("schema", kind).stdout)
            jsonschema.Draft7Validator.check_schema(schema)
            validator = jsonschema.Draft7Validator(schema)
            for arguments in runs:
                with self.subTest(arguments=arguments):
                    document = document_of(*arguments)
                    self.assertEqual([e.message for e in validator.iter_errors(document)], [])
                    self.assertEqual(list(document), sorted(document))
            document["rows" if kind == "neighbours" else "loads"][0]["unknown"] = 1
            self.assertFalse(validator.is_valid(document))

    def test_yaml_says_the_same_as_json(self):
        for arguments in (LOAD, MATRIX):
            self.assertEqual(yaml.safe_load(run(*arguments, "-o", "yaml").stdout),
                             document_of(*arguments))

    def test_csv_has_one_width(self):
        for arguments, count in ((LOAD, 1), (MATRIX, 3 * 2)):
            rows = list(csv.reader(io.StringIO(run(*arguments, "-o", "csv").stdout)))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
            self.assertEqual(len(rows), 1 + count)

    def test_tables_fit_a_hundred_columns(self):
        for arguments in (LOAD, MATRIX):
            text = run(*arguments, env={"LC_ALL": "C.UTF-8"}).stdout
            self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)
            self.assertRegex(text, r"(?m)^NOTES$")

    def test_markdown_has_a_table(self):
        for arguments in (LOAD, MATRIX):
            self.assertRegex(run(*arguments, "-o", "md").stdout, r"(?m)^\|---\|")

    def test_the_same_bytes_with_any_number_of_threads(self):
        for arguments in (LOAD, MATRIX):
            flags = (*arguments, "-o", "json", "--jobs")
            one = run(*flags, "1").stdout
            for jobs in ("2", "8"):
                self.assertEqual(one, run(*flags, jobs).stdout, jobs)


class MaxLoad(unittest.TestCase):
    def test_the_ends_are_what_run_finds_there(self):
        document = document_of(*LOAD)
        load = document["loads"][0]
        self.assertEqual((load["path"], load["unit"], load["scenario"]),
                         ("workloads.classifier.traffic", "requests/s", 20))
        self.assertLess(load["failed"] / load["passed"], 1.3)
        for end, code in (("passed", 0), ("failed", 99)):
            result = run("run", *FAST, "--variant", "alone", "--set",
                         f"workloads.classifier.traffic.mean={load[end]}/s")
            self.assertEqual(result.returncode, code, result.stderr)

    def test_a_neighbour_takes_load_away(self):
        alone = document_of(*LOAD)["loads"][0]["passed"]
        shared = document_of(*LOAD, "--variant", "shared")["loads"][0]["passed"]
        self.assertLess(shared, alone)

    def test_most_ends_the_search(self):
        document = document_of(*LOAD, "--most", "2")
        self.assertEqual(document["passedFactor"], 2)
        self.assertNotIn("failedFactor", document)
        self.assertIn("--most", run(*LOAD, "--most", "2").stdout)


class Neighbours(unittest.TestCase):
    def test_rows_suffer_and_columns_cause(self):
        document = document_of(*MATRIX)
        self.assertEqual(document["workloads"], ["classifier", "trainer"])
        self.assertEqual([(row["workload"], row["figure"]) for row in document["rows"]],
                         [("classifier", "latencyP99"), ("classifier", "latencyMean"),
                          ("trainer", "timePerUnit")])
        for row in document["rows"]:
            self.assertGreater(row["beside"][0]["slowdown"], 1)
            self.assertTrue(row["beside"][0]["sharesGpu"])

    def test_the_other_spelling_is_the_same_verb(self):
        self.assertEqual(run("neighbors", *MATRIX[1:]).stdout, run(*MATRIX).stdout)


class Mistakes(unittest.TestCase):
    def expect(self, code, message, *arguments, stdin=""):
        result = run(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(message, result.stderr)
        return result.stdout

    def test_an_unknown_path_is_3_with_the_nearest_one(self):
        self.assertEqual(self.expect(3, "did you mean workloads.classifier.traffic?", *LOAD,
                                     "--scale", "workloads.clasifier.traffic"), "")

    def test_without_objectives_is_3_with_help(self):
        self.expect(3, "slo: {latencyP99: 300ms}", *LOAD, "--set", "workloads.classifier.slo=null")

    def test_flags_out_of_range_are_2(self):
        for value in ("0%", "0.05%", "200%", "2", "much"):
            self.expect(2, "is not a percentage", "max-load", *FAST, "--precision", value)
        self.expect(2, "from 2 to 1000000", *LOAD, "--most", "1")
        self.expect(2, 'did you mean "shared"?', "neighbours", *FAST, "--variant", "shard")

    def test_a_load_that_is_too_high_already_is_99_and_reported(self):
        result = run(*LOAD, "--set", "workloads.classifier.traffic.mean=500/s")
        self.assertEqual(result.returncode, 99, result.stderr)
        self.assertIn("Every objective is met up to", result.stdout)

    def test_a_load_that_nothing_can_serve_is_99(self):
        result = run(*LOAD, "--most", "2", "--set", "workloads.classifier.slo.latencyP99=1us")
        self.assertEqual(result.returncode, 99, result.stderr)
        self.assertIn("Not even 10.00 requests/s", result.stdout)

    def test_pods_that_never_run_are_4(self):
        setting = "workloads.classifier.podTemplate.resources.requests.cpu=64"
        self.expect(4, "yaml:27:5: error[POD_PENDING]: no pod ever ran in alone", *LOAD, "--set", setting)
        self.expect(4, "not even alone", *MATRIX, "--set", setting, "--set",
                    "workloads.trainer.podTemplate.resources.requests.cpu=64")

    def test_one_workload_has_no_neighbour(self):
        self.expect(3, "fewer than two workloads", "neighbours", *FAST)

    def test_a_file_that_is_not_there_is_5(self):
        for verb in ("max-load", "neighbours"):
            self.expect(5, "no-such-file", verb, "-f", str(ROOT / "no-such-file.yaml"))


if __name__ == "__main__":
    main()
