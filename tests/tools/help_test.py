"""--help starts with examples, and the examples run."""

import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

from program import BINARY, ROOT, environment, run

VERBS = (["init"], ["man"], ["run"], ["plan"], ["compare"], ["max-load"], ["neighbours"],
         ["sensitivity"], ["diff"], ["replay"], ["report"], ["export"], ["import"], ["check"], ["get"],
         ["get", "instances"], ["get", "gpus"], ["get", "mig-profiles"], ["get", "profiles"],
         ["get", "prices"], ["explain"], ["schema"], ["validate"], ["version"], ["completion"],
         ["help"], [])


def examples(text):
    lines = text.split("Examples:\n")[1].split("\n\n")[0].splitlines()
    return [line.strip() for line in lines]


class Help(unittest.TestCase):
    def test_every_verb_has_examples_before_its_flags(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                result = run(*verb, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertLess(result.stdout.index("Examples:"), result.stdout.index("Usage:"))

    def test_the_examples_run(self):
        path = f"{pathlib.Path(BINARY).parent}{os.pathsep}{os.environ['PATH']}"
        folder = tempfile.TemporaryDirectory()  # some write files
        self.addCleanup(folder.cleanup)
        (pathlib.Path(folder.name) / "scenarios").symlink_to(ROOT / "scenarios")
        for verb in VERBS:
            for example in examples(run(*verb, "--help").stdout):
                with self.subTest(example=example):
                    result = subprocess.run(["bash", "-c", example], cwd=folder.name, text=True,
                                            env=environment(PATH=path), capture_output=True,
                                            check=False)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertIn(shlex.split(example)[0], ("slicewise", "source"))

    def test_flags_name_their_variables(self):
        text = run("run", "--help").stdout
        for variable in ("COLOR", "QUIET", "OUTPUT", "PRICES", "JOBS", "PROGRESS"):
            self.assertIn(f"SLICEWISE_{variable}", text)

    def test_help_of_a_verb_is_its_help_flag(self):
        self.assertEqual(run("help", "run").stdout, run("run", "--help").stdout)
        self.assertEqual(run("help").stdout, run("--help").stdout)


if __name__ == "__main__":
    unittest.main()
