"""The engine as WebAssembly: the bytes of the program under Node.js, and its page in Chromium. By night: tools/test web,
which builds it (SLICEWISE_WEB: where)."""

import base64
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
        chromium = shutil.which("chromium")
        if not chromium:
            skip_without("chromium")
        install_modules()
        self.assertLess((web() / "slicewise.html").stat().st_size, LARGEST_PAGE)
        shared = EXAMPLES + "shared-inference.yaml"
        manifests = [EXAMPLES + "cluster/values.yaml", EXAMPLES + "cluster/pods.yaml"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for manifest in manifests:
                shutil.copy(ROOT / manifest, folder)
            trace = folder / "team-trace.csv.gz"
            subprocess.run(f"gzip -n <{ROOT / LOGS}/team-trace.csv >{trace}", shell=True, check=True)
            expected = {
                "csv": run("run", "-f", shared, "-o", "csv").stdout,
                "plan": run("plan", "-f", shared, "--instances", "g4dn.xlarge", "--variant", "shared",
                            "--replications", "2", "-o", "csv").stdout,
                "findings": {
                    "files": {path.name: path.read_text(encoding="utf-8")
                              for path in (folder / "values.yaml", folder / "pods.yaml")},
                    "text": run("check", "-f", "values.yaml", "-f", "pods.yaml", cwd=folder).stdout},
                "trace": {"name": trace.name, "base64": base64.b64encode(trace.read_bytes()).decode()},
                "replayed": run("replay", "-f", trace.name, "--instances", "p4d.24xlarge=2", "--sharing",
                                "exclusive,time-slicing:4,mps:4", "-o", "csv", cwd=folder).stdout}
            (folder / "expected.json").write_text(json.dumps(expected), encoding="utf-8")
            checked = subprocess.run(
                ["node", "web.mjs", chromium, str(web() / "slicewise.html"), str(folder / "expected.json")],
                cwd=HERE, capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual(checked.returncode, 0, checked.stdout[-8000:] + checked.stderr)

    def test_report_that_simulates(self):
        chromium = shutil.which("chromium")
        if not chromium:
            skip_without("chromium")
        install_modules()
        shared = EXAMPLES + "shared-inference.yaml"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            written = run("report", shared, "--interactive", "--engine", str(web() / "slicewise-engine.js"), "-o",
                          f"html={folder / 'trial.html'}")
            self.assertEqual(written.returncode, 0, written.stderr)
            self.assertLess((folder / "trial.html").stat().st_size, LARGEST_PAGE)
            # What the page does, by the program: the scenario of the variant, as it was and with two nodes.
            scenario, documents = folder / "scenario.yaml", []
            scenario.write_text(run("export", "-f", shared, "--variant", "shared", "--to", "scenario").stdout,
                                encoding="utf-8")
            for moved in ([], ["--set", "nodePools.t4.nodes=2"]):
                documents.append(folder / f"{len(documents)}.json")
                run("run", "-f", str(scenario), *moved, "-o", "json", "--out", str(documents[-1]), "-q")
            expected = {
                "changes": run("diff", *map(str, documents), env={"LC_ALL": "C.UTF-8"}).stdout.split("\nSETTING")[0].split("\n", 1)[1],
                "scenario": run("export", "-f", str(scenario), "--set", "nodePools.t4.nodes=2", "--to",
                                "scenario").stdout.split("\n", 1)[1]}
            (folder / "expected.json").write_text(json.dumps(expected), encoding="utf-8")
            checked = subprocess.run(
                ["node", "trial.mjs", chromium, str(folder / "trial.html"), str(folder / "expected.json")],
                cwd=HERE, capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual(checked.returncode, 0, checked.stdout[-8000:] + checked.stderr)


if __name__ == "__main__":
    main()
