"""slicewise init and slicewise man: what a new user starts with."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import PODS_LOST, run, skip_without


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
            skip_without(self, "mandoc")
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=run("man").stdout,
                              text=True, capture_output=True, check=False)
        # No date: what is made from one commit is the same on every day.
        problems = [line for line in (lint.stdout + lint.stderr).splitlines()
                    if "missing date" not in line]
        self.assertEqual(problems, [])


if __name__ == "__main__":
    unittest.main()
