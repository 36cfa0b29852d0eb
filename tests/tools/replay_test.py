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

from program import BINARY, EXAMPLE, PODS_LOST, VerbCase, environment, interrupt_at_work, run, thorough

LOGS = "scenarios/examples/logs/"
TRACE = LOGS + "team-trace.csv"


class Replay(VerbCase):
    verb = "replay"

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

    def test_a_log_of_another_system_is_sent_to_its_importer(self):
        for text, kind in (("JobIDRaw|Submit|Start|End\n1|2024-01-01T00:00:00|x|y\n", "sacct"),
                           ("; Version: 2.2\n1 0 5 100 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n", "swf"),
                           ("job,when\n1,2\n", None)):
            with tempfile.TemporaryDirectory() as folder:
                log = pathlib.Path(folder, "log.txt")
                log.write_text(text, encoding="utf-8")
                told = run("replay", "-f", str(log), "--gpus", "4")
                self.assertEqual(told.returncode, 3)
                self.assertIn(f"slicewise import {kind} -f {log}" if kind else "read by slicewise import\n", told.stderr)

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

    @thorough
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

    def test_what_is_wrong_has_its_place(self):
        head = "apiVersion: slicewise.dev/v1alpha1\nkind: Replay\nmetadata: {name: a}\nspec:\n" \
               "  trace: {file: x.csv}\n  cluster: {instances: [{instanceType: g5.xlarge}]}\n"
        for line, column in (("  backoffLimit: 1\n", 17), ("  profileBy: ['name=a:b']\n", 14)):
            self.expect(3, f"-:7:{column}: error[SETTING_CONFLICT]", "-f", "-", stdin=head + line)
        self.expect(3, "-:8:14: error[SETTING_CONFLICT]: muri and antman choose", "-f", "-",
                    stdin=head + "  queue: [muri]\n  placement: fgd\n")
        # What the file names is wrong where it names it.
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder, "spec.yaml")
            pathlib.Path(folder, "x.csv").write_text("arrival_s,run_s,gpus\n0,1,1\n", encoding="utf-8")
            spec.write_text(head.replace("g5.xlarge", "g9.xlarge"), encoding="utf-8")
            self.expect(3, f"{spec}:6:40: error[INSTANCE_UNKNOWN]", "-f", str(spec))
            spec.write_text(head.replace("[{inst", "[{instanceType: p3.2xlarge}, {inst") +
                            "  sharing: [exclusive, mig:all-1g.5gb]\n", encoding="utf-8")
            self.expect(3, f"{spec}:7:24: error[MIG_UNSUPPORTED]", "-f", str(spec))
        self.expect(3, "more than 9 billion dollars", "-f", "-", "--instances", "p5.48xlarge=1000",
                    stdin="arrival_s,run_s,gpus\n0,3000000000,1\n")
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
        self.assertEqual(without["provenance"]["gpuUtilisation"], 1)
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

    def test_of_gpus_of_no_kind_no_memory_is_known(self):
        trace = ("arrival_s,run_s,gpus,gpu_memory_bytes,cpu_milli\n0,100,1,3221225472,\n"
                 "0,100,9,3221225472,\n")
        for cluster in (("--gpus", "4"), ("--nodes", "1x4")):
            result = self.expect(PODS_LOST, "", "-f", "-", *cluster, stdin=trace)
            self.assertNotIn("GPU memory", result.stdout)
            self.assertNotIn("-1m", result.stdout)

    def test_one_job_that_waits_has_one_wait(self):
        trace = "arrival_s,run_s,gpus\n0,3600,1\n30,100,1\n"
        scheduler, = json.loads(self.expect(0, "", "-f", "-", "--gpus", "1", "-o", "json",
                                            stdin=trace).stdout)["schedulers"]
        self.assertEqual(scheduler["waitSeconds"]["p99"], 3570)
        self.assertEqual(scheduler["makespanSeconds"], 3700)

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


if __name__ == "__main__":
    unittest.main()
