"""Exit codes and messages of the command line: scripts rely on both."""

import json
import tempfile
import pathlib
import unittest

from program import EXAMPLE, ROOT, run

BROKEN_SCENARIO = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: broken}
spec:
  regoin: us-east-1
"""


class ExitCodes(unittest.TestCase):
    def expect(self, code, *arguments, **settings):
        result = run(*arguments, **settings)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def test_success_is_0(self):
        self.expect(0, "version")

    def test_a_wrong_command_line_is_2(self):
        for arguments in ([], ["frobnicate"], ["run"], ["run", "-f", EXAMPLE, "--nope"],
                          ["run", "-f", EXAMPLE, "-o", "xml"], ["run", "-f", EXAMPLE, "extra"],
                          ["run", "-f", EXAMPLE, "--seed", "-1"],
                          ["run", "-f", EXAMPLE, "--seed", "many"],
                          ["run", "-f", EXAMPLE, "--replications", "0"],
                          ["get"], ["get", "instances", "--fits", "8GB"],
                          ["get", "instances", "g5.xlarge", "--family", "g5"],
                          ["explain", "NO_SUCH_CODE"], ["schema"], ["schema", "nothing"],
                          ["completion", "tcsh"], ["help", "nothing"],
                          ["export", "-f", EXAMPLE, "--to", "stone"]):
            with self.subTest(arguments=arguments):
                result = self.expect(2, *arguments)
                self.assertEqual(result.stdout, "")
                self.assertNotEqual(result.stderr, "")

    def test_a_scenario_with_a_mistake_is_3(self):
        result = self.expect(3, "run", "-f", "-", stdin=BROKEN_SCENARIO)
        self.assertIn("-:5:3: error[FIELD_UNKNOWN]", result.stderr)
        self.assertIn("region", result.stderr)
        self.assertEqual(result.stdout, "")

    def test_a_price_file_with_a_mistake_is_3(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as prices:
            prices.write('{"date": "2026-11-01", "prices": [{"instanceType": "p3.8xlarge", '
                         '"region": "us-east-1", "usdPerHour": -1}]}')
            prices.flush()
            result = self.expect(3, "run", "-f", EXAMPLE, "--prices", prices.name)
            self.assertIn(prices.name + ":1:", result.stderr)

    def test_a_file_that_cannot_be_read_is_5(self):
        result = self.expect(5, "run", "-f", "no/such/file.yaml")
        self.assertIn("no/such/file.yaml", result.stderr)
        self.expect(5, "run", "-f", str(ROOT))
        self.expect(5, "run", "-f", EXAMPLE, "--prices", "no/such/prices.json")

    def test_a_missed_objective_is_99_and_the_report_is_complete(self):
        scenario = (ROOT / EXAMPLE).read_text(encoding="utf-8")
        self.assertIn("work:", scenario)
        scenario = scenario.replace("work:", "slo: {completionP95: 1s}\n    work:", 1)
        result = self.expect(99, "run", "-f", "-", "--replications", "1", "-o", "json",
                             stdin=scenario)
        self.assertEqual(json.loads(result.stdout)["kind"], "Result")

    def test_help_lists_every_exit_code(self):
        text = self.expect(0, "help", "exit-codes").stdout
        for code in ("0", "2", "3", "5", "70", "99", "130"):
            self.assertRegex(text, rf"(?m)^{code} +\w")


class Suggestions(unittest.TestCase):
    def test_the_nearest_name_is_suggested(self):
        for arguments, name in ((["rnu"], "run"), (["exprot"], "export"),
                                (["get", "instance"], "instances"),
                                (["run", "--varient", "x"], "--variant"),
                                (["run", "--ouput=json"], "--output"),
                                (["run", "-f", EXAMPLE, "-o", "jsno"], "json"),
                                (["schema", "scenaro"], "scenario"),
                                (["help", "exit-code"], "exit-codes"),
                                (["run", "-f", EXAMPLE, "--variant", "befor"], "before")):
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(f'did you mean "{name}"?', result.stderr)

    def test_an_export_of_several_variants_asks_which_one_and_lists_them(self):
        result = run("export", "-f", EXAMPLE, "--to", "helm-values")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--variant", result.stderr)
        self.assertIn("before, ", result.stderr)


class Environment(unittest.TestCase):
    def test_a_variable_stands_in_for_an_absent_flag(self):
        result = run("run", "-f", EXAMPLE, "--replications", "1",
                     env={"SLICEWISE_OUTPUT": "json", "SLICEWISE_QUIET": "true"})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["kind"], "Result")
        self.assertEqual(result.stderr, "")

    def test_a_flag_wins_over_its_variable(self):
        result = run("run", "-f", EXAMPLE, "--replications", "1", "-o", "csv", "-q",
                     env={"SLICEWISE_OUTPUT": "json"})
        self.assertIn(",", result.stdout.splitlines()[0])
        self.assertFalse(result.stdout.startswith("{"))

    def test_a_wrong_variable_is_an_error(self):
        result = run("version", env={"SLICEWISE_COLOR": "mauve"})
        self.assertEqual(result.returncode, 2)
        self.assertIn("mauve", result.stderr)

    def test_a_variable_of_another_verb_does_not_matter(self):
        self.assertEqual(run("version", env={"SLICEWISE_JOBS": "none"}).returncode, 0)


class RunFlags(unittest.TestCase):
    def result(self, *flags):
        output = run("run", "-f", EXAMPLE, "-q", "-o", "json", *flags)
        self.assertEqual(output.returncode, 0, output.stderr)
        return json.loads(output.stdout)

    def test_seed_replications_and_variant_reach_the_run(self):
        result = self.result("--seed", "7", "--replications", "2", "--variant", "before")
        self.assertEqual(result["metadata"]["seed"], 7)
        self.assertEqual(result["metadata"]["replications"], 2)
        self.assertEqual([v["name"] for v in result["variants"]], ["before"])

    def test_variants_come_in_the_order_of_the_file(self):
        names = [v["name"] for v in self.result("--replications", "1")["variants"]]
        wanted = [names[1], names[0]]
        flags = [flag for name in wanted for flag in ("--variant", name)]
        result = self.result("--replications", "1", *flags)
        self.assertEqual([v["name"] for v in result["variants"]], names[:2])

    def test_set_changes_the_scenario_and_its_hash(self):
        plain = self.result("--replications", "1", "--variant", "before")
        changed = self.result("--replications", "1", "--variant", "before",
                              "--set", "nodePools.gpu.nodes=2")
        self.assertEqual(changed["variants"][0]["nodePools"][0]["nodes"], 2)
        self.assertNotEqual(plain["metadata"]["scenarioSha256"],
                            changed["metadata"]["scenarioSha256"])

    def test_prices_lay_over_the_catalogue(self):
        plain = self.result("--replications", "1", "--variant", "before")
        with tempfile.TemporaryDirectory() as folder:
            prices = pathlib.Path(folder) / "prices.json"
            prices.write_text(json.dumps({"date": "2026-11-20", "prices": [
                {"instanceType": "p3.8xlarge", "region": "us-east-1", "purchase": "on-demand",
                 "usdPerHour": 1.0, "source": "test"}]}), encoding="utf-8")
            cheap = self.result("--replications", "1", "--variant", "before",
                                "--prices", str(prices))
        self.assertEqual(cheap["metadata"]["priceDate"], "2026-11-20")
        self.assertAlmostEqual(cheap["variants"][0]["cost"]["monthlyUsd"], 730.0)
        self.assertGreater(plain["variants"][0]["cost"]["monthlyUsd"], 730.0)

    def test_the_number_of_threads_changes_nothing(self):
        self.assertEqual(self.result("--jobs", "1"), self.result("--jobs", "2"))


class Version(unittest.TestCase):
    def test_json_has_version_compiler_and_price_date(self):
        document = json.loads(run("version", "-o", "json").stdout)
        self.assertRegex(document["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(document["priceDate"], r"^\d{4}-\d{2}-\d{2}$")
        self.assertGreater(document["instanceTypes"], 40)
        self.assertTrue(document["compiler"])

    def test_both_spellings_agree(self):
        self.assertEqual(run("--version").stdout, run("version").stdout)


if __name__ == "__main__":
    unittest.main()
