"""The engine as WebAssembly: the bytes of the program under Node.js, and its page in Chromium. By night: tools/test web,
which builds it (SLICEWISE_WEB: where)."""

import base64
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
# pylint: disable=wrong-import-position
from program import ROOT, main, run, skip_without
from browser_test import install_modules

HERE = pathlib.Path(__file__).parent
EXAMPLES = "scenarios/examples/"
LOGS = EXAMPLES + "logs/"
PRICES = "tests/browser/prices.json"
LARGEST_PAGE = 6_000_000


def setUpModule():
    if not os.environ.get("SLICEWISE_WEB"):
        skip_without("the engine as WebAssembly (tools/web/build)")


def web():
    return pathlib.Path(os.environ["SLICEWISE_WEB"])


def beside(scenario):
    """The files that an example names."""
    text = (ROOT / scenario).read_text(encoding="utf-8")
    names = set(re.findall(r"logs/[\w.-]+", text))
    return [scenario, *sorted(EXAMPLES + name for name in names if (ROOT / EXAMPLES / name).is_file())]


class SameBytes(unittest.TestCase):
    def compare(self, calls):
        """(words, files) of each call."""
        asked = json.dumps([{"words": words, "files": files} for words, files in calls])
        answered = subprocess.run(["node", str(HERE / "engine.mjs"), str(web())], input=asked, cwd=ROOT,
                                  capture_output=True, text=True, check=True, timeout=1800)
        for (words, _), answer in zip(calls, json.loads(answered.stdout), strict=True):
            with self.subTest(words=" ".join(words)):
                program = run(*words)
                self.assertNotIn("bug", answer)
                self.assertEqual(answer["exitCode"], program.returncode)
                self.assertEqual(answer["files"].get("", ""), program.stdout)
                self.assertEqual(answer["errors"].strip(), program.stderr.strip())

    def test_every_example(self):
        scenarios = sorted(str(path.relative_to(ROOT)) for path in (ROOT / EXAMPLES).glob("*.yaml"))
        self.assertGreater(len(scenarios), 15)
        self.compare([(["run", "-f", scenario, "-o", "json", "-q"], beside(scenario)) for scenario in scenarios])

    def test_verbs(self):
        shared, voice = EXAMPLES + "shared-inference.yaml", EXAMPLES + "voice-pipeline.yaml"
        pods, values = EXAMPLES + "cluster/pods.yaml", EXAMPLES + "cluster/values.yaml"
        self.compare([
            (["compare", "-f", shared, "--instances", "g4dn.xlarge,g5.xlarge", "-o", "json", "-q"], [shared]),
            (["plan", "-f", shared, "--variant", "shared", "--instances", "g4dn.xlarge,g6.xlarge", "-o", "json", "-q"],
             [shared]),
            (["report", EXAMPLES + "aws-cifar10.yaml", "-o", "html", "-q"], [EXAMPLES + "aws-cifar10.yaml"]),
            (["max-load", "-f", shared, "--variant", "shared", "-o", "json", "-q"], [shared]),
            (["sensitivity", "-f", voice, "--replications", "1", "-o", "json", "-q"], [voice]),
            (["check", "-f", values, "-f", pods], [values, pods]),
            (["replay", "-f", LOGS + "team-trace.csv", "--instances", "p4d.24xlarge=2", "--sharing",
              "exclusive,time-slicing:4,mps:4,mig:all-1g.5gb", "-o", "json", "-q"], [LOGS + "team-trace.csv"]),
            (["import", "sacct", "-f", LOGS + "sacct-month.txt.gz"], [LOGS + "sacct-month.txt.gz"]),
            (["import", "k8s", "-f", LOGS + "kubectl.json"], [LOGS + "kubectl.json"]),
            (["run", "-f", shared, "--prices", PRICES, "--replications", "1", "-o", "json", "-q"], [shared, PRICES]),
            (["validate", "-o", "json"], []),
            (["get", "instances", "-o", "json"], []),
            (["schema", "result"], []),
            (["run", "-f", "absent.yaml"], []),
            (["run", "-f", shared, "--replications", "2", "-j", "4", "-o", "json", "-q"], [shared]),
        ])

    def test_what_a_page_cannot_do(self):
        asked = json.dumps([{"words": words, "files": []} for words in (
            ["advise", "--instances", "g4dn.xlarge", "--out", "advice"],
            ["import", "prometheus", "--url", "http://localhost:9090"])])
        answered = subprocess.run(["node", str(HERE / "engine.mjs"), str(web())], input=asked, cwd=ROOT,
                                  capture_output=True, text=True, check=True, timeout=300)
        advise, prometheus = json.loads(answered.stdout)
        self.assertEqual(advise["exitCode"], 5)
        self.assertIn("a page cannot start programs", advise["errors"])
        self.assertEqual(prometheus["exitCode"], 5)
        self.assertIn("a page without network", prometheus["errors"])


class Page(unittest.TestCase):
    def test_page(self):
        self.assertLess((web() / "slicewise.html").stat().st_size, LARGEST_PAGE)
        shared = EXAMPLES + "shared-inference.yaml"
        manifests = [EXAMPLES + "cluster/values.yaml", EXAMPLES + "cluster/pods.yaml"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for manifest in manifests:
                shutil.copy(ROOT / manifest, folder)
            trace = folder / "team-trace.csv.gz"
            subprocess.run(f"gzip -n <{ROOT / LOGS}/team-trace.csv >{trace}", shell=True, check=True)
            imported = folder / "imported.yaml"
            imported.write_text(run("import", "k8s", "-f", "values.yaml", "-f", "pods.yaml", cwd=folder).stdout,
                                encoding="utf-8")
            expected = {
                "csv": run("run", "-f", shared, "-o", "csv").stdout,
                "jobs": run("run", "-f", EXAMPLES + "aws-cifar10.yaml", "-o", "csv").stdout,
                "plan": run("plan", "-f", shared, "--instances", "g4dn.xlarge", "--variant", "shared",
                            "--replications", "2", "-o", "csv").stdout,
                "compared": run("compare", "-f", shared, "--instances", "g4dn.xlarge", "--variant", "shared", "-o",
                                "csv").stdout,
                "templates": self.templates(folder),
                "findings": {
                    "files": {path.name: path.read_text(encoding="utf-8")
                              for path in (folder / "values.yaml", folder / "pods.yaml")},
                    "text": run("check", "-f", "values.yaml", "-f", "pods.yaml", cwd=folder).stdout},
                "imported": imported.read_text(encoding="utf-8"),
                "importedRun": run("run", "-f", imported.name, "-o", "csv", cwd=folder).stdout,
                "trace": {"name": trace.name, "base64": base64.b64encode(trace.read_bytes()).decode(),
                          "text": (ROOT / LOGS / "team-trace.csv").read_text(encoding="utf-8")},
                "replayed": run("replay", "-f", trace.name, "--instances", "p4d.24xlarge=2", "--sharing",
                                "exclusive,time-slicing:4,mps:4", "-o", "csv", cwd=folder).stdout}
            page = folder / "slicewise.html"
            shutil.copy(web() / page.name, page)
            self.check_page("web.mjs", page, expected)

    def templates(self, folder):
        """The text of each, and what the program says of the first."""
        names = re.findall(r"^ {2}(\S+) +\S", run("init").stdout, re.MULTILINE)
        self.assertGreater(len(names), 3)
        texts = {name: {"text": run("init", "--template", name).stdout} for name in names}
        first = folder / f"{names[0]}.yaml"
        first.write_text(texts[names[0]]["text"], encoding="utf-8")
        texts[names[0]]["run"] = run("run", "-f", first.name, "-o", "csv", cwd=folder).stdout
        return texts

    def write_page(self, path, *words):
        written = run("report", *words, "--interactive", "--engine", str(web() / "slicewise-engine.js"), "-o",
                      f"html={path}")
        # What it is about may not stand (6), or one variant of several never run (4).
        self.assertIn(written.returncode, (0, 4, 6), written.stderr)
        self.assertLess(path.stat().st_size, LARGEST_PAGE)
        return path

    def moved(self, scenario, setting, *flags):
        """What the page does of a scenario, by the program: figures before and after, and the scenario as moved."""
        documents = []
        for words in ([], ["--set", setting]):
            documents.append(scenario.with_name(f"{len(documents)}.json"))
            run("run", "-f", str(scenario), *words, *flags, "-o", "json", "--out", str(documents[-1]), "-q")
        told = run("diff", *map(str, documents), env={"LC_ALL": "C.UTF-8"}).stdout
        return {"changes": told.split("\nSETTING")[0].split("\n", 1)[1],
                "scenario": run("export", "-f", str(scenario), "--set", setting, "--to", "scenario").stdout.split("\n", 1)[1]}

    def check_page(self, test, page, expected):
        chromium = shutil.which("chromium")
        if not chromium:
            skip_without("chromium")
        install_modules()
        told = page.with_name("expected.json")
        told.write_text(json.dumps(expected), encoding="utf-8")
        checked = subprocess.run(["node", test, chromium, str(page), str(told)], cwd=HERE, capture_output=True,
                                 text=True, timeout=600, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout[-8000:] + checked.stderr)

    def test_report_that_simulates(self):
        shared = EXAMPLES + "shared-inference.yaml"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            page = self.write_page(folder / "trial.html", shared)
            scenario = folder / "scenario.yaml"
            scenario.write_text(run("export", "-f", shared, "--variant", "shared", "--to", "scenario").stdout,
                                encoding="utf-8")
            self.check_page("trial.mjs", page, self.moved(scenario, "nodePools.t4.nodes=2"))

    def test_moves_are_answered_in_time(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            pages = [str(self.write_page(folder / f"{path.stem}.html", f"{EXAMPLES}{path.name}"))
                     for path in sorted((ROOT / EXAMPLES).glob("*.yaml"))]
            self.assertGreater(len(pages), 15)
            self.check_page("trial_moves.mjs", pathlib.Path(pages[0]), {"pages": pages})

    def test_report_on_a_plan_that_simulates(self):
        shared = EXAMPLES + "shared-inference.yaml"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            plan = folder / "plan.json"
            run("plan", "-f", str(ROOT / shared), "--variant", "shared", "--instances", "g4dn.xlarge,g6.xlarge",
                "--max-nodes", "2", "-o", "json", "--out", str(plan), "-q")
            page = self.write_page(folder / "plan.html", str(plan))
            trial = json.loads(re.search(r'id="trial-input">(.*?)</script>', page.read_text(encoding="utf-8"),
                                         re.DOTALL)[1])
            names = re.search(r'<select id="trial-variant">(.*?)</select>', page.read_text(encoding="utf-8"))[1]
            names = [html.unescape(name) for name in re.findall(r"<option[^>]*>(.*?)</option>", names)]
            scenario = folder / "scenario.yaml"
            scenario.write_text(run("export", "-f", f"{plan}#1", "--to", "scenario").stdout, encoding="utf-8")
            pool = next(control["path"] for control in trial["variants"][names[0]]["controls"]
                        if control["path"].endswith(".nodes"))
            self.check_page("trial_plan.mjs", page, {
                "option": names[0], "others": names[1:],
                **self.moved(scenario, f"{pool}=2", "--replications",
                             str(trial["variants"][names[0]]["replications"]))})

    def test_report_on_a_replay_that_simulates(self):
        trace, terminal = ROOT / LOGS / "team-trace.csv", {"LC_ALL": "C.UTF-8"}
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            replay = folder / "replay.json"
            asked = ("replay", "-f", str(trace), "--queue", "backfill", "--placement", "least-allocated")
            run(*asked, "--instances", "p4d.24xlarge=2", "--sharing", "exclusive,time-slicing:4", "-o", "json", "--out",
                str(replay), "-q")
            tables = [run(*asked, "--instances", f"p4d.24xlarge={nodes}", "--sharing", sharing, "-o", "wide", env=terminal).stdout
                      for nodes, sharing in ((2, "time-slicing:4"), (3, "mps:4"))]
            self.check_page("trial_replay.mjs", self.write_page(folder / "replay.html", str(replay)), {
                "before": tables[0], "after": tables[1],
                "command": f"slicewise replay -f {trace} --region=us-east-1 --seed=42 --instances=p4d.24xlarge=3 "
                           "--sharing=mps:4 --queue=backfill --placement=least-allocated\n"})

    def test_a_page_with_half_a_megabyte_of_jobs_can_be_sent(self):
        """As many as openb has: a week of a cluster of 6,212 GPUs."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            trace = folder / "trace.csv"
            jobs = [f"{n * 75},{n * 7919 % 9973 + 60},1,{n % 10 * 100 + 100},{n * 31 % 64000},{n * 524287},,Completed,pod-{n:04}"
                    f",{'LS' if n % 3 else 'BE'}" for n in range(9000)]
            trace.write_text("arrival_s,run_s,gpus,gpu_milli,cpu_milli,memory_bytes,observed_wait_s,state,id,group\n"
                             + "\n".join(jobs) + "\n", encoding="utf-8")
            self.assertGreater(trace.stat().st_size, 500_000)
            replay = folder / "replay.json"
            run("replay", "-f", str(trace), "--instances", "p4d.24xlarge=40", "-o", "json", "--out", str(replay), "-q")
            self.write_page(folder / "replay.html", str(replay))


if __name__ == "__main__":
    main()
