"""What Python gets is what the program writes, byte for byte."""

import gzip
import html
import json
import os
import pathlib
import re
import tempfile
import unittest

import pandas
import polars
import yaml
from package import ROOT, SHARED, slicewise
from program import main, run
from verdicts_test import budget, service

QUICK = ("aws-cifar10", "seven-pods-one-a100", "mig-multi-tenant", "chat-llm", "replica-sweep",
         "voice-pipeline")
TEAM = "scenarios/examples/logs/team-trace.csv"
TEAM_JOBS = "scenarios/examples/logs/team-jobs.csv"
COLUMNS = {"arrival": "submitted:iso", "run": "run_seconds", "limit": "limit_seconds",
           "gpus": "gpus", "id": "job", "user": "user"}


def program(*arguments, **given):
    return run(*arguments, **given).stdout


class SameBytes(unittest.TestCase):
    def test_runs_of_examples(self):
        for name in QUICK:
            path = f"scenarios/examples/{name}.yaml"
            made = slicewise.load(path).run(seeds=1)
            self.assertEqual(made.json, program("run", "-f", path, "-o", "json",
                                                "--replications", "1"), name)

    def test_exit_codes_are_verdicts(self):
        path = "scenarios/examples/aws-cifar10.yaml"
        for variant, stands in (("after-greedy", False), ("after", True)):
            made = slicewise.load(path).run(variant=variant)
            told = run("run", "-f", path, "--variant", variant)
            self.assertEqual(made.verdict.exit_code, told.returncode)
            self.assertEqual(bool(made.verdict), stands)
            self.assertEqual(bool(made.verdict.reasons), not stands)

    def test_verdicts_are_those_of_the_documents(self):
        """Studies around a scenario exit with 0 though a policy denies it; `str` says why."""
        denied = service(1, policies=budget(1))
        made = slicewise.load(denied).sensitivity(vary=["traffic"], break_evens=0)
        self.assertFalse(made.verdict)
        self.assertEqual(made.verdict.exit_code, 0)
        self.assertIn('policy "budget" denies it', str(made.verdict))
        two = service(1) + service(1).split("  workloads:")[1].replace("chat", "bulk").replace("20/s", "80/s")
        made = slicewise.load(two.replace("nodes: 1", "nodes: 2")).neighbours()
        self.assertFalse(made.verdict)
        self.assertIn('"bulk" answers', str(made.verdict))
        made = slicewise.load(service(2, "slo: {latencyP99: 5s}")).max_load()
        self.assertIn("stayed Pending", str(made.verdict))
        frame = pandas.DataFrame({"arrival_s": [0, 10], "run_s": [100, 100], "gpus": [1, 16]})
        made = slicewise.replay(frame, instances={"p4d.24xlarge": 1})
        self.assertIn("1 of 2 jobs stayed Pending", str(made.verdict))
        made = slicewise.load(service(1, "slo: {latencyP99: 1ms}")).compare(instances=["g4dn.xlarge"])
        self.assertIn("misses latencyP99", str(made.verdict))

    def test_every_study(self):
        s = slicewise.load(SHARED)
        two = ("--replications", "2", "-o", "json")
        for made, words in (
                (s.plan(instances=["g4dn.xlarge", "g6"], top=2, seeds=2, headroom=False),
                 ("plan", "--instances", "g4dn.xlarge,g6", "--top", "2", "--no-headroom")),
                (s.plan(instances=["g4dn.xlarge"], seeds=2, flips=False, headroom=False, horizon=3,
                        growth=0.05),
                 ("plan", "--instances", "g4dn.xlarge", "--no-headroom", "--no-flips",
                  "--horizon", "3", "--growth", "5%")),
                (s.compare(instances=["g4dn.xlarge"], variant="shared", seeds=2),
                 ("compare", "--instances", "g4dn.xlarge", "--variant", "shared")),
                (s.max_load(precision=0.1, seeds=2), ("max-load", "--precision", "10%")),
                (s.neighbours(variant="shared", seeds=2), ("neighbours", "--variant", "shared")),
                (s.sensitivity(vary=["traffic"], break_evens=0, seeds=2),
                 ("sensitivity", "--vary", "traffic", "--break-evens", "0"))):
            self.assertEqual(made.json, program(words[0], "-f", SHARED, *words[1:], *two), words)

    def test_advice(self):
        pods = "scenarios/examples/logs/kubectl.json"
        prices = {"date": "2026-01-31", "prices": [
            {"instanceType": "g4dn.xlarge", "region": "us-east-1", "usdPerHour": 0.25, "source": "a test"}]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "prices.json")
            path.write_text(json.dumps(prices), encoding="utf-8")
            for given, words in (({}, []), ({"prices": slicewise.Text(str(path), path.read_text(encoding="utf-8"))},
                                            ["--prices", str(path)])):
                advice = pathlib.Path(folder, f"advice{len(words)}")
                told = run("advise", "-f", pods, "--instances", "g4dn.xlarge", "--replications", "1", "--no-flips",
                           "--set", "seed=7", "--out", str(advice), *words)
                self.assertEqual(told.returncode, 0, told.stderr)
                if given:
                    path.unlink()
                made = slicewise.advise(pods, instances=["g4dn.xlarge"], seeds=1, flips=False, set={"seed": 7}, **given)
                there = {str(file.relative_to(advice)): file.read_text(encoding="utf-8")
                         for file in advice.rglob("*") if file.is_file()}
                self.assertEqual(sorted(made), sorted(there))
                self.assertIn("report.html", made)
                for name, text in there.items():
                    if name == "metrics.prom":  # they were made one after the other
                        text = re.sub(r"(?m)^slicewise_advice_timestamp_seconds.*$",
                                      re.search(r"(?m)^slicewise_advice_timestamp_seconds.*$", made[name])[0], text)
                    self.assertEqual(made[name], text, name)
                self.assertEqual(made.options[0]["monthlyUsd"], json.loads(there["plan.json"])["options"][0]["monthlyUsd"])
                self.assertEqual(made.scenario.text, there["scenario.yaml"])
        with self.assertRaises(slicewise.FileUnreadable):
            slicewise.advise("absent.json")

    def test_other_formats(self):
        made = slicewise.load(SHARED).run(seeds=2)
        for word, text in (("table", made.table()), ("wide", made.table(wide=True)),
                           ("md", made.markdown()),
                           ("csv", made.csv().replace("\r\n", "\n"))):
            self.assertEqual(text, run("run", "-f", SHARED, "--replications", "2", "-o", word,
                                       env={"LANG": "C.UTF-8", "COLUMNS": "100"}).stdout, word)

    def test_settings_sweeps_prices_and_catalogues(self):
        made = (slicewise.load(SHARED, set={"nodePools.t4.nodes": 2})
                .with_({"workloads.classifier.traffic.mean": "30/s"})
                .run(seeds=1, variant="shared", sweep={"workloads.classifier.replicas": [1, 2]}))
        self.assertEqual(made.json, program(
            "run", "-f", SHARED, "--set", "nodePools.t4.nodes=2",
            "--set", "workloads.classifier.traffic.mean=30/s", "--variant", "shared",
            "--sweep", "workloads.classifier.replicas=[1,2]", "--replications", "1", "-o", "json"))
        own = "scenarios/examples/own/catalogue.yaml"
        made = slicewise.load(SHARED, catalogue=own).run(seeds=1)
        self.assertEqual(made.json, program("run", "-f", SHARED, "--catalogue", own,
                                            "--replications", "1", "-o", "json"))
        cheap = json.dumps({"date": "2026-11-20", "prices": [
            {"instanceType": "g4dn.xlarge", "region": "us-east-1", "purchase": "on-demand",
             "usdPerHour": 0.1, "source": "ours"}]})
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(cheap)
            file.flush()
            text = slicewise.Text(file.name, cheap)
            for prices in (file.name, text):
                made = slicewise.load(SHARED, prices=prices).run(seeds=1)
                self.assertEqual(made.json, program("run", "-f", SHARED, "--prices", file.name,
                                                    "--replications", "1", "-o", "json"))
        plan = slicewise.load(SHARED, prices=text).plan(
            instances=["g4dn.xlarge"], seeds=1, headroom=False, flips=False)
        self.assertEqual(plan.scenario().run().variants[0]["cost"]["monthlyUsd"],
                         plan.options[0]["monthlyUsd"])

    def test_texts_and_dicts_are_standard_input(self):
        text = (ROOT / SHARED).read_text(encoding="utf-8")
        said = program("run", "-f", "-", "--replications", "1", "-o", "json", stdin=text)
        self.assertEqual(slicewise.load(text).run(seeds=1).json, said)
        figures = slicewise.load(yaml.safe_load(text)).run(seeds=1).to_dict()["variants"]
        self.assertEqual(figures, json.loads(said)["variants"])

    def test_exports(self):
        s = slicewise.load("scenarios/examples/mig-multi-tenant.yaml")
        path = "scenarios/examples/mig-multi-tenant.yaml"
        self.assertEqual(s.export("helm-values", variant="mixed")[""], program(
            "export", "-f", path, "--variant", "mixed", "--to", "helm-values"))
        with tempfile.TemporaryDirectory() as folder:
            run("export", "-f", path, "--variant", "mixed", "--to", "bundle", "--out", folder)
            written = {str(file.relative_to(folder)): file.read_text(encoding="utf-8")
                       for file in pathlib.Path(folder).rglob("*") if file.is_file()}
        bundle = s.export("bundle", variant="mixed")
        self.assertEqual(bundle, written)
        with tempfile.TemporaryDirectory() as folder:
            bundle.write(pathlib.Path(folder, "roll-out"))
            self.assertTrue(os.access(pathlib.Path(folder, "roll-out/apply.sh"), os.X_OK))
            self.assertFalse(os.access(pathlib.Path(folder, "roll-out/VERIFY.md"), os.X_OK))
            s.export("helm-values", variant="mixed").write(pathlib.Path(folder, "values.yaml"))
            self.assertTrue(pathlib.Path(folder, "values.yaml").is_file())
        greedy = slicewise.load("scenarios/examples/aws-cifar10.yaml").export(
            "helm-values", variant="after-greedy")
        self.assertIn("GPU_MEM_GREEDY", [d.code for d in greedy.diagnostics])

    def test_an_option_of_a_plan_is_a_scenario(self):
        s = slicewise.load(SHARED, set={"workloads.classifier.traffic.mean": "25/s"})
        plan = s.plan(variant="shared", instances=["g4dn.xlarge"], seeds=2, headroom=False, flips=False)
        made = plan.scenario().run()
        self.assertTrue(made.verdict)
        self.assertEqual(made.variants[0]["cost"]["monthlyUsd"], plan.options[0]["monthlyUsd"])
        with self.assertRaisesRegex(slicewise.InputError, "no option 9"):
            plan.scenario(9)
        self.assertTrue(plan.report().startswith("<!doctype html>"))

    def test_pages(self):
        made = slicewise.load(SHARED).report(variant="alone", seeds=1)
        self.assertEqual(made, program("report", SHARED, "--variant", "alone", "--replications", "1",
                                       "-o", "html"))
        shown = made._repr_html_()  # pylint: disable=protected-access
        self.assertEqual(html.unescape(re.search('srcdoc="(.*)"', shown, re.DOTALL)[1]), made)

    def test_checks(self):
        made = slicewise.check("scenarios/examples/cluster")
        self.assertEqual(made.json, program("check", "scenarios/examples/cluster", "-o", "json"))
        self.assertTrue(made.verdict)
        self.assertEqual(slicewise.load(SHARED).check().json, program("check", SHARED, "-o", "json"))
        self.assertIn("GPU_MEM_UNLIMITED", [row["code"] for row in made.findings])


class Readme(unittest.TestCase):
    def test_what_it_shows_works(self):
        text = (ROOT / "tools/python/README.md").read_text(encoding="utf-8")
        [block] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        jobs = pandas.read_csv(TEAM_JOBS).rename(columns={"run_seconds": "seconds"})
        names = {"frame_of_jobs": jobs}
        exec(block, names)  # pylint: disable=exec-used
        self.assertTrue(names["r"].verdict)


class Logs(unittest.TestCase):
    def test_a_replay_of_a_trace(self):
        made = slicewise.replay(TEAM, instances={"p4d.24xlarge": 2}, sharing=["exclusive", "mps:4"])
        self.assertEqual(made.json, program("replay", "-f", TEAM, "--instances", "p4d.24xlarge=2",
                                            "--sharing", "exclusive,mps:4", "-o", "json"))
        self.assertTrue(made.report().startswith("<!doctype html>"))

    def test_frames_are_traces(self):
        said = run("replay", "-f", TEAM, "--gpus", "24", "--queue", "fifo,easy", "-o", "json").stdout
        expected = json.loads(said)["schedulers"]
        jobs = pandas.read_csv(TEAM, comment="#")
        for frame in (jobs, polars.from_pandas(jobs)):
            made = slicewise.replay(frame, gpus=24, queue=["fifo", "easy"])
            self.assertEqual(made.to_dict()["schedulers"], expected)

    def test_frames_of_any_columns(self):
        trace = slicewise.import_jobs(pandas.read_csv(TEAM_JOBS), columns=COLUMNS)
        words = ",".join(f"{what}={column}" for what, column in COLUMNS.items())
        self.assertEqual(trace.csv, program("import", "jobs", "-f", TEAM_JOBS, "--columns", words))
        made = slicewise.replay(pandas.read_csv(TEAM_JOBS), columns=COLUMNS, gpus=24, job_times=True)
        self.assertEqual(made.to_dict(), slicewise.replay(trace, gpus=24).to_dict())
        self.assertEqual(made.job_times.count("\n"), 1 + 160)

    def test_a_trace_is_a_table(self):
        trace = slicewise.import_jobs(pandas.read_csv(TEAM_JOBS), columns=COLUMNS)
        rows = trace.to_pandas()
        self.assertEqual(len(rows), 160)
        self.assertEqual(list(rows.columns), ["arrival_s", "run_s", "gpus", "time_limit_s", "id", "user"])
        self.assertEqual((rows["run_s"].dtype, rows["gpus"].dtype), ("int64", "int64"))
        self.assertIsInstance(trace.rows[0]["user"], str)

    def test_lengths_of_time_of_a_frame_are_seconds(self):
        jobs = pandas.read_csv(TEAM_JOBS)
        expected = slicewise.import_jobs(jobs, columns=COLUMNS).csv
        jobs["run_seconds"] = pandas.to_timedelta(jobs["run_seconds"], unit="s")
        for frame in (jobs, polars.from_pandas(jobs)):
            self.assertEqual(slicewise.import_jobs(frame, columns=COLUMNS).csv, expected)

    def test_logs_of_slurm_compressed_or_not(self):
        path = "scenarios/examples/logs/sacct-month.txt.gz"
        said = program("import", "sacct", "-q", "-f", path)
        self.assertEqual(slicewise.import_sacct(path).csv, said)
        plain = gzip.decompress((ROOT / path).read_bytes())
        self.assertEqual(slicewise.import_sacct(slicewise.Text("month.txt", plain)).csv, said)

    def test_manifests_become_scenarios(self):
        path = "scenarios/examples/cluster/pods.yaml"
        made = slicewise.import_k8s(path)
        self.assertEqual(made.text, program("import", "k8s", "-f", path))
        self.assertIn("Missing: region (prices), instanceType (gpu)", made.messages)
        self.assertEqual(made.workloads, ["transcribe"])

    def test_a_trace_that_a_scenario_names_may_be_a_frame(self):
        path = "scenarios/examples/recorded-team.yaml"
        jobs = pandas.read_csv(TEAM, comment="#")
        text = (ROOT / path).read_text("utf-8").replace("team-trace.csv", "frame.csv")
        made = slicewise.load(text, name=path, files={"logs/frame.csv": jobs}).run(seeds=1)
        of_file = slicewise.load(path).run(seeds=1)
        self.assertEqual(made.workloads.columns, of_file.workloads.columns)
        self.assertEqual(made.variants[0]["cost"], of_file.variants[0]["cost"])
        with self.assertRaisesRegex(slicewise.InputError, "cannot read \"logs/none.csv\""):
            slicewise.load(text.replace("frame", "none"))

    def test_services_of_a_frame(self):
        path = "scenarios/examples/services.csv"
        self.assertEqual(slicewise.load(pandas.read_csv(path)).text,
                         program("init", "--from", "-", stdin=(ROOT / path).read_text("utf-8")))

    def test_jobs_of_a_frame(self):
        jobs = pandas.read_csv(TEAM_JOBS)
        nodes = {"g5.12xlarge": 2, "p4d.24xlarge": 3}
        made = slicewise.load(jobs, columns=COLUMNS, instances=nodes, set={"seed": 7})
        by_hand = slicewise.load("""
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: jobs}
spec:
  nodePools:
  - {name: g5-12xlarge, instanceType: g5.12xlarge, nodes: 2}
  - {name: p4d-24xlarge, instanceType: p4d.24xlarge, nodes: 3}
  workloads:
  - {name: jobs, kind: TraceJobs, trace: {file: team.csv}}
""", files={"team.csv": slicewise.import_jobs(jobs, columns=COLUMNS).csv}, set={"seed": 7})
        self.assertEqual(made.run(seeds=1).workloads.columns, by_hand.run(seeds=1).workloads.columns)
        self.assertEqual(slicewise.load(pandas.read_csv(TEAM, comment="#"), instances=nodes).pools,
                         ["g5-12xlarge", "p4d-24xlarge"])
        with self.assertRaisesRegex(slicewise.UsageError, r"load\(jobs, instances=\.\.\.\), or slicewise\.replay"):
            slicewise.load(pandas.read_csv(TEAM, comment="#"))
        with self.assertRaisesRegex(slicewise.InputError, "nodes"):
            slicewise.load(jobs, columns=COLUMNS, instances="p4d.24xlarge=some")
        with self.assertRaisesRegex(slicewise.UsageError, "jobs need nodes"):
            slicewise.load(jobs, columns=COLUMNS)
        for other in (polars.from_pandas(jobs).lazy(), polars.from_pandas(jobs).to_arrow()):
            with self.assertRaisesRegex(slicewise.UsageError, "is no path, text or DataFrame"):
                slicewise.load(other)

    def test_measurements_become_profiles_that_scenarios_name(self):
        path = "scenarios/examples/own/measurements.csv"
        made = slicewise.calibrate(pandas.read_csv(path, dtype=str, keep_default_na=False))
        with tempfile.NamedTemporaryFile("r", suffix=".yaml") as profiles:
            said = run("calibrate", path, "--out", profiles.name, env={"LANG": "C.UTF-8", "COLUMNS": "100"})
            self.assertEqual(made.profiles.content, pathlib.Path(profiles.name).read_text("utf-8"))
        self.assertEqual(made.table, said.stdout)
        slicewise.load(SHARED, catalogue=made.profiles).run(seeds=1)


if __name__ == "__main__":
    main()
