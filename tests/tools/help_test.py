"""--help starts with examples, and the examples run."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import readme_test
from program import BINARY, ROOT, environment, main, run

VERBS = (["init"], ["man"], ["run"], ["plan"], ["advise"], ["compare"], ["max-load"], ["neighbours"],
         ["sensitivity"], ["diff"], ["replay"], ["report"], ["export"], ["import"], ["check"], ["get"],
         ["get", "instances"], ["get", "gpus"], ["get", "mig-profiles"], ["get", "profiles"],
         ["get", "prices"], ["explain"], ["schema"], ["calibrate"], ["validate"], ["bugreport"], ["version"], ["completion"],
         ["help"], [])


def examples(text):
    lines = text.split("Examples:\n")[1].split("\n\n")[0].splitlines()
    return [line.strip() for line in lines]


# These run in readme_test.py, which looks at what they print.
SHOWN = {command for _, kind, body in readme_test.blocks() if kind == "console" for command, _ in readme_test.session(body)}


def exit_code_of(example):
    """All variants of the AWS example are a demonstration: one loses its pods on purpose."""
    verb, *flags = shlex.split(example)[1:] or [""]
    shows_all = "scenarios/examples/aws-cifar10.yaml" in flags and "--variant" not in flags
    return 6 if verb in ("run", "report") and shows_all else 0


def written_for(lines):
    """Examples of other verbs that write the files which these read."""
    read = {word for line in lines for word in re.findall(r"\b(?:plan|result)\.json(?=#)", line)}
    everything = [line for verb in VERBS for line in examples(run(*verb, "--help").stdout)]
    return [next(line for line in everything if line.endswith(f"--out {file}")) for file in sorted(read)]


class Help(unittest.TestCase):
    def test_every_verb_has_examples_before_its_flags(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                result = run(*verb, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertLess(result.stdout.index("Examples:"), result.stdout.index("Usage:"))

    def the_examples_run(self, verb):
        path = f"{pathlib.Path(BINARY).parent}{os.pathsep}{os.environ['PATH']}"
        folder = tempfile.TemporaryDirectory()  # some write files
        self.addCleanup(folder.cleanup)
        files = pathlib.Path(folder.name, "scenarios/examples")
        shutil.copytree(ROOT / "scenarios/examples", files)
        # Studies of it ask for hundreds of its runs; that they run is all that is asked here.
        longest = files / "shared-inference.yaml"
        longest.write_text(longest.read_text(encoding="utf-8").replace("duration: 30m", "duration: 3m"), encoding="utf-8")
        ours = [line for line in examples(run(*verb, "--help").stdout) if line not in SHOWN]
        for example in written_for(ours) + ours:
            with self.subTest(example=example):
                result = subprocess.run(["bash", "-c", example], cwd=folder.name, text=True,
                                        env=environment(PATH=path), capture_output=True,
                                        check=False)
                self.assertEqual(result.returncode, exit_code_of(example), result.stderr)
                self.assertIn(shlex.split(example)[0], ("slicewise", "source"))

    def test_flags_name_their_variables(self):
        text = run("run", "--help").stdout + run("help", "flags").stdout
        for variable in ("COLOR", "QUIET", "OUTPUT", "PRICES", "JOBS", "PROGRESS"):
            self.assertIn(f"SLICEWISE_{variable}", text)

    def test_common_flags_are_named_in_one_line(self):
        text = run("compare", "--help").stdout
        self.assertIn("Common flags (slicewise help flags):\n  --color, -q,--quiet, --set, ", text)
        for flag in ("--color auto", "--progress auto", "--seed N"):
            self.assertNotIn(flag, text)
            self.assertIn(flag, run("help", "flags").stdout)

    def test_help_of_a_verb_is_its_help_flag(self):
        self.assertEqual(run("help", "run").stdout, run("run", "--help").stdout)
        self.assertEqual(run("help").stdout, run("--help").stdout)


def test_of(verb):
    return lambda self: self.the_examples_run(verb)


for each in VERBS:
    name = "_".join(each or ["no", "verb"]).replace("-", "_")
    setattr(Help, f"test_the_examples_of_{name}_run", test_of(each))


if __name__ == "__main__":
    main()
