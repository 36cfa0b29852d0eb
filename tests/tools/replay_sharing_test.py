"""slicewise replay: jobs of a trace that share GPUs."""

import csv
import json
import pathlib
import tempfile
import unittest

import jsonschema

from program import PODS_LOST, ROOT, VerbCase, run

LOGS = "scenarios/examples/logs/"
TRACE = LOGS + "team-trace.csv"


class SharedReplay(VerbCase):
    verb = "replay"

    def test_ways_of_sharing_stand_side_by_side(self):
        sharing = ("exclusive", "time-slicing:4", "mps:4", "mig:all-1g.5gb")
        arguments = ("-f", TRACE, "--instances", "p4d.24xlarge=2", "--queue", "fifo,easy",
                     "--placement", "best-fit", "--group-by", "user")
        shared = (*arguments, "--sharing", ",".join(sharing))
        document = json.loads(self.expect(PODS_LOST, "", *shared, "-o", "json").stdout)
        jsonschema.validate(document, json.loads(run("schema", "replay").stdout))
        outcomes = document["schedulers"]
        self.assertEqual([(o["sharing"], o["queue"]) for o in outcomes],
                         [(way, queue) for way in sharing for queue in ("fifo", "easy")])
        for outcome in outcomes:
            company = outcome["company"]
            refused = sum(each["jobs"] for each in company.get("fitNoShare", []))
            self.assertEqual(outcome["finished"] + refused, 160)
            self.assertEqual(refused > 0, outcome["sharing"].startswith("mig"))
            self.assertEqual(company["slowdown"]["max"] > 1, outcome["sharing"] != "exclusive")
            self.assertEqual(company["provenance"]["jobs"], 160)
            self.assertAlmostEqual(outcome["usdPerJob"] * outcome["finished"], outcome["costUsd"],
                                   delta=1e-6)
            means = [group["slowdown"]["mean"] for group in outcome["groups"]]
            self.assertEqual(means, sorted(means, reverse=True))
            self.assertEqual(company["worstUser"]["slowdownMean"], means[0])
        plain = json.loads(self.expect(0, "", *arguments, "-o", "json").stdout)["schedulers"]
        for alone, without in zip(outcomes[:2], plain):
            for key in ("waitSeconds", "completionSeconds", "makespanSeconds", "costUsd", "events",
                        "peakGpus", "gpuHours", "sizes"):
                self.assertEqual(alone[key], without[key])
        texts = {run("replay", *shared, "-o", "json", "--jobs", jobs).stdout for jobs in "128"}
        self.assertEqual(len(texts), 1)
        for form in ("table", "wide", "md", "csv", "yaml"):
            text = self.expect(PODS_LOST, "", *shared, "-o", form).stdout
            for way in sharing:
                self.assertIn(way, text)
        rows = list(csv.DictReader(self.expect(PODS_LOST, "", *shared, "-o", "csv")
                                   .stdout.splitlines()))
        self.assertEqual({row["sharing"] for row in rows}, set(sharing))
        self.assertEqual(float(rows[0]["slowdownMean"]), 1)
        self.assertNotIn("sharing", self.expect(0, "", *arguments, "-o", "csv").stdout)

    def test_sharing_is_scheduled_as_kubernetes_does_it(self):
        outcome, = json.loads(self.expect(0, "", "-f", TRACE, "--instances", "p4d.24xlarge=2", "-o",
                                          "json", "--sharing", "mps:2").stdout)["schedulers"]
        self.assertEqual((outcome["queue"], outcome["placement"]), ("backfill", "least-allocated"))

    def test_placements_that_know_sharing_stand_side_by_side(self):
        policies = ("best-fit", "memory-binpack", "utilization-binpack", "gavel", "lucid",
                    "interference-aware")
        month = run("import", "openb", "-q", "-f", LOGS + "openb-month.csv.gz").stdout
        arguments = ("-f", "-", "--any-gpu", "--instances", "p3.16xlarge=3", "--sharing",
                     "time-slicing:4", "--queue", "fifo", "--placement", ",".join(policies))
        document = json.loads(run("replay", *arguments, "-o", "json", stdin=month).stdout)
        jsonschema.validate(document, json.loads(run("schema", "replay").stdout))
        outcomes = document["schedulers"]
        self.assertEqual(tuple(o["placement"] for o in outcomes), policies)
        slowdowns = {o["placement"]: o["company"]["slowdown"]["mean"] for o in outcomes}
        self.assertEqual(len(set(slowdowns.values())), len(policies), slowdowns)
        waits = {o["placement"]: o["waitSeconds"]["mean"] for o in outcomes}
        self.assertEqual(min(waits, key=waits.get), "interference-aware")
        self.assertGreater(waits["best-fit"], 5 * waits["interference-aware"])
        table = run("replay", *arguments, stdin=month).stdout
        for policy in policies:
            self.assertRegex(table, rf"time-slicing:4 +{policy} ")
        self.expect(2, "they need --sharing", "-f", TRACE, "--instances", "p3.16xlarge=3",
                    "--placement", "gavel")
        file = "apiVersion: slicewise.dev/v1alpha1\nkind: Replay\nmetadata: {name: a}\n" \
               "spec:\n  trace: {file: x.csv}\n  cluster: {gpus: 8}\n  placement: lucid\n"
        self.expect(3, "-:7:14: error[SETTING_CONFLICT]: lucid looks", "-f", "-", stdin=file)

    def test_jobs_interleave_their_iterations(self):
        trace = "arrival_s,run_s,gpus,iteration_s,iteration_host_s,iteration_gpu_s," \
                "iteration_network_s\n0,1000,1,1,1,0,0\n0,1000,1,1,0,1,0\n"
        arguments = ("--gpus", "1", "--queue", "fifo,muri,antman", "-o", "json")
        document = json.loads(self.expect(0, "", "-f", "-", *arguments, stdin=trace).stdout)
        jsonschema.validate(document, json.loads(run("schema", "replay").stdout))
        fifo, muri, antman = [s["completionSeconds"]["mean"] for s in document["schedulers"]]
        self.assertEqual((fifo, antman), (1500, 1500))  # both own their GPU
        self.assertAlmostEqual(muri, 1000 * 1.33 / 1.015, delta=1e-3)
        self.expect(3, "what an iteration of each job does", "-f", TRACE, *arguments)
        self.expect(3, "error[TRACE_COLUMN]: muri and antman know no parts", "-f", "-",
                    *arguments[:2], "--queue", "muri",
                    stdin=trace.replace("gpus", "gpus,gpu_milli").replace("00,1,", "00,1,500,"))
        self.expect(2, "srtf, srsf, muri and antman", "-f", TRACE, "--instances", "p3.16xlarge=3",
                    "--sharing", "mps:2", "--queue", "muri")

    def test_interleaved_jobs_use_gpus_for_more_than_all_of_the_time(self):
        trace = "arrival_s,run_s,gpus,iteration_s,iteration_host_s,iteration_gpu_s," \
                "iteration_network_s\n0,100,1,1,1,0,0\n0,100,1,1,0,1,0\n"
        arguments = ("-f", "-", "--nodes", "1x1", "--queue", "fifo,muri", "--placement",
                     "random,fgd")
        document = json.loads(self.expect(0, "", *arguments, "-o", "json", stdin=trace).stdout)
        rows = [(s["queue"], s.get("placement")) for s in document["schedulers"]]
        self.assertEqual(rows, [("fifo", "random"), ("fifo", "fgd"), ("muri", None)])
        muri = document["schedulers"][2]
        self.assertAlmostEqual(muri["gpuUtilization"], 2 * 1.015 / 1.33, delta=1e-6)
        self.assertTrue(muri["series"]["gpus"])
        text = self.expect(0, "", *arguments, "-o", "csv", stdin=trace).stdout
        row, = [r for r in csv.DictReader(text.splitlines())
                if (r["queue"], r["size"]) == ("muri", "all")]
        self.assertEqual((row["placement"], float(row["gpuUtilization"])),
                         ("", muri["gpuUtilization"]))
        self.assertRegex(self.expect(0, "", *arguments, stdin=trace).stdout, r"muri +- ")
        self.expect(2, "--placement says nothing to muri", "-f", "-", "--nodes", "1x1", "--queue",
                    "muri,antman", "--placement", "fgd", stdin=trace)

    def test_busy_time_of_utilisation_has_a_range(self):
        trace = "arrival_s,run_s,gpus,gpu_permille\n" + "".join(f"{60 * n},3600,1,800\n" for n in range(4))
        shared = ("-f", "-", "--instances", "g4dn.xlarge=2", "--sharing", "exclusive,time-slicing:4")
        given = run("replay", *shared, "-o", "json", stdin=trace)
        self.assertNotIn("ranges", json.loads(given.stdout)["schedulers"][1], given.stderr)
        self.assertIn("--inputs sampled", run("replay", *shared, stdin=trace).stdout)
        sampled = (*shared, "--inputs", "sampled")
        document = json.loads(run("replay", *sampled, "-o", "json", stdin=trace).stdout)
        jsonschema.validate(document, json.loads(run("schema", "replay").stdout))
        alone, turns = document["schedulers"]
        ranges = {figure["name"]: figure for figure in turns["ranges"]}
        self.assertEqual(set(ranges), {"waitMean", "completionMean", "slowdownMean", "costUsd"})
        self.assertLess(ranges["completionMean"]["least"], ranges["completionMean"]["value"])
        self.assertGreater(ranges["completionMean"]["most"], ranges["completionMean"]["value"])
        self.assertEqual(ranges["completionMean"]["value"], turns["completionSeconds"]["mean"])
        self.assertTrue(all(figure["least"] == figure["most"] for figure in alone["ranges"]))
        self.assertEqual([at["busyOfGpuUtil"] for at in document["fastest"]], [0.75, 0.65, 1])
        table = run("replay", *sampled, stdin=trace).stdout
        self.assertIn("INPUTS DRAWN", table)
        self.assertIn("From 65 to 100 % of GPU_UTIL", table)
        with tempfile.TemporaryDirectory() as folder:
            stored = pathlib.Path(folder, "replay.json")
            stored.write_text(json.dumps(document), encoding="utf-8")
            page = run("report", str(stored))
        self.assertIn("with 65 to 100 % of GPU utilisation", page.stdout, page.stderr)
        refused = run("replay", "-f", "-", "--gpus", "4", "--inputs", "sampled", stdin=trace)
        self.assertEqual(refused.returncode, 2, refused.stderr)

    def test_a_file_says_how_gpus_are_shared(self):
        file = "apiVersion: slicewise.dev/v1alpha1\nkind: Replay\nmetadata: {name: a}\nspec:\n" \
               f"  trace: {{file: {(ROOT / TRACE).resolve()}}}\n" \
               "  cluster: {CLUSTER}\n  sharing: [SHARING]\n"
        instances = "instances: [{instanceType: p4d.24xlarge, count: 2}]"
        good = file.replace("CLUSTER", instances).replace("SHARING", "exclusive, time-slicing:4")
        from_file = self.expect(0, "", "-f", "-", "-o", "csv", stdin=good).stdout
        from_flags = self.expect(0, "", "-f", str((ROOT / TRACE).resolve()), "--instances",
                                 "p4d.24xlarge=2", "--sharing", "exclusive,time-slicing:4", "-o",
                                 "csv").stdout
        self.assertEqual(from_file, from_flags)
        bad = file.replace("CLUSTER", "gpus: 8").replace("SHARING", "mpps:4")
        result = self.expect(3, "did you mean mps?", "-f", "-", stdin=bad)
        self.assertIn("which GPUs the nodes have", result.stderr)
        for line in ("  queue: srtf\n", "  inflate: 1.3\n"):
            self.expect(3, "SETTING_CONFLICT", "-f", "-", stdin=good + line)

    def test_sharing_that_cannot_be_is_refused(self):
        nodes = ("-f", TRACE, "--instances", "p4d.24xlarge=2", "--sharing")
        self.expect(2, "--sharing needs --instances", "-f", TRACE, "--gpus", "8", "--sharing",
                    "mps:4")
        self.expect(2, "did you mean time-slicing?", *nodes, "time-slice:4")
        self.expect(2, "from 2 to", *nodes, "mps:1")
        self.expect(2, "srtf", *nodes, "mps:4", "--queue", "srtf")
        self.expect(2, "--inflate", *nodes, "mps:4", "--inflate", "130%")
        self.expect(3, "did you mean all-1g.5gb?", *nodes, "mig:all-1g.5g")
        self.expect(3, "all-balanced", *nodes, "mig:all-balanced")
        self.expect(3, "MPS_TOO_MANY_CLIENTS", *nodes, "mps:60")
        self.expect(3, "MIG_UNSUPPORTED", "-f", TRACE, "--instances", "g5.xlarge=2", "--sharing",
                    "mig:all-1g.5gb")
        self.expect(3, "part of a GPU", "-f", TRACE, "--instances", "g6f.large=8", "--sharing",
                    "exclusive")

    def test_who_finds_no_gpu_memory_is_counted(self):
        trace = "arrival_s,run_s,gpus,gpu_memory_bytes\n0,3000,1,10000000000\n" \
                "5,100,1,10000000000\n6,10,1,90000000000\n"
        result = self.expect(PODS_LOST, "", "-f", "-", "--instances", "g4dn.xlarge=1", "--sharing",
                             "time-slicing:2", "-o", "json", stdin=trace)
        outcome = json.loads(result.stdout)["schedulers"][0]
        self.assertEqual((outcome["company"]["oomKilled"], outcome["company"]["failed"]), (7, 1))
        self.assertEqual(outcome["company"]["fitNoShare"],
                         [{"firstLine": 4, "firstRow": 3, "jobs": 1, "reason": "gpuMemory"}])
        self.assertEqual([reason["cause"] for reason in outcome["verdict"]["reasons"]],
                         ["podsFailed", "podsPending"])

    def test_neighbours_of_the_time_of_recording_are_taken_out(self):
        rows = "0,100,1,n/0\n50,100,1,n/0\n"
        trace = f"# run_under_sharing=true\narrival_s,run_s,gpus,ran_on\n{rows}"
        arguments = ("-f", "-", "--instances", "p4d.24xlarge=1", "--sharing", "exclusive", "-o",
                     "json")
        document = json.loads(self.expect(0, "", *arguments, stdin=trace).stdout)
        self.assertEqual(document["metadata"]["companyTakenOut"], 2)
        self.assertAlmostEqual(document["schedulers"][0]["completionSeconds"]["mean"], 500 / 7,
                               places=5)  # 50 s alone, and 3/7 of the 50 s beside each other
        unsaid = json.loads(self.expect(0, "", *arguments, stdin=trace.replace(
            ",ran_on", "").replace(",n/0", "")).stdout)
        self.assertTrue(unsaid["metadata"]["runTimesUnderSharing"])
        self.assertEqual(unsaid["schedulers"][0]["completionSeconds"]["mean"], 100)

    def test_recorded_company_comes_again_as_it_was(self):
        trace = "# run_under_sharing=true\narrival_s,run_s,gpus,gpu_permille,ran_on\n" \
                "0,200,1,1000,n/0\n0,200,1,1000,n/0\n"
        result = self.expect(0, "", "-f", "-", "--instances", "g5.xlarge=1", "--sharing",
                             "time-slicing:2", "-o", "json", stdin=trace)
        self.assertAlmostEqual(
            json.loads(result.stdout)["schedulers"][0]["completionSeconds"]["mean"], 200, delta=3)


if __name__ == "__main__":
    unittest.main()
