"""`slicewise report`: scenarios, stored results and plans; what it refuses; what it writes."""

import csv
import gzip
import json
import pathlib
import re
import shutil
import tempfile
import unittest
from xml.etree import ElementTree

from program import EXAMPLE, PODS_LOST, ROOT, run, thorough
from verdicts_test import MISSED, jobs, service

SERVICES = "scenarios/examples/shared-inference.yaml"
# A page is the same work whatever it shows; half an hour of requests is not.
SHORT = ("--replications", "2", "--set", "duration=3m")


class Report(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def path(self, name):
        return str(self.folder / name)

    def engine(self):
        """A file that goes into a page for the one of tools/web/build."""
        engine = pathlib.Path(self.path("engine.js"))
        version = json.loads(run("version", "-o", "json").stdout)["version"]
        engine.write_text(f"// slicewise {version}\nclass Slicewise {{}}\n", encoding="utf-8")
        return engine

    def stored(self, name, *arguments, cwd=ROOT, code=0):
        made = run(*arguments, "-o", "json", "--out", self.path(name), cwd=cwd)
        self.assertEqual(made.returncode, code, made.stderr)
        return self.path(name)

    def assert_refused(self, result, exit_code, text):
        self.assertEqual(result.returncode, exit_code, result.stderr)
        self.assertIn(text, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_several_formats_of_a_scenario_at_once(self):
        result = run("report", EXAMPLE, "-o", f"html={self.path('r.html')}",
                     "-o", f"md={self.path('r.md')}", "-o", "csv")
        self.assertEqual(result.returncode, PODS_LOST, result.stderr)
        page = (self.folder / "r.html").read_text(encoding="utf-8")
        self.assertTrue(page.startswith("<!doctype html>"))
        self.assertEqual((self.folder / "r.md").read_text(encoding="utf-8"),
                         run("run", "-f", EXAMPLE, "-o", "md").stdout)
        self.assertEqual(result.stdout, run("run", "-f", EXAMPLE, "-o", "csv").stdout)

    @thorough
    def test_every_chart_is_a_file_of_its_own(self):
        written = run("report", SERVICES, *SHORT, "--variant", "shared", "-o", f"svg={self.path('charts')}/",
                      "-o", f"svg={self.path('one.svg')}", "--chart", "latency-1")
        self.assertEqual(written.returncode, 0, written.stderr)
        names = sorted(file.stem for file in (self.folder / "charts").iterdir())
        for name in ("options", "memory", "latency-1", "time-p99", "gpus", "gpus-busy", "cost",
                     "tornado-1"):
            self.assertIn(name, names)
        for file in (self.folder / "charts").iterdir():
            with self.subTest(chart=file.name):
                root = ElementTree.parse(file).getroot()
                svg = "{http://www.w3.org/2000/svg}"
                self.assertEqual(root.tag, svg + "svg")
                self.assertTrue(root.find(svg + "title").text)
                self.assertTrue(root.find(svg + "desc").text)
                self.assertIn(".chart", root.find(svg + "style").text)
                # It stands alone: what it refers to is in it.
                ids = {element.get("id") for element in root.iter()}
                text = file.read_text(encoding="utf-8")
                self.assertLessEqual(set(re.findall(r"url\(#([^)]+)\)", text)), ids)
                self.assertNotIn("href", text)
        self.assertEqual((self.folder / "one.svg").read_bytes(),
                         (self.folder / "charts/latency-1.svg").read_bytes())

    @thorough
    def test_a_chart_that_is_not_there_is_a_usage_error(self):
        self.assert_refused(run("report", EXAMPLE, "--replications", "1", "-o", "svg", "--chart",
                                "memry"), 2, 'did you mean "memory"?')
        self.assert_refused(run("report", EXAMPLE, "--replications", "1", "-o", "svg", "--chart",
                                "latency-1"), 2, "it has options, memory, ")
        self.assert_refused(run("report", EXAMPLE, "--chart", "memory"), 2, "-o svg=memory.svg")

    @thorough
    def test_same_bytes_whatever_the_number_of_threads(self):
        one = run("report", SERVICES, *SHORT, "--jobs", "1")
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertEqual(one.stdout, run("report", SERVICES, *SHORT, "--jobs", "3").stdout)

    def test_a_stored_result_has_its_own_figures(self):
        document = self.stored("result.json", "run", "-f", EXAMPLE, "--seed", "7", "--variant",
                               "after", "--replications", "2", "--set",
                               "nodePools.gpu.nodes=1")
        page = run("report", document).stdout
        embedded = page.split('id="document">')[1].split("</script>")[0]
        stored = json.loads(pathlib.Path(document).read_text(encoding="utf-8"))
        self.assertEqual(json.loads(embedded), stored)
        self.assertIn("--seed 7 --replications 2", page)

    def test_the_scenario_of_a_stored_result_is_found_beside_it(self):
        shutil.copy(ROOT / EXAMPLE, self.path("scenario.yaml"))
        document = self.stored("result.json", "run", "-f", "scenario.yaml", "--replications", "1",
                               cwd=self.folder, code=PODS_LOST)
        page = run("report", document)  # from another folder
        self.assertEqual(page.returncode, PODS_LOST, page.stderr)
        self.assertIn(f"slicewise run -f {self.path('scenario.yaml')}", page.stdout)
        shutil.move(self.path("scenario.yaml"), self.path("away.yaml"))
        gone = run("report", document)
        self.assertEqual(gone.returncode, 5)
        self.assertIn('"scenario.yaml"', gone.stderr)

    @thorough
    def test_variants_have_replications_of_their_own(self):
        """They were taken for those of the first one: a whole run called itself interrupted."""
        scenario = self.path("undecided.yaml")
        text = service(1, "slo: {latencyP99: 98ms}")
        pathlib.Path(scenario).write_text(
            text + "  variants: [{name: a}, {name: b, patch: {replications: 4}}]\n", encoding="utf-8")
        result = self.stored("result.json", "run", "-f", scenario, code=MISSED)
        self.assertNotIn("interrupted", json.loads(pathlib.Path(result).read_text(encoding="utf-8"))["metadata"])
        # What stays undecided gets more runs than the scenario's own pools.
        pathlib.Path(scenario + "1").write_text(text, encoding="utf-8")
        plan = self.stored("plan.json", "plan", "-f", scenario + "1", "--instances", "g4dn.xlarge", "--no-risk",
                           "--no-flips")
        page = run("report", plan)
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertNotIn("INTERRUPTED", page.stdout)

    def test_variants_have_seeds_of_their_own(self):
        scenario = self.path("seeds.yaml")
        pathlib.Path(scenario).write_text(
            service(1) + "  variants: [{name: a}, {name: b, patch: {seed: 7, replications: 3}}]\n", encoding="utf-8")
        document = self.stored("result.json", "run", "-f", scenario)
        made = json.loads(pathlib.Path(document).read_text(encoding="utf-8"))["variants"]
        self.assertEqual([variant["seed"] for variant in made], [42, 7])
        rows = csv.DictReader(run("run", "-f", scenario, "-o", "csv").stdout.splitlines())
        self.assertEqual([row["seed"] for row in rows], ["42", "7"])
        junit = ElementTree.fromstring(run("run", "-f", scenario, "-o", "junit").stdout)
        self.assertEqual([one.get("value") for one in junit.iter("property") if one.get("name") == "seed"],
                         ["42", "7"])
        page = run("report", document)
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertIn("seeds 7 to 42 · 2 to 3 runs", page.stdout)
        command = re.search(r"slicewise run -f [^<\n]*", page.stdout)[0]
        self.assertNotRegex(command, "--seed|--replications")

    def test_a_result_of_another_scenario_is_stale(self):
        scenario = self.path("scenario.yaml")
        shutil.copy(ROOT / EXAMPLE, scenario)
        document = self.stored("result.json", "run", "-f", scenario, "--replications", "1",
                               code=PODS_LOST)
        with open(scenario, "a", encoding="utf-8") as file:
            file.write("# changed\n")
        self.assert_refused(run("report", document, "-o", f"html={self.path('r.html')}"), 3,
                            "RESULT_STALE")
        self.assertFalse((self.folder / "r.html").exists())

    def test_a_result_with_other_figures_is_stale(self):
        document = self.stored("result.json", "run", "-f", EXAMPLE, "--replications", "1",
                               code=PODS_LOST)
        stored = json.loads(pathlib.Path(document).read_text(encoding="utf-8"))
        stored["variants"][0]["cost"]["totalUsd"] += 1
        pathlib.Path(document).write_text(json.dumps(stored), encoding="utf-8")
        self.assert_refused(run("report", document), 3, "RESULT_STALE")

    def test_a_result_of_before_variants_said_their_seed_is_drawn(self):
        document = self.stored("result.json", "run", "-f", EXAMPLE, "--replications", "1",
                               code=PODS_LOST)
        stored = json.loads(pathlib.Path(document).read_text(encoding="utf-8"))
        for variant in stored["variants"]:
            del variant["seed"]
        pathlib.Path(document).write_text(json.dumps(stored), encoding="utf-8")
        page = run("report", document)
        self.assertEqual(page.returncode, PODS_LOST, page.stderr)
        self.assertNotIn("RESULT_STALE", page.stderr)

    @thorough
    def test_a_plan_shows_its_options_and_what_to_keep(self):
        scenario = self.path("scenario.yaml")
        shutil.copy(ROOT / SERVICES, scenario)
        document = self.stored("plan.json", "plan", "-f", "scenario.yaml", "--variant", "shared",
                               "--instances", "g4dn.xlarge", "--max-nodes", "2", *SHORT, "--no-flips",
                               "--no-headroom", "--strategies", "exclusive,timeSlicing", cwd=self.folder)
        page = run("report", document)
        self.assertEqual(page.returncode, 0, page.stderr)
        for part in ("Keep what you have: ", "1 x g4dn.xlarge", 'id="replicas"'):
            self.assertIn(part, page.stdout)
        self.assertNotIn('id="apply"', page.stdout)  # it is there
        with open(scenario, "a", encoding="utf-8") as file:
            file.write("# changed\n")
        self.assert_refused(run("report", document), 3, "PLAN_STALE")

    def test_flags_of_a_stored_document_are_its_own(self):
        document = self.stored("result.json", "run", "-f", EXAMPLE, "--replications", "1",
                               code=PODS_LOST)
        self.assert_refused(run("report", document, "--seed", "3"), 2, "are those of")

    def test_exit_codes_are_those_of_what_it_shows(self):
        """But for objectives: a page about a missed one is what was asked for."""
        scenario = self.path("scenario.yaml")
        for text, code in ((jobs(1).replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 2"), 4),
                           (service(1, "slo: {latencyP99: 21ms}"), 0)):
            pathlib.Path(scenario).write_text(text, encoding="utf-8")
            self.assertEqual(run("report", scenario).returncode, code)
        trace = self.path("trace.csv")
        for gpus, code in ((1, 0), (16, PODS_LOST)):
            pathlib.Path(trace).write_text(f"arrival_s,run_s,gpus\n0,100,1\n10,100,{gpus}\n", encoding="utf-8")
            replay = self.stored("replay.json", "replay", "-f", trace, "--instances", "p4d.24xlarge=1", code=code)
            self.assertEqual(run("report", replay).returncode, code)
        self.assert_refused(run("report", replay, "-o", f"html={self.path('r.html')}", "-o", "md"), 2, "html and svg")
        self.assertFalse((self.folder / "r.html").exists())

    def test_outputs_that_cannot_be_are_usage_errors(self):
        for flags, text in ((["-o", "htm"], 'did you mean "html"?'),
                            (["-o", "html", "-o", "md"], "two formats for standard output"),
                            (["-o", "html="], "no path after html="),
                            (["-o", "md=a", "-o", "csv=a"], "two formats for a")):
            with self.subTest(flags=flags):
                self.assert_refused(run("report", EXAMPLE, *flags), 2, text)

    def test_what_is_no_scenario_is_invalid_input(self):
        pathlib.Path(self.path("odd.json")).write_text(
            '{"apiVersion": "slicewise.dev/result.v9"}', encoding="utf-8")
        self.assert_refused(run("report", self.path("odd.json")), 3, "API_VERSION_UNKNOWN")
        self.assertEqual(run("report", self.path("absent.yaml")).returncode, 5)

    def test_a_page_that_cannot_be_written_is_said(self):
        result = run("report", EXAMPLE, "--replications", "1", "-o",
                     f"html={self.path('no/such/folder.html')}")
        self.assertEqual(result.returncode, 5)

    @thorough
    def test_a_page_with_the_engine_inside(self):
        engine = self.engine()
        flags = (*SHORT, "--set", "workloads.classifier.replicas=3", "--interactive", "--engine", str(engine))
        result = run("report", SERVICES, *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:", result.stdout)
        self.assertIn("class Slicewise {}", result.stdout)
        given = re.search(r'id="trial-input">(.*?)</script>', result.stdout, re.DOTALL)
        trial = json.loads(given[1])
        self.assertEqual((trial["file"], trial["words"], trial["files"]), (SERVICES, [], {}))
        self.assertEqual(trial["runWords"], [])
        shared = trial["variants"]["shared"]
        self.assertIn("\n  seed: 42\n", shared["text"])  # each variant has its own
        self.assertEqual(shared["replications"], 2)
        alone = run("export", "-f", SERVICES, "--variant", "shared", "--set", "duration=3m", "--set",
                    "workloads.classifier.replicas=3", "--to", "scenario").stdout.split("\n", 1)[1]
        self.assertEqual(shared["text"], re.sub(r"replications: \d+", "replications: 2", alone))
        moved = {control["path"]: control["value"] for control in shared["controls"]}
        self.assertEqual(moved, {
            "nodePools.t4.nodes": 1,
            "nodePools.t4.devicePlugin.sharing.timeSlicing.resources[0].replicas": 4,
            "nodePools.t4.gpu.timeSlice": 1.024, "": 0.526,
            "workloads.classifier.replicas": 3, "workloads.classifier.traffic.mean": 20,
            "workloads.classifier.slo.latencyP95": 150, "workloads.classifier.slo.latencyP99": 300,
            "workloads.trainer.count": 1})
        # A stored result has the page of its scenario.
        stored = self.stored("r.json", "run", "-f", str(ROOT / SERVICES), *SHORT)
        page = run("report", stored, "--interactive", "--engine", str(engine))
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertIn('id="trial-input"', page.stdout)

    def controls(self, file, variant, *flags):
        """What the page of a variant lets be moved, by label."""
        page = run("report", file, "--variant", variant, *(flags or SHORT), "--interactive", "--engine", str(self.engine()))
        self.assertEqual(page.returncode, 0, page.stderr)
        trial = json.loads(re.search(r'id="trial-input">(.*?)</script>', page.stdout, re.DOTALL)[1])
        return {control["label"]: control for control in trial["variants"][variant]["controls"]}

    @thorough
    def test_loads_of_any_shape_and_limits_of_any_unit_are_moved(self):
        """Of voice-pipeline.yaml there were nodes, price and pods only."""
        voice = "scenarios/examples/voice-pipeline.yaml"
        found = self.controls(voice, "one-t4", "--replications", "1", "--set", "duration=8m")
        load = found["voice: load"]
        self.assertEqual((load["value"], load["unit"]), (3, "/s"))
        self.assertEqual(load["together"], [{"path": "pipelines.voice.traffic.mean", "value": 3},
                                            {"path": "pipelines.voice.traffic.peak", "value": 6}])
        self.assertEqual([found[f"voice: limit of {name}"][key] for name in ("latencyP95", "availability")
                          for key in ("value", "unit", "most")], [500, "ms", 1500, 99.9, "%", 100])
        for traffic, label, value, paths in (
                ("{shape: ClosedLoop, clients: 4, thinkTime: 1s}", "clients", 4, "clients"),
                ("{shape: Steps, steps: [{at: 0, rate: 5/s}, {at: 1m, rate: 0/s}, {at: 2m, rate: 20/s}]}", "load", 5,
                 "steps[0].rate steps[2].rate"),
                ("{shape: Bursts, mean: 9/s, bursts: {rate: 30/s, length: 5s, every: 1m}}", "load", 9, "mean bursts.rate")):
            found = self.controls(SERVICES, "shared", *SHORT, "--set", f"workloads.classifier.traffic={traffic}")
            control = found[f"classifier: {label}"]
            parts = control.get("together", [control])
            self.assertEqual(control["value"], value)
            self.assertEqual([part["path"] for part in parts], [f"workloads.classifier.traffic.{path}" for path in paths.split()])
            moved = [word for part in parts
                     for word in ("--set", f"{part['path']}={2 * part['value']:g}{control['unit']}")]
            again = run("run", SERVICES, "--variant", "shared", *SHORT, "--set",
                        f"workloads.classifier.traffic={traffic}", *moved, "-q")
            self.assertIn(again.returncode, (0, 99), again.stderr)

    @thorough
    def test_a_plan_with_the_engine_inside_has_its_options(self):
        engine = self.engine()
        plan = self.stored("plan.json", "plan", "-f", str(ROOT / SERVICES), "--variant", "shared", "--instances",
                           "g4dn.xlarge", "--max-nodes", "1", *SHORT, "--no-headroom", "--no-flips")
        page = run("report", plan, "--interactive", "--engine", str(engine))
        self.assertEqual(page.returncode, 0, page.stderr)
        trial = json.loads(re.search(r'id="trial-input">(.*?)</script>', page.stdout, re.DOTALL)[1])
        with open(plan, encoding="utf-8") as file:
            options = json.load(file)["options"]
        names = list(trial["variants"])
        self.assertEqual(len([name for name in names if name.startswith("#")]), min(5, len(options)))
        self.assertIn("the scenario's own pools", names)
        best = next(name for name in names if name.startswith("#1 "))
        self.assertIn(f"<option selected>{best}</option>", page.stdout)
        # What the page runs of an option is what the plan found of it.
        folder = pathlib.Path(self.path("option"))
        folder.mkdir()
        (folder / "option.yaml").write_text(trial["variants"][best]["text"], encoding="utf-8")
        found = run("run", "-f", str(folder / "option.yaml"), *trial["runWords"], "--replications",
                    str(trial["variants"][best]["replications"]), "-o", "json")
        variant = json.loads(found.stdout)["variants"][0]
        self.assertEqual(variant["cost"]["monthlyUsd"], options[0]["monthlyUsd"])
        self.assertEqual(variant["workloads"][0]["objectives"][0]["value"], options[0]["objectives"][0]["value"])
        moved = {control["path"].split(".", 2)[-1] for control in trial["variants"][best]["controls"]}
        self.assertIn("nodes", moved)
        self.assertTrue(any(path.endswith("replicas") for path in moved), moved)

    def test_a_replay_with_the_engine_inside_has_its_trace_and_flags(self):
        engine = self.engine()
        log = ROOT / "scenarios/examples/logs/team-trace.csv"
        trace = pathlib.Path(self.path("trace.csv.gz"))
        trace.write_bytes(gzip.compress(log.read_bytes()))
        asked = ("replay", "-f", str(trace), "--instances", "p4d.24xlarge=2", "--sharing", "exclusive,mps:4",
                 "--group-by", "user", "--seed", "7")
        replay = self.stored("replay.json", *asked)
        page = run("report", replay, "--interactive", "--engine", str(engine))
        self.assertEqual(page.returncode, 0, page.stderr)
        trial = json.loads(re.search(r'id="trial-input">(.*?)</script>', page.stdout, re.DOTALL)[1])
        self.assertEqual(trial["cluster"], "--instances=p4d.24xlarge=2")
        self.assertEqual(trial["words"], ["--region=us-east-1", "--group-by=user", "--seed=7"])
        self.assertEqual(trial["ways"]["mps:4"],
                         {"sharing": "mps:4", "queue": "backfill", "placement": "least-allocated"})
        self.assertIn("muri", trial["queues"])
        # What the page replays of a way is what is stored of it.
        plain = pathlib.Path(self.path("plain.csv"))
        plain.write_text(trial["files"][str(trace)], encoding="utf-8")
        again = run("replay", "-f", str(plain), trial["cluster"], *trial["words"],
                    *(f"--{flag}={word}" for flag, word in trial["ways"]["mps:4"].items()), "-o", "json")
        with open(replay, encoding="utf-8") as file:
            stored = json.load(file)["schedulers"]
        self.assertEqual(json.loads(again.stdout)["schedulers"][0],
                         next(way for way in stored if way["sharing"] == "mps:4"))
        trace.write_bytes(gzip.compress(log.read_bytes() + b"\n"))
        self.assert_refused(run("report", replay, "--interactive", "--engine", str(engine)), 3, "RESULT_STALE")

    def test_an_engine_that_cannot_go_inside_is_refused(self):
        missing = run("report", SERVICES, "--interactive", cwd=ROOT)
        self.assert_refused(missing, 5, "--interactive: there is no slicewise-engine.js beside the program")
        self.assertIn("tools/web/build", missing.stderr)
        other = pathlib.Path(self.path("other.js"))
        other.write_text("// slicewise 0.0.1\n", encoding="utf-8")
        self.assert_refused(run("report", SERVICES, "--interactive", "--engine", str(other)), 5,
                            "is not the engine of slicewise")
        self.assert_refused(run("report", SERVICES, "--engine", str(other)), 2, "add --interactive")
        self.assert_refused(run("report", SERVICES, "--interactive", "-o", "csv"), 2,
                            "--interactive: no output is a page")


if __name__ == "__main__":
    unittest.main()
