"""Exit codes and messages of the command line: scripts rely on both."""

import hashlib
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from program import BINARY, EXAMPLE, PODS_LOST, ROOT, environment, run

TRACE = "scenarios/examples/logs/team-trace.csv"
BROKEN_SCENARIO = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: broken}
spec:
  regoin: us-east-1
"""

# The pod asks for more CPU than the only node has.
NEVER_RUNS = (ROOT / EXAMPLE).read_text(encoding="utf-8").replace(
    'requests: {cpu: "1"', 'requests: {cpu: "999"').replace(
    "until: AllJobsDone", "duration: 1h")


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
                          ["run", "-f", EXAMPLE, "--seed", "-1"], ["plan", "-f", EXAMPLE, "--no-split=9"],
                          ["run", "-f", EXAMPLE, "--allow-pending=-1"],
                          ["run", "-f", EXAMPLE, "--set", "foo"],
                          ["run", "-f", EXAMPLE, "--set", "=1"],
                          ["run", "-f", EXAMPLE, "--variant", "nobody"],
                          ["export", "-f", EXAMPLE, "--variant", "after", "--to", "configmap",
                           "--chart-version", "foo"],
                          ["frobnicate", "--help"], ["get", "nothing", "--help"],
                          ["get"], ["get", "instances", "--fits", "8GB"],
                          ["get", "instances", "g5.xlarge", "--family", "g5"],
                          ["explain", "NO_SUCH_CODE"], ["schema"], ["schema", "nothing"],
                          ["completion", "tcsh"], ["help", "nothing"],
                          ["export", "-f", EXAMPLE, "--to", "stone"]):
            with self.subTest(arguments=arguments):
                result = self.expect(2, *arguments)
                self.assertEqual(result.stdout, "")
                self.assertNotEqual(result.stderr, "")

    def test_words_are_taken_as_people_spell_them_and_others_are_told(self):
        jobs = ["replay", "-f", TRACE, "--nodes", "3x8"]
        shared = "scenarios/examples/shared-inference.yaml"
        for words in (["--queue", "FIFO"], ["--queue", "easy", "--placement", "best_fit"]):
            self.expect(0, *jobs, *words)
        for spelling in ("time-slicing", "timeSlicing", "time_slicing"):
            self.expect(0, "compare", shared, "--strategies", spelling, "--instances",
                        "g4dn.xlarge", "--replications", "1", "-q")
        for arguments, meant in ((["--queue", "sjf"], "srtf"), (["--queue", "fcfs"], "fifo"),
                                 (["--sharing", "ts:4"], "time-slicing"),
                                 (["--sharing", "none"], "exclusive")):
            told = self.expect(2, *jobs, *arguments).stderr
            self.assertRegex(told, f'did you mean "?{meant}"?')

    def test_a_file_is_named_with_or_without_its_flag(self):
        flagged = self.expect(0, "run", "-f", EXAMPLE, "--variant", "before")
        self.assertEqual(self.expect(0, "run", EXAMPLE, "--variant", "before").stdout,
                         flagged.stdout)
        self.assertIn("unexpected argument", self.expect(2, "run", "-f", EXAMPLE, "more").stderr)

    def test_what_is_missing_is_said_with_what_there_is(self):
        for arguments, words in (([], "needs a verb"), (["get"], "instances"),
                                 (["schema"], "slicewise schema KIND, one of scenario, "),
                                 (["run"], "slicewise run FILE"),
                                 (["diff", "a.json"], "slicewise diff OLD NEW"),
                                 (["import"], "slicewise import KIND [FILE...], one of openb, ")):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.expect(2, *arguments).stderr)
        self.assertIn('did you mean "5%"?', self.expect(
            2, "max-load", EXAMPLE, "--precision", "5").stderr)

    def test_what_is_not_known_is_said_with_what_there_is(self):
        for arguments, words in ((["get", "bogus"], "one of instances, "),
                                 (["explain", "oom"], "did you mean GPU_OOM"),
                                 (["replay", TRACE, "--instances", "p3.16xlarge=-1"],
                                  '"-1" is not a whole number')):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.expect(2, *arguments).stderr)

    def test_pools_under_another_name_are_said_once(self):
        """And not again of each workload that asks them for a GPU."""
        scenario = (ROOT / EXAMPLE).read_text(encoding="utf-8").replace("nodePools:", "nodepools:", 1)
        result = self.expect(3, "check", "-f", "-", stdin=scenario)
        self.assertIn('did you mean "nodePools"?', result.stdout)
        self.assertNotIn("RESOURCE_NAME_MISMATCH", result.stdout)

    def test_a_document_of_another_kind_is_said_once(self):
        for text, words in (("apiVersion: apps/v1\nkind: Deployment\n", "slicewise import k8s"),
                            ('{"apiVersion": "slicewise.dev/result.v1alpha1", "kind": "Result"}',
                             "slicewise report, explain and diff read it")):
            with self.subTest(text=text):
                result = self.expect(3, "run", "-", stdin=text)
                self.assertIn("not a Scenario", result.stderr)
                self.assertIn(words, result.stderr)
                self.assertIn("1 error in -", result.stderr)

    def test_a_file_that_is_read_is_not_written(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            scenario = folder / "scenario.yaml"
            text = (ROOT / EXAMPLE).read_text(encoding="utf-8")
            scenario.write_text(text, encoding="utf-8")
            (folder / "link.yaml").hardlink_to(scenario)
            for arguments in (["run", scenario, "-o", "json", "--out", scenario],
                              ["run", scenario, "--junit", folder / "link.yaml"],
                              ["export", scenario, "--variant", "after", "--to", "scenario", "--out", scenario],
                              ["import", "k8s", "-f", ROOT / "scenarios/examples/cluster/pods.yaml", "-f", scenario,
                               "--out", f"{folder}/./scenario.yaml"],
                              ["check", scenario, "--out", scenario], ["init", "--from", scenario, "--out", scenario]):
                error = self.expect(2, *map(str, arguments)).stderr
                self.assertIn("is read by this command and would be overwritten", error)
                self.assertEqual(scenario.read_text(encoding="utf-8"), text)

    def test_a_number_out_of_range_is_2_and_says_the_range(self):
        for flag, low, high, wrong in (
                ("--seed", 0, 2**63 - 1, ("99999999999999999999", str(2**63), "-1", "abc", "1.5",
                                          " 7", "+3", "1e3")),
                ("--replications", 1, 100000, ("0", "100001", "many", "1.5")),
                ("--jobs", 1, 1024, ("0", "1025", "x"))):
            for value in wrong:
                with self.subTest(flag=flag, value=value):
                    result = self.expect(2, "run", "-f", EXAMPLE, f"{flag}={value}")
                    self.assertIn(f'"{value}" is not a whole number from {low} to {high}\n',
                                  result.stderr)
        self.assertIn("--fits", self.expect(2, "get", "instances", "--fits", "abc").stderr)

    def test_keys_of_kubernetes_are_told_by_their_first_word(self):
        scenario = (ROOT / "scenarios/examples/shared-inference.yaml").read_text("utf-8")
        scenario = scenario.replace("    kind: Service\n    replicas: 2\n",
                                    "    kind: Service\n    autoscaling: {minReplicas: 1, max: 4}\n")
        result = self.expect(3, "run", "-f", "-", stdin=scenario)
        self.assertIn('unknown field "minReplicas"', result.stderr)
        self.assertIn('did you mean "min"?', result.stderr)

    def test_a_set_path_that_leads_nowhere_is_3(self):
        result = self.expect(3, "run", "-f", EXAMPLE, "--set", "foo=1")
        self.assertIn("PATH_UNKNOWN", result.stderr)

    def test_a_variant_without_any_running_pod_is_4(self):
        result = self.expect(4, "run", "-f", "-", "-o", "json", "--variant", "before",
                             stdin=NEVER_RUNS)
        self.assertEqual(json.loads(result.stdout)["variants"][0]["pods"]["runningMax"], 0)
        self.assertRegex(result.stderr, r"-:\d+:\d+: error\[POD_PENDING\]: no pod ever ran in before: \d")
        self.assertNotIn("`slicewise run` says", result.stderr)

    def test_pods_that_die_when_they_start_do_not_wait(self):
        result = self.expect(4, "run", "-f", "-", stdin="""apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: dies}
spec:
  replications: 1
  duration: 1h
  nodePools: [{name: t4, instanceType: g4dn.xlarge}]
  workloads:
  - name: large
    kind: Job
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    gpuMemory: {resident: 40Gi}
    work: {units: 1}
    measured: {device: T4, unitTime: 1s, gpuBusy: 50%, smActive: 40%, provenance: Assumed}
""")
        self.assertIn('error[GPU_OOM]: no pod ever ran in base: 6 containers of "large"', result.stderr)

    def test_a_scenario_without_end_is_not_read_to_the_end(self):
        command = f"{BINARY} run -f - < /dev/zero"
        result = subprocess.run(["bash", "-c", command], env=environment(), capture_output=True,
                                text=True, check=False, timeout=60)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("16 MiB", result.stderr)
        self.expect(5, "run", "-f", EXAMPLE, "--prices", "/dev/zero")

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
        for code in ("0", "1", "2", "3", "4", "5", "6", "70", "99", "130"):
            self.assertRegex(text, rf"(?m)^  {code} +\w")
        self.assertEqual(text, run("explain", "exit-codes").stdout)
        # What leads to them, as the tests of the verbs have it.
        meanings = " ".join(text.split())
        for said in ("missed or its interval reaches over the limit", "validate: an error is beyond its bound",
                     "max-load, neighbours and sensitivity: as the scenario is",
                     "that no share of a GPU is enough for, or that failed"):
            self.assertIn(said, meanings)


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
        self.assertEqual(result.returncode, PODS_LOST, result.stderr)
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

    def test_every_flag_of_every_verb_but_the_file_has_a_variable(self):
        common = run("help", "flags").stdout
        for verb in (["run"], ["export"], ["get", "instances"], ["get", "profiles"], ["version"]):
            text = run(*verb, "--help").stdout
            flags = set(re.findall(r"(?<=--)[a-z-]+(?=[ ,\n])", text.split("Options:")[1]))
            text += common
            second_names = {second: first for first, second in re.findall(r"--([a-z-]+),--([a-z-]+)", common)}
            for flag in flags - {"help", "file"}:
                with self.subTest(verb=verb, flag=flag):
                    name = second_names.get(flag, flag)
                    self.assertIn(f"SLICEWISE_{name.upper().replace('-', '_')})", text)
            self.assertNotIn("SLICEWISE_FILE", text)

    def test_seed_and_replications_come_from_variables(self):
        result = run("run", "-f", EXAMPLE, "-q", "-o", "json", "--variant", "before",
                     env={"SLICEWISE_SEED": "7", "SLICEWISE_REPLICATIONS": "1"})
        metadata = json.loads(result.stdout)["metadata"]
        self.assertEqual((metadata["seed"], metadata["replications"]), (7, 1))
        self.assertEqual(run("run", "-f", EXAMPLE, env={"SLICEWISE_SEED": "x"}).returncode, 2)

    def test_an_unknown_variable_is_a_warning_with_the_nearest_name(self):
        result = run("version", env={"SLICEWISE_SEEED": "7", "SLICEWISE_UPDATE_GOLDEN": "1"})
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "warning: SLICEWISE_SEEED is the variable of no flag; "
                                        'did you mean "SLICEWISE_SEED"?\n')
        self.assertEqual(run("version", "-q", env={"SLICEWISE_SEEED": "7"}).stderr, "")

    def test_a_variable_of_another_verb_does_not_matter(self):
        self.assertEqual(run("version", env={"SLICEWISE_JOBS": "none"}).returncode, 0)


class RunFlags(unittest.TestCase):
    def result(self, *flags, code=0):
        output = run("run", "-f", EXAMPLE, "-q", "-o", "json", *flags)
        self.assertEqual(output.returncode, code, output.stderr)
        return json.loads(output.stdout)

    def test_seed_replications_and_variant_reach_the_run(self):
        result = self.result("--seed", "7", "--replications", "2", "--variant", "before")
        self.assertEqual(result["metadata"]["seed"], 7)
        self.assertEqual(result["metadata"]["replications"], 2)
        self.assertEqual([v["name"] for v in result["variants"]], ["before"])

    def test_variants_come_in_the_order_of_the_file(self):
        every = self.result("--replications", "1", code=PODS_LOST)
        names = [v["name"] for v in every["variants"]]
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
            content = prices.read_bytes()
        self.assertEqual(cheap["metadata"]["priceDate"], "2026-11-20")
        self.assertEqual(cheap["metadata"]["priceFile"], str(prices))
        self.assertEqual(cheap["metadata"]["priceFileSha256"],
                         hashlib.sha256(content).hexdigest())
        self.assertNotIn("priceFile", plain["metadata"])
        self.assertAlmostEqual(cheap["variants"][0]["cost"]["monthlyUsd"], 730.0)
        self.assertGreater(plain["variants"][0]["cost"]["monthlyUsd"], 730.0)

    def test_the_number_of_threads_changes_nothing(self):
        one = self.result("--jobs", "1", code=PODS_LOST)
        for jobs in ("2", "8"):
            self.assertEqual(one, self.result("--jobs", jobs, code=PODS_LOST), jobs)


class Sizes(unittest.TestCase):
    """What is too large is refused before it is simulated, by every verb that simulates."""

    SHARED = ("-f", "scenarios/examples/shared-inference.yaml", "--variant", "shared")

    def test_a_limit_names_place_arithmetic_and_flag(self):
        for verb in (["run"], ["compare"], ["plan"], ["max-load"], ["sensitivity"], ["neighbours"], ["report"],
                     ["export", "--to", "perfetto"]):
            result = run(*verb, *self.SHARED, "--max-events", "1000")
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertRegex(result.stderr, r"shared-inference\.yaml:\d+:\d+: error\[RUN_TOO_LARGE\]")
            self.assertIn("requests of classifier: 20/s x 1800 s x 5 events = 1.8e+05", result.stderr)
            self.assertIn("lift the limit with --max-events 2", result.stderr)
        result = run("run", *self.SHARED, "--max-memory", "1Ki")
        self.assertEqual(result.returncode, 3)
        self.assertIn("--max-memory 1Mi", result.stderr)

    def test_only_variants_that_are_simulated_count(self):
        load = ("--set", "workloads.classifier.traffic.mean=9999999/s")
        self.assertEqual(run("run", *self.SHARED, *load).returncode, 3)
        self.assertEqual(run("run", *self.SHARED, *load, "--max-events", "x").returncode, 2)
        self.assertEqual(run("run", *self.SHARED, "--max-memory", "8GB").returncode, 2)


class Version(unittest.TestCase):
    def test_json_has_version_compiler_and_price_date(self):
        document = json.loads(run("version", "-o", "json").stdout)
        self.assertRegex(document["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(document["priceDate"], r"^\d{4}-\d{2}-\d{2}$")
        self.assertGreater(document["instanceTypes"], 40)
        self.assertTrue(document["compiler"])

    def test_both_spellings_agree(self):
        self.assertEqual(run("--version").stdout, run("version").stdout)


class Sweeps(unittest.TestCase):
    def test_a_sweep_on_the_command_line_is_one_of_the_file(self):
        """And says where the price stops falling; a report makes the same again."""
        path = "nodePools.gpu.devicePlugin.sharing.timeSlicing.resources[0].replicas"
        demo = (EXAMPLE, "--variant", "after")
        swept = run("run", *demo, "--sweep", path + "=2,5,10")
        self.assertEqual(swept.returncode, 0, swept.stderr)
        self.assertIn("\nafter/replicas: 5 is where the price of a job stops falling", swept.stdout)
        with tempfile.TemporaryDirectory() as folder:
            result = str(pathlib.Path(folder, "result.json"))
            run("run", *demo, "--sweep", path + "=2,5,10", "-o", "json", "--out", result)
            again = run("report", result, "-o", "csv")
            self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(run("run", *demo, "--sweep", path).returncode, 2)

    def test_mistakes_are_told_in_its_own_words(self):
        wrong = run("run", EXAMPLE, "--set", "seed=3", "--sweep", "workloads.nosuch.count=1,2")
        self.assertEqual(wrong.returncode, 3)
        self.assertIn("--sweep:2:1: error[PATH_UNKNOWN]", wrong.stderr)
        self.assertIn("2 | workloads.nosuch.count=[1,2]\n", wrong.stderr)
        self.assertIn("1 error in --sweep", wrong.stderr)
        self.assertNotIn("--set", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
