"""slicewise compare: every way of sharing side by side, or the reason why not."""

import csv
import io
import json
import unittest

import yaml

from program import EXAMPLE, ROOT, main, run, skip_without, thorough

try:
    import jsonschema
except ImportError:
    jsonschema = None

SHARED = "scenarios/examples/shared-inference.yaml"
COMPARE = ("compare", "-f", EXAMPLE, "--replications", "1")
STRATEGIES = {"exclusive", "timeSlicing", "mps", "mpsUncapped", "mig", "mig+timeSlicing",
              "mig+mps", "vgpu", "hami"}


def compared(*arguments, file=EXAMPLE):
    result = run("compare", "-f", file, "--replications", "1", "-o", "json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Page(unittest.TestCase):
    @thorough
    def test_each_study_is_a_page(self):
        small = ("-f", SHARED, "--variant", "shared", "--replications", "1", "--set", "duration=2m", "-o", "html")
        for verb in (("compare", "--instances", "g4dn.xlarge", "--strategies", "exclusive"), ("max-load", "--most", "2"),
                     ("neighbours",), ("sensitivity",)):
            with self.subTest(verb=verb[0]):
                page = run(*verb, *small)
                self.assertIn(page.returncode, (0, 6, 99), page.stderr)
                self.assertTrue(page.stdout.startswith("<!doctype html>"))
                self.assertIn("<table", page.stdout)

    def test_a_stored_one_is_no_scenario_and_says_where_its_page_is(self):
        refused = run("report", "-", stdin='{"apiVersion": "slicewise.dev/comparison.v1alpha1", "kind": "Comparison"}')
        self.assertEqual(refused.returncode, 3)
        self.assertIn("slicewise compare -f SCENARIO -o html", refused.stderr)


class Options(unittest.TestCase):
    def test_every_strategy_is_there_or_refused_with_a_reason(self):
        document = compared("--retired")
        rows = document["options"] + document["refused"]
        for instance in ("p3.2xlarge", "g4dn.xlarge", "g5.xlarge", "p4d.24xlarge"):
            with self.subTest(instance=instance):
                here = [row for row in rows if row["instanceType"] == instance]
                self.assertEqual({row["strategy"] for row in here}, STRATEGIES)
        self.assertTrue(all(row["message"] for row in document["refused"]))
        self.assertEqual(sum(row["best"] for row in document["options"]), 1)

    def test_retired_types_take_rows_where_they_are_asked_for(self):
        types = compared()["metadata"]["instanceTypes"]
        self.assertEqual(types, ["g4dn.xlarge", "g5.xlarge", "p4d.24xlarge"])
        self.assertEqual(compared("--instances", "p3.2xlarge")["metadata"]["instanceTypes"],
                         ["p3.2xlarge"])

    def test_what_stands_but_cannot_be_had_is_not_recommended(self):
        text = run(*COMPARE, "--instances", "p3.2xlarge", "--strategies", "exclusive").stdout
        self.assertIn("What stands is not recommended: AWS has retired its instance type.", text)

    def test_own_nodes_that_come_and_go_are_counted_to_their_most(self):
        own = next(row for row in compared(file="scenarios/examples/karpenter-thrash.yaml")["options"] if "yours" in row)
        self.assertEqual(own["nodes"], 8)
        text = run("compare", "-f", "scenarios/examples/karpenter-thrash.yaml", "--replications", "1").stdout
        self.assertIn("yours, 0 to 8 x g4dn.xlarge", text)

    def test_instances_replicas_and_nodes_are_as_asked(self):
        document = compared("--instances", "g5.xlarge,g6.xlarge", "--replicas", "3",
                            "--nodes", "2")
        self.assertEqual(document["metadata"]["instanceTypes"], ["g5.xlarge", "g6.xlarge"])
        asked = [row for row in document["options"] if "yours" not in row]
        self.assertEqual({row["nodes"] for row in asked}, {2})
        self.assertEqual({row["replicas"] for row in asked
                          if row["strategy"] != "exclusive"}, {3})

    def test_what_costs_too_much_is_never_the_answer(self):
        asked = ("--instances", "g5.xlarge", "--strategies", "exclusive,timeSlicing", "--max-cost")
        none = run(*COMPARE, *asked, "1")
        self.assertEqual(none.returncode, 4)
        self.assertIn("error: every option costs more than --max-cost", none.stderr)
        self.assertIn("; it costs more than --max-cost.", " ".join(none.stdout.split()))
        self.assertIn("<failure", run(*COMPARE, *asked, "1", "-o", "junit").stdout)
        document = compared(*asked, "2000")
        self.assertEqual(document["metadata"]["maxMonthlyUsd"], 2000)
        for row in document["options"]:
            self.assertEqual(row.get("tooDear", False), row["cost"]["usdPerHour"] * 730 > 2000, row["title"])

    def test_what_is_minimised_is_said(self):
        asked = ("--instances", "g5.xlarge", "--strategies", "exclusive,timeSlicing", "--objective")
        document = compared(*asked, "monthlyCost")
        self.assertEqual(document["metadata"]["goal"], "monthlyCost")
        best = next(row for row in document["options"] if row["best"])
        self.assertEqual(best["goal"], min(row["goal"] for row in document["options"] if row["verdict"]["stands"]))
        self.assertIn(f"Best by monthlyCost, ${best['goal']:,.0f}"[:27], run(*COMPARE, *asked, "monthlyCost").stdout)
        self.assertIn("it does nothing that --objective counts", " ".join(run(*COMPARE, *asked, "costPer1kInSlo").stdout.split()))

    @thorough
    def test_ways_to_serve_are_told_apart(self):
        asked = ("compare", "-f", SHARED, "--variant", "shared", "--replications", "1", "--instances", "g5.xlarge",
                 "--strategies", "exclusive,mps,vgpu", "--max-batch", "1,8", "--max-delay", "5ms")
        self.assertIn("STRATEGY", run(*asked).stdout)
        rows = list(csv.DictReader(io.StringIO(run(*asked, "-o", "csv").stdout)))
        keys = [(row["instanceType"], row["title"], row["workload"]) for row in rows if row["title"]]
        self.assertEqual(len(keys), len(set(keys)))
        document = json.loads(run(*asked, "-o", "json").stdout)
        self.assertEqual(len({row["title"] for row in document["options"]}), len(document["options"]))
        self.assertTrue(all("serving" in row for row in document["options"] if "yours" not in row))
        refused = run(*asked, "-o", "wide").stdout.split("REFUSED")[1]
        self.assertEqual(refused.count("vGPU on g5.xlarge"), 1, refused)

    def test_who_sets_up_what_the_device_plugin_does_not_is_said(self):
        asked = ("--instances", "g5.xlarge", "--strategies", "mpsUncapped")
        self.assertNotIn("byDra", run(*COMPARE, *asked, "-o", "json").stdout)
        self.assertTrue(all(row["byDra"] for row in compared(*asked, "--dra")["options"] if "yours" not in row))
        best = run(*COMPARE, *asked, "--dra").stdout
        self.assertRegex(" ".join(best.split()), r"Cheapest work: [^:]*uncapped: .* Set up by: NVIDIA's DRA driver")

    def test_the_scenarios_own_way_has_its_own_name(self):
        text = ("apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n"
                "  nodePools: [{name: a, instanceType: g4dn.xlarge, kai: true}]\n"
                "  workloads: [{name: w, kind: Deployment, replicas: 2, gpuMemory: {resident: 4Gi}, work: {units: 10},\n"
                "    podTemplate: {annotations: {gpu-fraction: '0.5'}}, measured: {unitTime: 60s}}]\n"
                "  duration: 10m\n")
        result = run("compare", "-f", "-", "--instances", "g4dn.xlarge", stdin=text)
        self.assertIn("yours: KAI", result.stdout)

    def test_force_runs_what_is_refused_and_marks_it(self):
        flags = ("--instances", "p4d.24xlarge", "--variant", "after")
        refused = {row["strategy"]: row["code"] for row in compared(*flags)["refused"]}
        self.assertEqual(refused, {"mig+mps": "MPS_ON_MIG", "vgpu": "VGPU_NOT_ON_EKS"})
        document = compared(*flags, "--force")
        self.assertEqual(document["refused"], [])
        self.assertEqual({row["strategy"] for row in document["options"] if row["forced"]},
                         {"mig+mps", "vgpu"})

    def test_what_no_plugin_sets_up_is_shown_but_never_the_best(self):
        options = compared("--instances", "g5.xlarge")["options"]
        self.assertEqual([row["strategy"] for row in options if not row["stock"]],
                         ["mpsUncapped"])
        self.assertTrue(all(row["stock"] for row in options if row["best"]))
        text = run(*COMPARE, "--instances", "g5.xlarge").stdout
        self.assertRegex(text, r"MPS x\d+ uncapped .* not stock\n")

    def test_the_variant_is_the_first_unless_named(self):
        self.assertEqual(compared(file=SHARED)["metadata"]["variant"], "alone")
        shared = compared("--variant", "shared", "--instances", "g5.xlarge", file=SHARED)
        self.assertEqual(shared["metadata"]["variant"], "shared")
        self.assertEqual([w["name"] for w in shared["options"][0]["workloads"]],
                         ["classifier", "trainer"])

    def test_an_option_is_what_run_finds(self):
        option = next(row for row in compared("--variant", "before", "--instances", "p3.8xlarge",
                                              "--nodes", "1")["options"]
                      if row["strategy"] == "exclusive")
        result = run("run", "-f", EXAMPLE, "--variant", "before", "--replications", "1",
                     "-o", "json")
        variant = json.loads(result.stdout)["variants"][0]
        self.assertEqual(option["cost"]["totalUsd"], variant["cost"]["totalUsd"])
        self.assertEqual(option["pods"]["pendingMax"], variant["pods"]["pendingMax"])


class Formats(unittest.TestCase):
    def test_json_obeys_its_schema(self):
        schema = json.loads(run("schema", "comparison").stdout)
        if jsonschema is None:
            skip_without("python3-jsonschema")
        jsonschema.Draft7Validator.check_schema(schema)
        validator = jsonschema.Draft7Validator(schema)
        for flags in ((), ("--force", "--nodes", "3"), ("--instances", "g6f.xlarge,p4d.24xlarge")):
            with self.subTest(flags=flags):
                document = compared(*flags)
                self.assertEqual([e.message for e in validator.iter_errors(document)], [])
        document["options"][0]["unknown"] = 1
        self.assertFalse(validator.is_valid(document))

    def test_yaml_says_the_same_as_json(self):
        self.assertEqual(yaml.safe_load(run(*COMPARE, "-o", "yaml").stdout), compared())

    def test_csv_has_one_width_and_every_row(self):
        rows = list(csv.reader(io.StringIO(run(*COMPARE, "-o", "csv").stdout)))
        document = compared()
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.assertEqual(len(rows), 1 + len(document["options"]) + len(document["refused"]))

    @thorough
    def test_tables_fit_a_hundred_columns_and_keys_are_sorted(self):
        for file, variant in ((EXAMPLE, "after"), (SHARED, "alone"), (SHARED, "shared")):
            text = run("compare", "-f", file, "--variant", variant, "--replications", "1",
                       env={"LC_ALL": "C.UTF-8"}).stdout
            self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)
            for heading in ("NODES", "NOTES"):
                self.assertRegex(text, rf"(?m)^{heading}")
            self.assertNotRegex(text, r"(?m)^(ISOLATION|REFUSED)")
        self.assertEqual(list(compared()), sorted(compared()))

    def test_wide_shows_what_isolates_and_what_was_refused(self):
        text = run(*COMPARE, "-o", "wide", env={"COLUMNS": "80"}).stdout
        self.assertRegex(text, r"(?m)^ISOLATION .*\n  STRATEGY +MEMORY +COMPUTE +FAULT +MEANS$")
        self.assertRegex(text, r"(?m)^REFUSED$")

    def test_the_same_bytes_with_any_number_of_threads(self):
        flags = ("compare", "-f", EXAMPLE, "--replications", "2", "-o", "json", "--jobs")
        one = run(*flags, "1").stdout
        for jobs in ("2", "8"):
            self.assertEqual(one, run(*flags, jobs).stdout, jobs)


class Mistakes(unittest.TestCase):
    def expect(self, code, message, *arguments, stdin=""):
        result = run(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(message, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_an_unknown_instance_type_is_3_with_the_nearest_name(self):
        self.expect(3, "did you mean g5.xlarge?", *COMPARE, "--instances", "g5.xlarg")

    def test_an_unknown_variant_is_2_with_the_nearest_name(self):
        self.expect(2, 'did you mean "before"?', *COMPARE, "--variant", "befor")

    def test_two_node_pools_are_3(self):
        text = (ROOT / EXAMPLE).read_text(encoding="utf-8").replace(
            "  workloads:\n", "  - {name: more, instanceType: g5.xlarge, nodes: 1}\n  workloads:\n",
            1)
        self.expect(3, "one node pool", "compare", "-f", "-", stdin=text)

    def test_numbers_out_of_range_are_2(self):
        self.expect(2, "from 2 to 1000", *COMPARE, "--replicas", "1")
        self.expect(2, "from 1 to 10000", *COMPARE, "--nodes", "0")

    def test_no_option_at_all_is_4_and_the_reasons_are_printed(self):
        result = run("compare", "-f", EXAMPLE, "--instances", "g4dn.xlarge", "--set",
                     "workloads.cifar10.podTemplate.resources.requests.cpu=64")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("asks for 64000m of CPU", result.stdout)

    def test_an_objective_that_no_option_meets_is_99(self):
        text = (ROOT / EXAMPLE).read_text(encoding="utf-8").replace(
            "work:", "slo: {completionP95: 1s}\n    work:", 1)
        result = run("compare", "-f", "-", "--replications", "1", stdin=text)
        self.assertEqual(result.returncode, 99, result.stderr)
        self.assertIn("completionP95 missed", result.stdout)


if __name__ == "__main__":
    main()
