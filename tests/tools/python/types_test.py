"""The package is typed: itself and what a user writes with it."""

import ast
import inspect
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import slicewise._engine as engine
from nanobind.stubgen import StubGen

from package import ROOT, slicewise
from slicewise.flag_help import flag_of
from program import main, run

PACKAGE = ROOT / "tools/python/slicewise"
USE = '''
import datetime
import decimal

import numpy
import pandas
import slicewise

s = slicewise.load("x.yaml", set={"nodePools.gpu.nodes": 2})
r: slicewise.Result = s.with_(nodes=3).run(seeds=5)
frame: pandas.DataFrame = r.workloads.to_pandas()
best = s.plan(instances=["g5.xlarge"]).options[0]["monthlyUsd"]
factor: float | None = s.max_load(precision=0.05).factor
replayed = slicewise.replay(frame, instances="p4d.24xlarge=10", sharing=["mps:4"])
advice: slicewise.Advice = slicewise.advise("pods.json", instances=["g5.xlarge"], set={"seed": 7})
cheapest = advice.options[0]["monthlyUsd"]
with_own = s.with_(catalogue=slicewise.calibrate("m.csv").profiles)
if not r.verdict:
    print(r.verdict.reasons)
first: slicewise.Result = slicewise.sweep(s, [{"nodes": numpy.int64(2), "duration": datetime.timedelta(minutes=5)}])[0]
found: slicewise.Table = slicewise.check("x.yaml").findings
s.with_(nodes=decimal.Decimal(3))
s.run(seeds="five")
'''


def mypy(*arguments):
    with tempfile.TemporaryDirectory() as cache:
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *arguments],
                              capture_output=True, text=True, check=False, timeout=300)


def offered(stub):
    """What a stub says that there is: names, and what they are called with."""
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{part.name}" for part in node.body)
        elif isinstance(node, ast.FunctionDef):
            yield f"{node.name}({', '.join(argument.arg for argument in node.args.args)})"
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target)


# Flags that Python has no keyword for: what is read and written are values, settings are with_().
NOT_KEYWORDS = {"help", "file", "set", "output", "out", "junit", "catalogue", "profiles", "prices", "color", "quiet", "chart",
                "candidate", "replace"}

OF = slicewise.Scenario
VERBS = {"run": OF.run, "plan": OF.plan, "compare": OF.compare, "max-load": OF.max_load, "neighbours": OF.neighbours,
         "sensitivity": OF.sensitivity, "export": OF.export, "report": OF.report, "check": slicewise.check,
         "calibrate": slicewise.calibrate, "replay": slicewise.replay, "advise": slicewise.advise}


class Types(unittest.TestCase):
    def test_every_flag_of_a_verb_is_a_keyword(self):
        for verb, function in VERBS.items():
            shown = run(verb, "--help").stdout
            flags = set(re.findall(r"^ +(?:-\w,)?--([\w-]+)", shown, re.MULTILINE))
            flags |= set(re.findall(r"--([\w-]+)", shown.split("Common flags")[-1]))
            keywords = inspect.signature(function).parameters.values()
            self.assertGreater(len(flags), 4)
            self.assertEqual(flags - NOT_KEYWORDS - {"progress"} - set(map(flag_of, keywords)), set(), verb)

    def test_docstrings_say_what_the_flags_say(self):
        """Of compare's 16 keywords none was named."""
        common = run("help", "flags").stdout
        for verb, function in VERBS.items():
            shown = run(verb, "--help").stdout + common
            said = " ".join(function.__doc__.split())
            for keyword in inspect.signature(function).parameters.values():
                flag = flag_of(keyword)
                found = re.search(rf"^ +(?:-\w,)?--{flag}\b[^\n]*?(?:\n {{30,}}|\) | {{2,}})(?!Needs: )(\S[^\n]*)$", shown, re.MULTILINE)
                if keyword.name == "set":  # advise has an example of its own, which --help leaves to `help flags`
                    self.assertIn("set: Change the scenario first: ", said)
                elif found:
                    shown_as = f"{keyword.name}=False" if flag.startswith("no-") else keyword.name
                    self.assertIn(f"{shown_as}: {' '.join(found[1].split())}", said, verb)
                elif keyword.name not in ("self", "columns", "measurements", "objects", "sources", "trace", "progress"):
                    self.fail(f"{verb} has no --{flag}")

    def test_docstrings_say_what_is_raised(self):
        """Every function, every method that runs or changes something; whatever else is public has a docstring."""
        quiet = {"to_dict", "table", "write", "to_pandas", "to_polars", "to_arrow"}
        for name in slicewise.__all__:
            offers = getattr(slicewise, name)
            parts = vars(offers).items() if inspect.isclass(offers) else [(name, offers)] if callable(offers) else []
            for word, part in parts:
                if word.startswith("_") or not (inspect.isfunction(part) or isinstance(part, property)):
                    continue
                self.assertTrue(inspect.getdoc(part), f"{name}.{word}")
                if inspect.isfunction(part) and word not in quiet:
                    self.assertRegex(part.__doc__, r"\b(InputError|UsageError)\b", f"{name}.{word}")

    def test_the_stub_of_the_module_says_what_it_has(self):
        generator = StubGen(engine)
        generator.put(engine)
        self.assertEqual(sorted(offered((PACKAGE / "_engine.pyi").read_text(encoding="utf-8"))),
                         sorted(offered(generator.get())))

    def test_strictly_of_the_package_and_a_mistake_of_its_user_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            use = pathlib.Path(folder, "use.py")
            use.write_text(USE, encoding="utf-8")
            said = mypy(str(PACKAGE), str(use))
        wrong = USE[:USE.index('s.run(seeds="five")')].count("\n") + 1
        self.assertEqual(len(said.stdout.splitlines()), 2, said.stdout + said.stderr)
        self.assertIn(f"use.py:{wrong}: error: Argument \"seeds\"", said.stdout)


if __name__ == "__main__":
    main()
