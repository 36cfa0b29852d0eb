"""slicewise replay: jobs of a trace under several schedulers."""

import csv
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema

from program import BINARY, EXAMPLE, PODS_LOST, ROOT, environment, interrupt_at_work, run

LOGS = "scenarios/examples/logs/"
TRACE = LOGS + "team-trace.csv"


class Replay(unittest.TestCase):
    def expect(self, code, message, *arguments, **settings):
        result = run("replay", *arguments, **settings)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(message, result.stderr)
        return result

    def test_a_file_says_what_flags_say(self):
        from_file = self.expect(0, "", "-f", LOGS + "team-replay.yaml", "-o", "json")
        from_flags = self.expect(0, "", "-f", TRACE, "--instances", "p3.16xlarge=3", "--queue",
                                 "fifo,easy,backfill,srtf", "-o", "json")
        self.assertEqual(from_file.stdout, from_flags.stdout)
        flags_win = self.expect(PODS_LOST, "", "-f", LOGS + "team-replay.yaml", "--gpus", "8",
                                "--queue", "easy", "-o", "json")
        document = json.loads(flags_win.stdout)
        self.assertEqual(document["metadata"]["cluster"], "one pool of 8 GPUs")
        self.assertEqual([s["queue"] for s in document["schedulers"]], ["easy"])

    def test_threads_change_no_byte(self):
        for arguments in (("-f", LOGS + "team-replay.yaml", "--placement", "best-fit,random"),
                          ("-f", TRACE, "--nodes", "3x8", "--inflate", "120%", "--placement",
                           "random,fgd", "--replications", "3")):
            texts = {run("replay", *arguments, "-o", "json", "--jobs", jobs).stdout
                     for jobs in ("1", "2", "8")}
            self.assertEqual(len(texts), 1)

    def test_documents_obey_the_schema(self):
        schema = json.loads(run("schema", "replay").stdout)
        for code, arguments in ((0, ("-f", LOGS + "team-replay.yaml")),
                                (PODS_LOST, ("-f", TRACE, "--gpus", "8")),
                                (0, ("-f", TRACE, "--nodes", "3x8", "--inflate", "130%"))):
            document = json.loads(self.expect(code, "", *arguments, "-o", "json").stdout)
            jsonschema.validate(document, schema)
            document["unknown"] = 1
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(document, schema)

    def test_every_format_holds_the_schedulers(self):
        for form in ("table", "wide", "yaml", "csv", "md"):
            with self.subTest(form=form):
                text = self.expect(0, "", "-f", LOGS + "team-replay.yaml", "-o", form).stdout
                for word in ("fifo", "easy", "srtf"):
                    self.assertIn(word, text)
        rows = list(csv.DictReader(self.expect(PODS_LOST, "", "-f", TRACE, "--gpus", "8", "-o",
                                               "csv").stdout.splitlines()))
        for row in rows:
            self.assertNotIn(None, row)
            self.assertEqual((row["stands"], row["reasons"]), ("false", "4 Pending"))

    def test_start_and_end_of_every_job(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "jobs.csv")
            self.expect(0, "", "-f", TRACE, "--gpus", "16", "--job-times", str(out))
            jobs = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
        self.assertEqual(len(jobs), 160)
        starts = [float(job["start_s"]) for job in jobs]
        self.assertEqual(starts, sorted(starts))  # strict FIFO
        for job in jobs:
            self.assertLessEqual(float(job["arrival_s"]), float(job["start_s"]))

    def test_mistakes(self):
        self.expect(2, "--file is required", "--gpus", "8")
        self.expect(2, "one of --gpus, --nodes and --instances", "-f", TRACE)
        self.expect(2, "one of --gpus, --nodes and --instances", "-f", TRACE, "--gpus", "8",
                    "--nodes", "1x8")
        self.expect(2, 'did you mean "easy"?', "-f", TRACE, "--gpus", "8", "--queue", "fifo,esy")
        for flag in (("--shift", "1h"), ("--replications", "2"), ("--any-gpu",),
                     ("--placement", "fgd"), ("--restart-preempted",)):
            self.expect(2, flag[0], TRACE, "--gpus", "8", *flag)
        self.expect(3, "no job to replay", "-", "--gpus", "8", stdin="arrival_s,run_s,gpus\n")
        self.expect(5, "250x8", TRACE, "--nodes", "3y8")
        self.expect(2, "--repeat needs --shift", "-f", TRACE, "--gpus", "8", "--repeat", "2")
        self.expect(3, "did you mean p3.16xlarge?", "-f", TRACE, "--instances", "p3.16xlage=2")
        self.expect(3, "VALUE_RANGE", "-f", TRACE, "--gpus", "8", "--repeat", "2", "--shift", "1h")
        self.expect(5, "cannot read", "-f", "/nowhere", "--gpus", "8")
        self.expect(3, "TRACE", "-f", LOGS + "team-jobs.csv", "--gpus", "8")
        bad = "apiVersion: slicewise.dev/v1alpha1\nkind: Replay\nmetadata: {name: a}\n" \
              "spec:\n  trace: {file: x.csv}\n  cluster: {gpu: 8}\n  queue: lifo\n"
        result = self.expect(3, '-:6:13: error[FIELD_UNKNOWN]', "-f", "-", stdin=bad)
        self.assertIn("-:7:10: error[ENUM_UNKNOWN]", result.stderr)

    def test_the_other_kind_of_file_is_sent_to_its_verb(self):
        result = self.expect(3, "slicewise run -f reads it", "-f", EXAMPLE)
        self.assertIn("1 error", result.stderr)
        result = run("run", "-f", LOGS + "team-replay.yaml")
        self.assertEqual(result.returncode, 3)
        self.assertIn("slicewise replay -f reads it", result.stderr)
        self.assertIn("1 error", result.stderr)

    def test_what_is_too_large_is_refused_before_it_runs(self):
        many = ("--repeat", "1000000", "--gpus", "1", "--shift")
        trace = "arrival_s,run_s,gpus\n0,100,1\n5,100,1\n"
        for arguments, said in (
                ((*many, "1000s", "--max-events", "9999"), "arrivals and ends: 2 jobs x 1000000 x 2 = 4e+06"),
                ((*many, "1000s", "--max-events", "9999"), "lift the limit with --max-events 4400000"),
                ((*many, "5s", "--max-memory", "64Mi"), "jobs that wait or run: 2e+06 x"),
                (("--nodes", "1000000x8", "--max-memory", "64Mi"), "nodes: 1e+06 x 500 bytes"),
                (("--nodes", "1000000x8", "--inflate", "1000%", "--max-events", "1000000"), "arrivals: 8e+07 GPUs / 1 of each job")):
            with self.subTest(arguments=arguments):
                result = self.expect(3, said, "-f", "-", *arguments, stdin=trace)
                self.assertRegex(result.stderr, r"error\[RUN_TOO_LARGE\]: the (replay|experiment) would take")
        self.assertRegex(self.expect(3, "", "-f", TRACE, "--gpus", "8", "--max-events", "10").stderr,
                         r"team-trace\.csv:\d+:1: error\[RUN_TOO_LARGE\]")

    def test_memory_follows_the_jobs_alive(self):
        script = ("import resource, subprocess, sys\n"
                  "subprocess.run(sys.argv[1:], stdin=sys.stdin, stdout=subprocess.DEVNULL, check=True)\n"
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")

        # AddressSanitizer keeps what was freed for a while.
        sanitizer = ":".join(filter(None, (environment().get("ASAN_OPTIONS"), "quarantine_size_mb=0",
                                           "thread_local_quarantine_size_kb=0")))

        def kibibytes(*arguments, trace):
            return int(subprocess.run([sys.executable, "-c", script, BINARY, "replay", "-f", "-", "-q", *arguments],
                                      input=trace, env=environment(ASAN_OPTIONS=sanitizer),
                                      capture_output=True, text=True, check=True).stdout)
        jobs = "arrival_s,run_s,gpus,priority\n" + "".join(f"{s},10,1,{s % 2}\n" for s in range(10))
        for queue in ("fifo", "backfill", "priority", "srtf"):
            few, many = (kibibytes("--gpus", "8", "--queue", queue, "--shift", "20s", "--repeat", repeat, trace=jobs)
                         for repeat in ("2", "80000"))
            self.assertLess(many - few, 3_000, queue)  # 800,000 jobs
        parts = ",".join(f"iteration_{part}s" for part in ("", "host_", "gpu_", "network_"))
        owned = kibibytes("--gpus", "1000000000", "--queue", "antman", trace=f"arrival_s,run_s,gpus,{parts}\n"
                          "0,100,8,1,0.3,0.4,0.3\n")
        self.assertLess(owned, 1_000_000)  # with sanitizers as well

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

    def test_what_is_wrong_has_its_place(self):
        head = "apiVersion: slicewise.dev/v1alpha1\nkind: Replay\nmetadata: {name: a}\nspec:\n" \
               "  trace: {file: x.csv}\n  cluster: {instances: [{instanceType: g5.xlarge}]}\n"
        for line, column in (("  backoffLimit: 1\n", 17), ("  profileBy: ['name=a:b']\n", 14)):
            self.expect(3, f"-:7:{column}: error[SETTING_CONFLICT]", "-f", "-", stdin=head + line)
        self.expect(3, "-:8:14: error[SETTING_CONFLICT]: muri and antman choose", "-f", "-",
                    stdin=head + "  queue: [muri]\n  placement: fgd\n")
        shared = ("-f", "-", "--instances", "g5.xlarge=1", "--sharing", "mps:2")
        self.expect(3, "-:3:1: error[PROFILE_UNKNOWN]", *shared,
                    stdin="arrival_s,run_s,gpus,profile\n0,1,1,\n0,1,1,x\n")
        trace = "arrival_s,run_s,gpus\n0,1,1\n"
        self.expect(3, '"name~=.*:x": the catalogue has no profile "x"', *shared, "--profile-by",
                    "name~=.*:x", stdin=trace)
        # Lines of the file, though the second was left out and they are not in order.
        notes = self.expect(PODS_LOST, "", "-f", "-", "--gpus", "1", "--skip-bad",
                            stdin="arrival_s,run_s,gpus\nx,1,1\n5,1,9\n0,1,1\n").stdout
        self.assertIn("the first is line 3: 9 GPUs", " ".join(notes.split()))

    def test_gpus_are_known_by_what_logs_call_them(self):
        trace = "arrival_s,run_s,gpus,gpu_models\n"
        for name, finds in (("a100", True), ("A100_40GB", True), ("NVIDIA-A100-SXM4-40GB", True),
                            ("h100|a100", True), ("V100M16", False), ("a100-80gb", False)):
            with self.subTest(name=name):
                code = 0 if finds else PODS_LOST
                result = run("replay", "-f", "-", "--instances", "p4d.24xlarge=1",
                             stdin=f"{trace}0,60,1,{name}\n")
                self.assertEqual(result.returncode == 0, finds, (code, result.stdout))

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

    def test_how_often_a_job_comes_back_is_said(self):
        row = "5,100,1,10000000000"
        for flags, column, killed in (((), "", 7), (("--backoff-limit", "0"), "", 1),
                                      (("--backoff-limit", "2"), "", 3), ((), "0", 1),
                                      (("--backoff-limit", "2"), "4", 5)):
            with self.subTest(flags=flags, column=column):
                trace = "arrival_s,run_s,gpus,gpu_memory_bytes,backoff_limit\n" \
                        f"0,3000,1,10000000000,\n{row},{column}\n"
                result = self.expect(PODS_LOST, "", "-f", "-", "--instances", "g4dn.xlarge=1",
                                     "--sharing", "time-slicing:2", "-o", "json", *flags,
                                     stdin=trace)
                company = json.loads(result.stdout)["schedulers"][0]["company"]
                self.assertEqual((company["oomKilled"], company["failed"]), (killed, 1))
        self.expect(2, "--backoff-limit needs --sharing", "-f", TRACE, "--gpus", "8",
                    "--backoff-limit", "1")

    def test_bad_rows_are_counted_by_reason(self):
        trace = "arrival_s,run_s,gpus,gpu_milli,gpu_memory_bytes\n0,100,1,500,1000\n" \
                "1,-5,1,500,1000\n2,NaN,1,500,1000\n-3,50,1,500,1000\n5,50,64,,1000\n" \
                "6,50,1,130,1000\n7,50,1,,900000000000\n8,50,1,1500,1000\n"
        arguments = ("-f", "-", "--instances", "p4d.24xlarge=1", "--sharing", "time-slicing:4")
        stopped = self.expect(3, "3 errors", *arguments, stdin=trace.replace("8,50,1,1500,1000", ""))
        self.assertIn("-:3:3: error[TRACE_ROW]", stopped.stderr)
        result = self.expect(PODS_LOST, "", *arguments, "--skip-bad", "-o", "json", stdin=trace)
        document = json.loads(result.stdout)
        rows = [note["message"] for note in document["notes"] if note["code"] == "TRACE_ROW"]
        self.assertEqual([int(row.rsplit(" ", 1)[1]) for row in rows], [3, 3, 5, 9])
        self.assertIn("4 rows that cannot be read; the first is line 3", rows[0])
        self.assertIn("2 of them: run_s is no number of seconds", rows[1])
        outcome = document["schedulers"][0]
        self.assertEqual((outcome["jobs"], outcome["neverFit"]), (4, 1))
        self.assertEqual(outcome["company"]["fitNoShare"],
                         [{"firstLine": 8, "firstRow": 4, "jobs": 1, "reason": "gpuMemory"}])
        self.assertEqual(outcome["company"]["smallerShare"],
                         {"firstLine": 2, "firstRow": 1, "jobs": 1})
        text = " ".join(self.expect(PODS_LOST, "", *arguments, "--skip-bad",
                                    stdin=trace).stdout.split())
        for words in ("4 rows that cannot be read; the first is line 3",
                      "1 jobs asked for more of a GPU than a share of it is", "64 GPUs",
                      "they need more GPU memory than a job may have; the first is line 8"):
            self.assertIn(words, text)
        self.expect(3, "no job to replay", *arguments, "--skip-bad",
                    stdin="arrival_s,run_s,gpus\n1,-5,1\n")

    def test_rules_say_what_jobs_are(self):
        trace = "arrival_s,run_s,gpus,gpu_permille,work\n0,100,1,,bert-1\n0,100,1,,bert-2\n" \
                "0,100,1,,other\n0,100,1,500,bert-3\n"
        arguments = ("-f", "-", "--instances", "p4d.24xlarge=1", "--sharing", "time-slicing:4",
                     "--placement", "best-fit")
        known = json.loads(run("get", "profiles", "-o", "json").stdout)["items"]
        light = min((p for p in known if "duty" in p), key=lambda p: p["duty"])["name"]
        rule = f"name~=bert.*:{light}"
        result = self.expect(0, "no rule of --profile-by fits 1 jobs", *arguments, "--profile-by",
                             rule, "-o", "json", stdin=trace)
        company = json.loads(result.stdout)["schedulers"][0]["company"]
        provenance = company["provenance"]
        self.assertEqual((provenance["gpuUse"], provenance["profile"]), (3, 2))
        silent = next(p["name"] for p in known if "duty" not in p)
        claimed = json.loads(self.expect(0, "", *arguments, "--profile-by",
                                         f"name~=bert.*:{silent}", "-o", "json",
                                         stdin=trace).stdout)["schedulers"][0]["company"]
        self.assertEqual(claimed["provenance"]["gpuUse"], 1)
        without = json.loads(self.expect(0, "", *arguments, "-o", "json",
                                         stdin=trace).stdout)["schedulers"][0]["company"]
        self.assertEqual(without["provenance"]["gpuUse"], 1)
        self.assertLess(company["slowdown"]["mean"], without["slowdown"]["mean"])
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder, "rules.txt")
            rules.write_text(f"# what ours are\n{rule}\n", encoding="utf-8")
            from_file = run("replay", *arguments, "--profile-by", str(rules), "-o", "json",
                            stdin=trace)
            self.assertEqual(from_file.stdout, result.stdout)
            rules.write_text("name~=bert.*\n", encoding="utf-8")
            self.expect(3, "rules.txt:1:1", *arguments, "--profile-by", str(rules), stdin=trace)
        self.expect(3, "PROFILE_UNKNOWN", *arguments, "--profile-by", "name~=.*:nothing",
                    stdin=trace)
        self.expect(2, "--profile-by needs --sharing", "-f", TRACE, "--gpus", "8", "--profile-by",
                    rule)

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

    def test_the_page_is_drawn_from_the_document(self):
        with tempfile.TemporaryDirectory() as folder:
            stored = pathlib.Path(folder, "replay.json")
            page = pathlib.Path(folder, "replay.html")
            self.expect(0, "", "-f", TRACE, "--instances", "p4d.24xlarge=2", "--sharing",
                        "exclusive,time-slicing:2,mps:2", "-o", "json", "--out", str(stored))
            drawn = run("report", str(stored), "-o", f"html={page}", "-o", f"svg={folder}/charts/")
            self.assertEqual(drawn.returncode, 0, drawn.stderr)
            html = page.read_text(encoding="utf-8")
            charts = {path.stem for path in pathlib.Path(folder, "charts").iterdir()}
            self.assertEqual(charts, {"waiting", "running", "gpus", "waitSeconds", "slowdown",
                                      "users", "cost"})
            for words in ("time-slicing:2", "jobs in the queue", "Who is slowed down?",
                          "What does it cost?", "(Assumed)"):
                self.assertIn(words, html)
            document = json.loads(stored.read_text(encoding="utf-8"))
            embedded = html.split('id="document">')[1].split("</script>")[0]
            self.assertEqual(json.loads(embedded), document)
            self.assertEqual(run("report", str(stored)).stdout, html)
            refused = run("report", str(stored), "--seed", "7")
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertEqual(run("report", str(stored), "-o", "md").returncode, 2)
            del document["schedulers"][0]["series"]
            stored.write_text(json.dumps(document), encoding="utf-8")
            wrong = run("report", str(stored))
            self.assertEqual(wrong.returncode, 3)
            self.assertIn("series", wrong.stderr)

    def test_jobs_that_never_fit_are_named(self):
        text = self.expect(PODS_LOST, "", "-f", TRACE, "--gpus", "8").stdout
        self.assertIn("JOB_NEVER_FITS: 4 of 160 jobs", text)

    def test_what_is_left_waiting_for_good_is_judged(self):
        lost = "4 of 160 jobs stayed Pending: they ask for more than the empty cluster has"
        arguments = ("-f", TRACE, "--gpus", "8", "--queue", "fifo,easy")
        document = json.loads(self.expect(PODS_LOST, "", *arguments, "-o", "json").stdout)
        for scheduler in document["schedulers"]:
            self.assertFalse(scheduler["verdict"]["stands"])
            self.assertEqual([(r["cause"], r["text"]) for r in scheduler["verdict"]["reasons"]],
                             [("podsPending", lost)])
        for form in ("table", "md"):
            text = " ".join(self.expect(PODS_LOST, "", *arguments, "-o", form).stdout.split())
            self.assertIn(f"fifo: {lost}", text)
            self.assertIn(f"easy: {lost}", text)
        allowed = json.loads(self.expect(0, "", *arguments, "--allow-pending", "-o",
                                         "json").stdout)
        self.assertTrue(allowed["metadata"]["allowPending"])
        self.assertTrue(all(s["verdict"]["stands"] for s in allowed["schedulers"]))
        nothing = ("-f", "-", "--gpus", "1", "-o", "json")
        trace = "arrival_s,run_s,gpus\n0,10,2\n"
        result = self.expect(4, "no job ever ran", *nothing, stdin=trace)
        reasons = json.loads(result.stdout)["schedulers"][0]["verdict"]["reasons"]
        self.assertEqual([r["cause"] for r in reasons], ["nothingRan", "podsPending"])
        self.expect(4, "no job ever ran", *nothing, "--allow-pending", stdin=trace)
        self.expect(2, "--allow-pending", "-f", TRACE, "--nodes", "3x8", "--inflate", "130%",
                    "--allow-pending")

    def test_a_way_under_which_no_job_runs_is_named(self):
        trace = "arrival_s,run_s,gpus,gpu_memory_bytes\n0,10,1,30000000000\n"
        ways = ("-f", "-", "--instances", "p4d.24xlarge=1", "--sharing")
        result = self.expect(PODS_LOST, "", *ways, "exclusive,mig:all-1g.5gb", stdin=trace)
        self.assertIn("mig:all-1g.5gb, backfill, least-allocated: no job ever ran", result.stdout)
        self.expect(4, "no job ever ran", *ways, "mig:all-1g.5gb", stdin=trace)

    def test_who_lost_all_jobs_is_in_the_table(self):
        trace = ("arrival_s,run_s,gpus,user,resource\n0,10,1,ana,\n0,10,2,bo,\n0,30,1,,\n"
                 "0,10,1,eli,mig-1g.5gb\n0,10,1,eli,2g.10gb\n")
        ways = ("-f", "-", "--instances", "p4d.24xlarge=1", "--sharing", "mig:all-1g.5gb",
                "--group-by", "user")
        document = json.loads(self.expect(PODS_LOST, "", *ways, "-o", "json", stdin=trace).stdout)
        [scheduler] = document["schedulers"]
        jsonschema.validate(document, json.loads(run("schema", "replay").stdout))
        groups = {g["name"]: (g["finished"], g.get("lost")) for g in scheduler["groups"]}
        self.assertEqual(groups, {"ana": (1, None), "bo": (0, 1), "": (1, None), "eli": (1, 1)})
        self.assertEqual(scheduler["groups"][0]["name"], "bo")  # nobody fared worse
        self.assertNotIn("waitMeanSeconds", scheduler["groups"][0])
        self.assertEqual([(r["reason"], r["firstRow"]) for r in scheduler["company"]["fitNoShare"]],
                         [("severalGpus", 2), ("otherSlice", 5)])
        company = scheduler["company"]  # of those with a name
        self.assertEqual((company["worstUser"]["name"], company["userCount"]), ("ana", 2))
        text = self.expect(PODS_LOST, "", *ways, stdin=trace).stdout
        self.assertRegex(text, r"bo +0 +1 +- +- +- +-")
        self.assertIn("1 jobs never ran: they name a MIG profile that the layout does not have",
                      " ".join(text.split()))
        rows = list(csv.DictReader(self.expect(PODS_LOST, "", *ways, "-o", "csv",
                                               stdin=trace).stdout.splitlines()))
        self.assertEqual([(r["size"], r["finished"]) for r in rows[1:]],
                         [(g["name"], str(g["finished"])) for g in scheduler["groups"]])
        self.assertEqual(rows[1]["slowdownMean"], "")
        with tempfile.TemporaryDirectory() as folder:
            stored = pathlib.Path(folder, "replay.json")
            stored.write_text(json.dumps(document), encoding="utf-8")
            page = run("report", str(stored)).stdout
        people = page.split("user with mig:all-1g.5gb, worst first")[-1].split("</table>")[0]
        self.assertEqual(re.findall(r"<th scope=\"col\"[^>]*>([^<]+)", people),
                         ["Name", "Finished", "Lost", "Wait", "Completion", "Slowdown"])

    def test_rows_of_sizes_have_their_own_slowdown(self):
        arguments = ("-f", TRACE, "--instances", "p4d.24xlarge=3", "--sharing", "time-slicing:4",
                     "--group-by", "size", "-o")
        [scheduler] = json.loads(self.expect(0, "", *arguments, "json").stdout)["schedulers"]
        rows = list(csv.DictReader(self.expect(0, "", *arguments, "csv").stdout.splitlines()))
        for group, row in zip(scheduler["groups"], rows[1:], strict=True):
            self.assertEqual((row["size"], float(row["slowdownMean"])),
                             (group["name"], group["slowdown"]["mean"]))
            self.assertNotEqual(row["waitP99Seconds"], "")
        lost = self.expect(PODS_LOST, "", "-f", TRACE, "--gpus", "8", "-o", "csv").stdout
        self.assertEqual(next(csv.DictReader(lost.splitlines()))["neverFit"], "4")

    def test_the_stamp_names_prices_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            prices = pathlib.Path(folder, "prices.json")
            prices.write_text(json.dumps({"date": "2026-11-20", "prices": [
                {"instanceType": "p3.16xlarge", "region": "us-east-1", "purchase": "on-demand",
                 "usdPerHour": 1.0, "source": "test"}]}), encoding="utf-8")
            arguments = ("-f", TRACE, "--instances", "p3.16xlarge=3", "--prices", str(prices))
            metadata = json.loads(self.expect(0, "", *arguments, "-o", "json").stdout)["metadata"]
            self.assertEqual(metadata["priceFile"], str(prices))
            self.assertEqual(metadata["priceFileSha256"],
                             hashlib.sha256(prices.read_bytes()).hexdigest())
            self.assertIn("prices.json", self.expect(0, "", *arguments).stdout)

    def test_an_interrupt_writes_what_there_is(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder, "long.csv")
            trace.write_text("arrival_s,run_s,gpus\n" +
                             "".join(f"{n},1,1\n" for n in range(100_000)), encoding="utf-8")
            process = subprocess.Popen(
                [BINARY, "replay", "-f", str(trace), "--gpus", "4", "--repeat", "10000",
                 "--shift", "100000s", "-o", "json"], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, env=environment())
            interrupt_at_work(process, after_s=0.5)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("interrupted", err)
        self.assertTrue(json.loads(out)["metadata"]["interrupted"])


class WhatRowsSay(unittest.TestCase):
    """What a field that is empty, or says the same in other words, means."""

    def schedulers(self, trace, *arguments, code=0):
        result = run("replay", "-f", "-", *arguments, "-o", "json", stdin=trace)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)["schedulers"]

    def test_without_a_part_of_a_gpu_a_job_takes_all_of_it(self):
        trace = "arrival_s,run_s,gpus,gpu_milli\n" + "0,100,1,\n" * 3 + "0,100,1,1000\n" * 2
        replayed = self.schedulers(trace, "--gpus", "1")[0]
        self.assertEqual(replayed["makespanSeconds"], 500)
        self.assertEqual([(s["name"], s["finished"]) for s in replayed["sizes"]],
                         [("1 GPU", 5)])

    def test_a_part_is_one_of_each_gpu(self):
        use = [self.schedulers(f"arrival_s,run_s,gpus,gpu_milli\n0,36000,{gpus},500\n",
                               "--instances", node, "--sharing", "exclusive")[0]["company"]["gpuBusyRatio"]
               for gpus, node in ((1, "g5.xlarge=1"), (4, "g5.12xlarge=1"))]
        self.assertAlmostEqual(use[0], 0.5)
        self.assertAlmostEqual(use[1], 0.5)

    def test_a_gpu_is_busy_while_an_sm_is(self):
        on = ("--instances", "g5.xlarge=1", "--sharing", "exclusive")
        both = "arrival_s,run_s,gpus,gpu_permille,sm_permille\n0,36000,1,1000,900\n"
        busy = self.schedulers(both, *on)[0]["company"]["gpuBusyRatio"]
        self.assertAlmostEqual(busy, 0.9)

    def test_a_gpu_is_the_one_that_a_log_means(self):
        times = [self.schedulers(f"arrival_s,run_s,gpus,gpu_models\n0,1000,1,{name}\n", "--any-gpu",
                                 "--instances", "g5.xlarge=1", "--sharing",
                                 "exclusive")[0]["makespanSeconds"]
                 for name in ("T4", "Tesla_T4", "NVIDIA-T4")]
        self.assertLess(times[0], 900)
        self.assertEqual(times, [times[0]] * 3)

    def test_tail_times_of_sharing_are_there(self):
        trace = "arrival_s,run_s,gpus\n0,100,1\n0,100,1\n0,100,1\n"
        shared, = self.schedulers(trace, "--instances", "g5.xlarge=1", "--sharing", "exclusive")
        self.assertAlmostEqual(shared["waitP95Seconds"], 200, delta=2)
        self.assertAlmostEqual(shared["completionP95Seconds"], 300, delta=3)
        self.assertNotIn("waitP95Seconds", self.schedulers(trace, "--gpus", "1")[0])

    def test_jobs_that_never_fit_are_named_in_any_order_of_ways(self):
        trace = "arrival_s,run_s,gpus\n0,10,16\n0,10,1\n"
        for ways in ("exclusive,mig:all-1g.5gb", "mig:all-1g.5gb,exclusive"):
            result = run("replay", "-f", "-", "--instances", "p4d.24xlarge=1", "--sharing", ways,
                         stdin=trace)
            self.assertIn("JOB_NEVER_FITS: 1 of 2 jobs", result.stdout)

    def test_jobs_above_the_memory_of_all_gpus_are_counted_without_sharing_too(self):
        trace = "arrival_s,run_s,gpus,gpu_memory_bytes\n0,10,1,1000\n0,10,1,30000000000\n" \
                "5,10,1,40000000000\n"
        for nodes, said in (("g5.xlarge=4", True), ("g5.xlarge=4,p4d.24xlarge=1", False)):
            text = run("replay", "-f", "-", "--instances", nodes, stdin=trace).stdout
            self.assertEqual("2 jobs need more GPU memory than any GPU here has (22.49 GiB), and were "
                             "run all the same; the first is line 3" in " ".join(text.split()), said,
                             text)

    def test_rows_of_groups_have_figures_of_the_group_alone(self):
        trace = "arrival_s,run_s,gpus,user\n0,10,1,ana\n0,10,2,bo\n0,30,1,bo\n"
        ways = ("-f", "-", "--instances", "p4d.24xlarge=1", "--sharing", "mig:all-1g.5gb")
        everything, *groups = csv.DictReader(
            run("replay", *ways, "--group-by", "user", "-o", "csv", stdin=trace).stdout.splitlines())
        self.assertEqual((everything["lost"], everything["fitNoShare"]), ("1", "1"))
        self.assertEqual({row["size"]: row["lost"] for row in groups}, {"ana": "", "bo": "1"})
        for row in groups:
            self.assertEqual(row["sharing"], "mig:all-1g.5gb")
            for column in ("costUsd", "usdPerJob", "worstUser", "completionP95Seconds", "neverFit",
                           "boundedSlowdownMean", "gpuBusy", "makespanSeconds", "fitNoShare"):
                self.assertEqual(row[column], "", column)
        self.assertNotIn("lost", run("replay", *ways, "-o", "csv", stdin=trace).stdout.split("\n", 1)[0])

    def test_a_pod_fits_any_slice_that_is_as_large_as_the_one_it_had(self):
        def pod(number, resource):
            times = {"startTime": "2026-11-01T08:00:00Z", "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-01T08:00:00Z"}]}
            ended = {"terminated": {"startedAt": "2026-11-01T08:00:05Z", "finishedAt": "2026-11-01T09:00:00Z",
                                    "exitCode": 0, "reason": "Completed"}}
            return {"metadata": {"name": f"p{number}", "namespace": "x", "uid": f"u{number}",
                                 "creationTimestamp": "2026-11-01T08:00:00Z"},
                    "spec": {"containers": [{"name": "c", "resources": {"limits": {resource: "1"}}}]},
                    "status": {**times, "phase": "Succeeded",
                               "containerStatuses": [{"name": "c", "state": ended}]}}

        pods = json.dumps({"kind": "List", "items": [pod(1, "nvidia.com/mig-1g.5gb"),
                                                     pod(2, "nvidia.com/mig-2g.10gb")]})
        trace = run("import", "pods", "-f", "-", stdin=pods)
        self.assertEqual(trace.returncode, 0, trace.stderr)
        ways = {"mig:all-1g.5gb": 1, "mig:all-2g.10gb": 2, "mig:all-3g.20gb": 2, "time-slicing:4": 2,
                "exclusive": 2}
        found = self.schedulers(trace.stdout, "--instances", "p4d.24xlarge=1", "--sharing", ",".join(ways),
                                code=PODS_LOST)
        self.assertEqual({way["sharing"]: way["finished"] for way in found}, ways)
        self.assertEqual(found[0]["company"]["fitNoShare"][0]["reason"], "otherSlice")
        self.assertEqual(found[0]["company"]["provenance"]["gpuMemory"], 2)

    def test_the_page_compares_ways_that_did_the_work(self):
        trace = "arrival_s,run_s,gpus,gpu_memory_bytes\n0,10,1,30000000000\n0,10,1,30000000000\n"
        stored = run("replay", "-f", "-", "--instances", "p4d.24xlarge=1", "--sharing",
                     "mig:all-1g.5gb,exclusive", "-o", "json", stdin=trace).stdout
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "replay.json")
            path.write_text(stored, encoding="utf-8")
            page = run("report", str(path)).stdout
        self.assertIn("exclusive costs least", page)
        self.assertNotIn("0 s with mig", page)
        self.assertNotRegex(page, "mig:all-1g.5gb costs least")

    def test_a_trace_without_a_run_time_is_an_error(self):
        result = run("replay", "-f", "-", "--gpus", "1", stdin="arrival_s,run_s,gpus\n0,,1\n")
        self.assertEqual(result.returncode, 3)
        self.assertIn("no job of the trace says how long it ran", result.stderr)


if __name__ == "__main__":
    unittest.main()
