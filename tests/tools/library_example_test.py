"""The program of include/API.md: it is the one that is compiled here, and does what slicewise does."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from program import ROOT, TIMEOUT_S, environment, run

EXAMPLE = os.environ["SLICEWISE_LIBRARY_EXAMPLE"]
SOURCE = ROOT / "tests/tools/library_example.cpp"
SCENARIO = "scenarios/examples/shared-inference.yaml"


def run_example(scenario, values):
    return subprocess.run([EXAMPLE, scenario, values], cwd=ROOT, env=environment(), text=True,
                          capture_output=True, timeout=TIMEOUT_S, check=False)


class LibraryExample(unittest.TestCase):
    def test_the_document_shows_what_is_compiled(self):
        document = (ROOT / "include/API.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```cpp\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
        programs = [block for block in blocks if "int main" in block]
        self.assertEqual(programs, [SOURCE.read_text(encoding="utf-8")])

    def test_result_option_and_settings_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            values = pathlib.Path(folder, "values.yaml")
            example = run_example(SCENARIO, values)
            self.assertEqual(example.returncode, 0, example.stderr)
            expected = json.loads(run("run", SCENARIO, "-o", "json").stdout)
            del expected["metadata"]["scenarioFile"]  # the library is not told its name
            self.assertEqual(json.loads(example.stdout), expected)
            export = run("export", SCENARIO, "--variant", "shared", "--to", "helm-values")
            self.assertEqual(values.read_text(encoding="utf-8"), export.stdout)
        compared = run("compare", SCENARIO, "--variant", "alone",
                       "--instances", "g4dn.xlarge,g5.xlarge", "-o", "json")
        best = [option for option in json.loads(compared.stdout)["options"] if option["best"]]
        self.assertEqual([line for line in example.stderr.splitlines() if "cheapest" in line],
                         [f"cheapest: {option['instanceType']}, {option['strategy']}"
                          for option in best])

    def test_mistakes_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder, "scenario.yaml")
            text = (ROOT / SCENARIO).read_text(encoding="utf-8")
            scenario.write_text(text.replace("kind: Scenario", "kind: Scenery"), encoding="utf-8")
            example = run_example(scenario, pathlib.Path(folder, "values.yaml"))
            program = run("run", str(scenario))
        self.assertEqual((example.returncode, example.stdout), (3, ""))
        self.assertEqual((program.returncode, program.stderr), (3, example.stderr))


if __name__ == "__main__":
    unittest.main()
