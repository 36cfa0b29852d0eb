"""slicewise diff: what changed between two stored results."""

import json
import os
import tempfile
import unittest
import xml.etree.ElementTree

import yaml

from program import EXAMPLE, PODS_LOST, check_schema, run, thorough

SHARED = "scenarios/examples/shared-inference.yaml"
FAST = ("-f", SHARED, "--variant", "shared", "--set", "duration=2m", "--replications", "3")


class Diff(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.old, self.new = (os.path.join(folder.name, name) for name in ("old.json", "new.json"))
        for path, rate in ((self.old, "20/s"), (self.new, "30/s")):
            result = run("run", *FAST, "--set", f"workloads.classifier.traffic.mean={rate}",
                         "-o", "json", "--out", path)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_exit_codes(self):
        for code, arguments in ((0, (self.old, self.old, "--exit-code")),
                                (0, (self.old, self.new)),
                                (1, (self.old, self.new, "--exit-code")),
                                (99, (self.old, self.new, "--fail-on", "p99:+1%", "--exit-code")),
                                (0, (self.old, self.new, "--fail-on", "cost:+1%,pods.oom")),
                                (0, (self.old, self.old, "--fail-on", "verdict")),
                                (2, (self.old, self.new, "--fail-on", "costs:+1%")),
                                (3, (self.old, SHARED)),
                                (5, (self.old, "absent.json")),
                                (2, (self.old,))):
            result = run("diff", *arguments)
            self.assertEqual(result.returncode, code, (arguments, result.stderr))

    def test_options_of_plans_are_scenarios(self):
        result = run("diff", "plan.json#1", "plan.json#2")
        self.assertEqual(result.returncode, 5)
        self.assertIn("slicewise run -f 'plan.json#1' -o json", result.stderr)

    def test_who_still_does_not_stand_is_named(self):
        greedy = os.path.join(os.path.dirname(self.old), "greedy.json")
        lost = run("run", "-f", EXAMPLE, "--replications", "1", "-o", "json", "--out", greedy)
        self.assertEqual(lost.returncode, PODS_LOST, lost.stderr)
        self.assertIn("no difference, after-greedy still does not stand",
                      " ".join(run("diff", greedy, greedy).stdout.split()))

    def test_the_verdict_of_a_highest_load(self):
        for path, limit in ((self.old, "500ms"), (self.new, "1ms")):
            run("max-load", *FAST[:-1], "2", "--precision", "20%", "--set",
                f"workloads.classifier.slo={{latencyP95: {limit}}}", "-o", "json", "--out", path)
        self.assertEqual(run("diff", self.old, self.old, "--fail-on", "verdict").returncode, 0)
        result = run("diff", self.old, self.new, "--fail-on", "verdict")
        self.assertEqual(result.returncode, 99, result.stdout)
        self.assertIn("shared no longer stands:", result.stdout)

    def test_formats(self):
        document = json.loads(run("diff", self.old, self.new, "-o", "json").stdout)
        check_schema(self, "difference", document)
        self.assertTrue(document["differs"])
        self.assertEqual(yaml.safe_load(run("diff", self.old, self.new, "-o", "yaml").stdout),
                         document)
        comment = run("diff", self.old, self.new, "-o", "md").stdout
        self.assertTrue(comment.endswith("<!-- slicewise:shared-inference -->\n"), comment)
        self.assertIn("no difference", run("diff", self.old, self.old).stdout)

    @thorough
    def test_a_scatter_has_both_points(self):
        drawn = run("diff", self.old, self.new, "-o", "svg")
        points = [title.text for title in xml.etree.ElementTree.fromstring(drawn.stdout).iter(
            "{http://www.w3.org/2000/svg}title") if ": $" in title.text]
        bill = f"${json.load(open(self.new, encoding='utf-8'))['variants'][0]['cost']['per1kRequestsInSloUsd']:.6f}"
        self.assertEqual([point.split(":")[0] for point in points], ["shared, before", "shared, after"])
        self.assertIn(bill, points[1])
        for path, load in ((self.old, "2"), (self.new, "3")):
            run("max-load", *FAST, "--most", load, "-o", "json", "--out", path)
        refused = run("diff", self.old, self.new, "-o", "svg")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("the table says what changed", refused.stderr)

    def test_prices_of_a_job_are_compared_where_as_many_were_finished(self):
        for path, variant in ((self.old, "before"), (self.new, "after")):
            run("run", "-f", "scenarios/examples/aws-cifar10.yaml", "--variant", variant, "-o", "json",
                "--out", path)
        text = run("diff", self.old, self.new).stdout
        self.assertIn("the same $/month", " ".join(text.split()))
        self.assertRegex(text, r"(?m)^\$/job +\$2\.45 +\$0\.6508 +of 5, of 20 jobs$")
        self.assertRegex(text, r"(?m)^jobs finished +5 +20 +\+15$")

    def test_each_changed_input_is_named(self):
        document = json.loads(run("diff", self.old, self.new, "-o", "json").stdout)
        self.assertIn({"name": "workloads.classifier.traffic.mean", "old": "20/s", "new": "30/s"},
                      document["inputs"])
        self.assertEqual({i["name"] for i in document["inputs"]},
                         {"scenarioSha256", "workloads.classifier.traffic.mean"})
        self.assertRegex(run("diff", self.old, self.new).stdout,
                         r"workloads\.classifier\.traffic\.mean +20/s +30/s")
        comment = run("diff", self.old, self.new, "-o", "md").stdout
        self.assertIn("| workloads.classifier.traffic.mean | 20/s | 30/s |", comment)

    def test_replays_are_compared_scheduler_by_scheduler(self):
        trace = "scenarios/examples/logs/team-trace.csv"
        files = []
        for nodes, queue in ((2, "fifo,backfill"), (3, "fifo,easy")):
            files.append(os.path.join(os.path.dirname(self.old), f"replay-{nodes}.json"))
            run("replay", "-f", trace, "--instances", f"p4d.24xlarge={nodes}", "--queue", queue,
                "-o", "json", "--out", files[-1])
        result = run("diff", *files)
        self.assertRegex(result.stdout, r"scheduler fifo, best-fit\nFIGURE +OLD +NEW +CHANGE\n"
                                        r"completionMean +\S+ +\S+ +-")
        self.assertIn("scheduler easy, best-fit: only in NEW", result.stdout)
        self.assertIn("scheduler backfill, best-fit: only in OLD", result.stdout)
        self.assertRegex(result.stdout, r"cluster +2 x p4d.24xlarge")
        for documents, code in ((files, 0), (files[::-1], 99)):
            gated = run("diff", *documents, "--fail-on", "p99:+5%,cost.total:+20%")
            self.assertEqual(gated.returncode, code, gated.stderr)
            self.assertEqual("completionP99" in gated.stderr, code == 99, gated.stderr)
        # The bill: three nodes for two, and for less of the time.
        for documents, code in ((files, 0), (files[::-1], 99)):
            self.assertEqual(run("diff", *documents, "--fail-on", "cost:+5%").returncode, code)
        same = run("diff", files[0], files[0], "--exit-code")
        self.assertEqual((same.returncode, "no difference" in same.stdout), (0, True))

    def test_inflations_are_compared_placement_by_placement(self):
        files = []
        for nodes in ("3x8", "4x8"):
            files.append(os.path.join(os.path.dirname(self.old), f"inflation-{nodes}.json"))
            run("replay", "-f", "scenarios/examples/logs/team-trace.csv", "--nodes", nodes, "--inflate", "130%",
                "--placement", "best-fit,first-fit", "--replications", "4", "-o", "json", "--out", files[-1])
        said = run("diff", *files)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertRegex(said.stdout, r"GPUs handed out +\d\S+ \S+\d% +\d")
        figures = [item["figures"][0] for item in json.loads(run("diff", *files, "-o", "json").stdout)["items"]]
        outcomes = [json.load(open(file, encoding="utf-8"))["placements"] for file in files]
        self.assertEqual([(f["old"]["value"], f["new"]["value"]) for f in figures],
                         [tuple(side[n]["allocatedRatio"] for side in outcomes) for n in range(2)])
        self.assertEqual("ci95" in figures[0]["old"], outcomes[0][0]["standardDeviation"] is not None)
        same = run("diff", files[0], files[0], "--exit-code")
        self.assertEqual((same.returncode, "no difference" in same.stdout), (0, True))

    def test_one_scheduler_for_another_is_said(self):
        files = []
        for queue in ("fifo", "easy"):
            files.append(os.path.join(os.path.dirname(self.old), f"{queue}.json"))
            run("replay", "-f", "scenarios/examples/logs/team-trace.csv", "--instances", "p4d.24xlarge=2", "--queue",
                queue, "-o", "json", "--out", files[-1])
        self.assertRegex(run("diff", *files).stdout, r"queue +fifo +easy")

    def test_a_result_whose_workload_has_no_name_is_wrong(self):
        with open(self.old, encoding="utf-8") as file:
            result = json.load(file)
        del result["variants"][0]["workloads"][0]["name"]
        nameless = os.path.join(os.path.dirname(self.old), "nameless.json")
        with open(nameless, "w", encoding="utf-8") as file:
            json.dump(result, file)
        told = run("explain", nameless)
        self.assertEqual(told.returncode, 3, told.stdout)
        self.assertIn("FIELD_MISSING", told.stderr)


if __name__ == "__main__":
    unittest.main()
