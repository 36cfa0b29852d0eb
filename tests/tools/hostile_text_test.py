"""Names from files reach terminals, tables and comments as text that does nothing."""

import csv
import io
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml

from program import ROOT, TIMEOUT_S, apply_bundle, run, skip_without, thorough

# What a terminal, a reader's eye, a spreadsheet or a fence of Markdown would act on.
HIDDEN = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u2028")
HOSTILE = r"\e[31mred\a \u009b1m \u202Egnp \u2066x \u2028 ```"
SCENARIO = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: hostile}
spec:
  duration: 2m
  nodePools: [{name: t4, instanceType: g4dn.xlarge}]
  workloads:
  - name: j
    kind: Job
    podTemplate:
      labels: {team: "%(text)s"}
      resources: {limits: {nvidia.com/gpu: 1}}
    work: {units: 2, unitName: "%(text)s"}
    measured: {unitTime: 6s, gpuBusy: 80%%}
  variants:
  - {name: a, description: "%(text)s\\n```\\n<script>alert(1)</script>"}
"""


class HostileText(unittest.TestCase):
    def expect_harmless(self, text):
        for character in HIDDEN:
            self.assertNotIn(character, text)
        text.encode("utf-8")

    def test_in_every_table(self):
        scenario = SCENARIO % {"text": HOSTILE}
        for form in ("table", "wide", "md", "junit", "csv", "json", "yaml"):
            for more in ((), ("--group-by", "label:team")):
                with self.subTest(form=form, more=more):
                    result = run("run", "-f", "-", "-o", form, *more, stdin=scenario)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.expect_harmless(result.stdout)
        lines = run("run", "-f", "-", "-o", "md", stdin=scenario).stdout.splitlines()
        fences = [line for line in lines if line.strip().startswith("```")]
        self.assertEqual([line for line in fences if line not in ("```", "```text")], [])

    def test_in_pages_and_charts(self):
        scenario = SCENARIO % {"text": HOSTILE}
        for form in ("html", "svg"):
            result = run("report", "-f", "-", "-o", form, stdin=scenario)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.expect_harmless(result.stdout.split('<script type="application/json"')[0])
            self.assertNotIn("<script>alert", result.stdout)
        self.assertIn(r"\xe2\x80\xae", run("report", "-f", "-", stdin=scenario).stdout)

    def test_in_what_is_exported(self):
        scenario = SCENARIO % {"text": HOSTILE}
        for kind in ("pod-patch", "csv", "scenario", "perfetto", "openmetrics", "grafana"):
            with self.subTest(kind=kind), tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder, "out")
                result = run("export", "-f", "-", "--variant", "a", "--to", kind, "--out", str(out), stdin=scenario)
                self.assertEqual(result.returncode, 0, result.stderr)
                for file in sorted(out.rglob("*")) if out.is_dir() else [out]:
                    self.expect_harmless(file.read_text(encoding="utf-8"))

    def test_a_separator_of_unicode_adds_no_line_to_what_is_exported(self):
        # YAML 1.1, which Kubernetes reads, takes each of them for the end of a line.
        for separator in ("\u2028", "\u2029", "\u0085"):
            text = f"x{separator}        injected: y"
            scenario = (SCENARIO % {"text": json.dumps(text)[1:-1]}).replace("labels: {team:", "annotations: {note:")
            result = run("export", "-f", "-", "--variant", "a", "--to", "pod-patch", stdin=scenario)
            self.assertEqual(result.returncode, 0, result.stderr)
            (patch,) = yaml.safe_load_all(result.stdout)
            self.assertEqual(patch["spec"]["template"]["metadata"]["annotations"], {"note": text})

    def test_in_messages(self):
        for text, arguments in ((SCENARIO % {"text": "x"}, ("-f", "-")),):
            broken = text.replace("kind: Job", 'kind: "' + HOSTILE.replace("`", "") + '"')
            result = run("run", *arguments, stdin=broken)
            self.assertEqual(result.returncode, 3)
            self.expect_harmless(result.stderr)
            self.assertIn(r"\x1b[31mred\x07", result.stderr)
        # A line of its own would be an order to GitHub.
        plugin = ('version: v1\n"a\\n::error::made\\e[31m\\u202e": 1\n'
                  "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n")
        for form in ("table", "github", "sarif", "json"):
            checked = run("check", "-o", form, "-", stdin=plugin)
            self.expect_harmless(checked.stdout)
            self.assertIn("31m", checked.stdout)
            self.assertNotRegex(checked.stdout, r"(?m)^\s*::error::made")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "e\x1b[31m.yaml")
            file.write_text("kind: nothing\n", encoding="utf-8")
            self.expect_harmless(run("run", "-f", str(file)).stderr)

    def test_in_traces(self):
        trace = "arrival_s,run_s,gpus,user\n0,10,1,\u202eana\n0,10,1,bo\n"
        imported = run("import", "jobs", "-f", "-", "--columns",
                       "arrival=arrival_s,run=run_s,gpus=gpus,user=user", stdin=trace)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        self.expect_harmless(imported.stdout)
        replayed = run("replay", "-f", "-", "--gpus", "1", "--group-by", "user", stdin=trace)
        self.assertEqual(replayed.returncode, 0, replayed.stderr)
        self.expect_harmless(replayed.stdout)

    def test_in_notes(self):
        trace = "arrival_s,run_s,gpus,gpu_\x08\x1b[31mspec\u202e\n0,10,1,x\n"
        imported = run("import", "jobs", "-f", "-", "--columns", "arrival=arrival_s,run=run_s,gpus=gpus", stdin=trace)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        self.assertIn(r"columns that are not used: gpu_\x08\x1b[31mspec\xe2\x80\xae", imported.stderr)
        self.expect_harmless(imported.stderr)

    def test_in_what_is_said_of_stored_documents(self):
        hostile = json.dumps("a\x1b[31m\u202e|<script>\n::error::made")[1:-1]
        for golden in ("platform", "plan", "comparison", "max_load"):
            document = (ROOT / f"tests/reports/golden/{golden}.json").read_text(encoding="utf-8")
            names = set(re.findall(r'"(?:scenario|variant|workload|instanceType)": "([^"]+)"', document))
            self.assertTrue(names)
            for name in names:
                document = document.replace(f': "{name}', f': "{hostile}{name}')
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "hostile.json")
                file.write_text(document, encoding="utf-8")
                for form in ("table", "wide", "md"):
                    for sides in ((f"tests/reports/golden/{golden}.json", file), (file, file)):
                        with self.subTest(golden=golden, form=form):
                            result = run("diff", *map(str, sides), "-o", form)
                            self.assertEqual(result.returncode, 0, result.stderr)
                            self.expect_harmless(result.stdout + result.stderr)
                            self.assertTrue(form != "md" or "<script" not in result.stdout)
                            self.assertNotRegex(result.stdout, r"(?m)^\s*::error::made")
                if golden in ("platform", "plan"):
                    explained = run("explain", str(file))
                    self.assertEqual(explained.returncode, 0, explained.stderr)
                    self.expect_harmless(explained.stdout)
                    self.assertNotRegex(explained.stdout, r"(?m)^\s*::error::made")

    @thorough
    def test_in_what_a_catalogue_lists(self):
        catalogue = (ROOT / "scenarios/examples/own/catalogue.yaml").read_text(encoding="utf-8")
        for name in ("RTX-4090", "rack.4090x4"):
            catalogue = re.sub(rf"(?<=: ){name}", rf'"a\\e[31m\\u202E{name}"', catalogue)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "catalogue.yaml")
            file.write_text(catalogue, encoding="utf-8")
            for kind in ("instances", "gpus", "prices"):
                for form in ("table", "wide", "csv", "json"):
                    result = run("get", kind, "-o", form, "--catalogue", str(file))
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertIn("31m", result.stdout)
                    self.expect_harmless(result.stdout + result.stderr)

    def test_no_cell_of_a_spreadsheet_is_a_formula(self):
        result = run("run", "-f", "-", "-o", "csv", stdin=SCENARIO % {"text": "=1+1"})
        cells = [cell for row in csv.reader(io.StringIO(result.stdout)) for cell in row]
        self.assertIn("'=1+1", cells)
        self.assertNotIn("=1+1", cells)
        document = json.loads(run("run", "-f", "-", "-o", "json",
                                  stdin=SCENARIO % {"text": "=1+1"}).stdout)
        self.assertIn('"=1+1"', json.dumps(document))


class RealTools(unittest.TestCase):
    """What tools make of exported names that would do something in them."""

    def exported(self, text, kind, folder):
        words = json.dumps(text)
        scenario = (SCENARIO % {"text": words[1:-1]}).replace(
            "labels:", f"annotations: {{note: {words}}}\n      labels:")
        out = pathlib.Path(folder, kind)
        result = run("export", "-f", "-", "--variant", "a", "--to", kind, "--out", str(out), stdin=scenario)
        self.assertEqual(result.returncode, 0, result.stderr)
        return scenario, out

    def test_a_shell_runs_none_of_them(self):
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder, "made")
            for text in ("$(touch {})", "`touch {}`", "'; touch {}; '", '"; touch {}; "', "x\ntouch {}\n",
                         "EOF\ntouch {}\n", "\n---\nkind: Injected\n"):
                with self.subTest(text=text), tempfile.TemporaryDirectory() as inside:
                    _, bundle = self.exported(text.format(made), "bundle", inside)
                    applied = apply_bundle(bundle)
                    self.assertEqual(applied.returncode, 0, applied.stderr)
                    self.assertFalse(made.exists())
                    kinds = [each["kind"] for file in sorted(bundle.rglob("*.yaml"))
                             for each in yaml.safe_load_all(file.read_text(encoding="utf-8")) if "kind" in each]
                    self.assertNotIn("Injected", kinds)

    def test_prometheus_reads_no_series_of_them(self):
        if shutil.which("promtool") is None:
            skip_without("promtool")
        for text in ('a"} 1\nmade 2\n', "a\\", 'a\\"} 1', "\u2028made 2"):
            with self.subTest(text=text), tempfile.TemporaryDirectory() as folder:
                _, metrics = self.exported(text, "openmetrics", folder)
                read = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", metrics,
                                       folder + "/blocks"], capture_output=True, text=True, check=False)
                self.assertEqual(read.returncode, 0, read.stderr)
                self.assertNotRegex(metrics.read_text(encoding="utf-8"), "(?m)^made")

    def test_a_browser_runs_none_of_them(self):
        if shutil.which("chromium") is None:
            skip_without("chromium")
        script = "document.title='made'"
        with tempfile.TemporaryDirectory() as folder:
            texts = "".join((f"</textarea></title><script>{script}</script>", f'"><img src=x onerror="{script}">',
                             f"]]><svg onload={script}>"))
            scenario, _ = self.exported(texts, "pod-patch", folder)
            page = pathlib.Path(folder, "page.html")
            page.write_text(run("report", "-f", "-", stdin=scenario).stdout, encoding="utf-8")
            shown = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                                    f"--user-data-dir={folder}/profile", page.as_uri()],
                                   capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            self.assertRegex(shown.stdout, "<title>(?!made)")


class Size(unittest.TestCase):
    """What is read in one go is shown in few lines, whatever its size."""

    def test_a_long_line_is_shown_in_part(self):
        for verb, file in (("run", "{" + ", ".join(f"k{n}: 1" for n in range(5_000)) + "}"),
                           ("check", '"' * 200_000),
                           ("replay", "arrival_s,run_s,gpus," + "x" * 1_000_000 + "\n")):
            with self.subTest(verb=verb):
                arguments = ("--gpus", "1") if verb == "replay" else ()
                result = run(verb, "-f", "-", *arguments, stdin=file)
                self.assertLess(len(result.stderr) + len(result.stdout), 400_000)
                self.assertNotEqual(result.returncode, 70)


if __name__ == "__main__":
    unittest.main()
