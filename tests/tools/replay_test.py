"""slicewise replay: jobs of a trace under several schedulers."""

import csv
import hashlib
import json
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

from program import BINARY, EXAMPLE, PODS_LOST, environment, interrupt_at_work, run

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
