"""slicewise init and slicewise man: what a new user starts with."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import PODS_LOST, main, run, skip_without


HEADER = "name,memory,ms_per_request,requests_per_s\n"


def template_names():
    return re.findall(r"^  ([a-z][a-z-]+) ", run("init").stdout, re.MULTILINE)


class Init(unittest.TestCase):
    def test_there_is_one_for_each_of_the_five_situations(self):
        self.assertEqual(len(template_names()), 5)

    def test_every_template_is_clean_and_runs(self):
        for name in template_names():
            with self.subTest(template=name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "mine.yaml"
                wrote = run("init", "--template", name, "--out", str(path))
                self.assertEqual(wrote.returncode, 0, wrote.stderr)
                self.assertIn(f"slicewise check -f {path}", wrote.stderr)
                checked = run("check", "-f", str(path), "--strict")
                self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
                ran = run("run", "-f", str(path), "-q", "--replications", "1")
                # One variant of the jobs shows on purpose how pods die, one of the tenants misses.
                code = {"batch-jobs": PODS_LOST, "mig-tenants": 99}.get(name, 0)
                self.assertEqual(ran.returncode, code, ran.stderr)

    def test_a_table_of_services_becomes_a_scenario(self):
        table = ("name,memory,ms per request,requests/s,p95,GPU measured on\n"
                 "asr,2600Mi,24,10,500ms,T4\n"
                 "tts,2500Mi,70,12,,T4\n"
                 "rank,\"4Gi\",8.5,40,100ms,\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "shop.csv").write_text(table)
            wrote = run("init", "--from", str(path / "shop.csv"), "--out", str(path / "s.yaml"))
            self.assertEqual(wrote.returncode, 0, wrote.stderr)
            text = (path / "s.yaml").read_text()
            for expected in ("metadata: {name: shop}", "instanceType: g4dn.xlarge",
                             "gpuMemory: {resident: 4096Mi}", "device: T4",
                             "requestGpuTime: {mean: 8.5ms,", "slo: {latencyP95: 500ms}"):
                self.assertIn(expected, text)
            self.assertEqual(text.count("latencyP95"), 2)
            checked = run("check", "-f", str(path / "s.yaml"))
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
            ran = run("run", "-f", str(path / "s.yaml"), "-q", "--replications", "1")
            self.assertIn(ran.returncode, (0, 99), ran.stdout + ran.stderr)

    def test_mistakes_of_a_table_have_their_places(self):
        cases = {
            "name,memory,ms_per_request,requests_per_s,color\na,1Gi,1,1,red\n":
                ':1:43: error[TRACE_COLUMN]: unknown column "color"',
            "name,memory,ms_per_request\na,1Gi,1\n": "the column requests_per_s is missing",
            "name,memory,ms_per_request,requests_per_s\na,1Gi,fast,1\n":
                ':2:7: error[TRACE_ROW]: ms_per_request: "fast" is no number above 0',
            "name,memory,ms_per_request,requests_per_s\na,3GB,1,1\n": "error[UNIT_UNKNOWN]",
            "name,memory,ms_per_request,requests_per_s\na,1Gi,1,1\na,1Gi,1,1\n":
                ":3:1: error[NAME_DUPLICATE]",
            "name,memory,ms_per_request,requests_per_s\na,1Gi,1\n": "3 values where the header has 4",
        }
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.csv"
            for text, expected in cases.items():
                path.write_text(text)
                refused = run("init", "--from", str(path))
                self.assertEqual(refused.returncode, 3, refused.stderr)
                self.assertIn(expected, refused.stderr)
        self.assertEqual(run("init", "--from", "x", "--template", "notebooks").returncode, 2)

    def scenario_of(self, table, name="t.csv"):
        """The text that init makes of a table, which check accepts."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / name).write_text(table, encoding="utf-8")
            wrote = run("init", "--from", str(path / name), "--out", str(path / "s.yaml"))
            self.assertEqual(wrote.returncode, 0, wrote.stderr)
            checked = run("check", "-f", str(path / "s.yaml"))
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
            return (path / "s.yaml").read_text(encoding="utf-8")

    def refusal_of(self, table):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.csv"
            path.write_text(table, encoding="utf-8")
            refused = run("init", "--from", str(path))
            self.assertEqual(refused.returncode, 3, refused.stdout)
            return refused.stderr

    def test_names_that_yaml_takes_for_something_else_are_quoted(self):
        names = ("true", "null", "123", "1e3", "0x1f")
        text = self.scenario_of(HEADER + "".join(f"{name},1Gi,1,1\n" for name in names), "true.csv")
        for name in names:
            self.assertIn(f'- name: "{name}"\n', text)
        self.assertIn('metadata: {name: "true"}', text)

    def test_a_gpu_is_called_as_the_catalogue_calls_it(self):
        header = HEADER.replace("\n", ",gpu\n")
        text = self.scenario_of(header + "a,1Gi,600,10,tesla t4\nb,1Gi,1,1,T4\n")
        self.assertEqual(text.count("device: T4\n"), 2)
        text = self.scenario_of(header + "a,1Gi,600,10,a100-40gb\n")
        self.assertIn("instanceType: p4d.24xlarge  # has 8 x A100-SXM4-40GB\n", text)
        self.assertIn("nodes: 2  # one GPU for each pod, busy 60 % at most\n", text)
        error = self.refusal_of(header + "a,1Gi,1,1,T4\nb,1Gi,1,1,A100\n")
        self.assertIn(':3:11: error[GPU_UNKNOWN]: GPU model "A100" is not in the catalogue', error)
        self.assertIn("did you mean A100-SXM4-40GB or A100-SXM4-80GB?", error)

    def test_small_figures_are_written_out(self):
        text = self.scenario_of(HEADER + "a,1Gi,1e-5,0.00002\n")
        self.assertIn("mean: 0.00001ms,", text)
        self.assertIn("mean: 0.00002/s}", text)

    def test_what_no_scenario_can_hold_is_refused_at_its_place(self):
        header = HEADER.replace("\n", ",p95\n")
        cases = {
            "a,1Gi,1,1,0": ":2:11: error[VALUE_RANGE]",
            "a,0,1,1,": ":2:3: error[VALUE_RANGE]",
            "a,1Gi,1e7,1,": ":2:7: error[TRACE_ROW]",
            "a,1Gi,1,1e-7,": ":2:9: error[TRACE_ROW]",
            "a,1Gi,1000,7000,": ":2:12: error[TRACE_ROW]: with this service there are 11667 pods",
        }
        for row, place in cases.items():
            self.assertIn(place, self.refusal_of(header + row + "\n"))

    def test_tables_of_spreadsheets_are_read(self):
        text = self.scenario_of("\ufeff" + HEADER.replace(",", ";").replace("\n", ";;\r\n") +
                                "a;1Gi;1;1;;\r\nb;1Gi;1;1\r\n;;;;;\r\n")
        self.assertIn("# 2 services", text)

    def test_an_unknown_column_is_not_missing_as_well(self):
        error = self.refusal_of("name,mem,ms_per_request,requests_per_s\na,1Gi,1,1\n")
        self.assertIn('unknown column "mem"', error)
        self.assertIn("1 error in", error)

    def test_the_same_mistake_in_every_row_is_one(self):
        rows = "".join(f"Bad {n},{n + 1}GB,1,{'x' * (n + 1)}\n" for n in range(50))
        error = self.refusal_of(HEADER + rows)
        self.assertEqual(error.count("error["), 3, error)
        self.assertIn("150 errors of 3 causes in", error)

    def test_nothing_is_overwritten_unasked(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.yaml"
            path.write_text("precious")
            refused = run("init", "--template", "notebooks", "--out", str(path))
            self.assertEqual(refused.returncode, 5)
            self.assertEqual(path.read_text(), "precious")
            forced = run("init", "--template", "notebooks", "--out", str(path), "--force")
            self.assertEqual(forced.returncode, 0)
            self.assertIn("kind: Notebook", path.read_text())

    def test_mistakes(self):
        unknown = run("init", "--template", "notebook")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("notebooks", unknown.stderr)
        for arguments in (("--out", "x.yaml"), ("--template", "notebooks", "--force")):
            self.assertEqual(run("init", *arguments).returncode, 2)


class Man(unittest.TestCase):
    def test_the_page_has_every_verb_and_flag(self):
        page = run("man").stdout.replace("\\-", "-")
        listed = run("--help").stdout.partition("\nVerbs:")[2]
        verbs = re.findall(r"^  ([a-z][a-z-]+) ", listed, re.MULTILINE)
        self.assertGreater(len(verbs), 15)
        for verb in verbs:
            self.assertRegex(page, rf"(?m)^\.SS slicewise {verb}( |$)")
            for flag in re.findall(r"^\s+(?:-\w, ?)?(--[a-z-]+)", run(verb, "--help").stdout,
                                   re.MULTILINE):
                self.assertTrue(flag in page, f"{verb} {flag}")
        self.assertIn(".SS slicewise diff OLD NEW\n", page)
        self.assertIn(".SS slicewise check FILE...\n", page)
        self.assertRegex(page, r"\\fIkind\\fR \(openb\|jobs\|")

    def test_it_is_well_formed(self):
        if shutil.which("mandoc") is None:
            skip_without("mandoc")
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=run("man").stdout,
                              text=True, capture_output=True, check=False)
        # No date: what is made from one commit is the same on every day.
        problems = [line for line in (lint.stdout + lint.stderr).splitlines()
                    if "missing date" not in line]
        self.assertEqual(problems, [])


if __name__ == "__main__":
    main()
