"""The package is typed: itself and what a user writes with it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from package import ROOT
from program import main

PACKAGE = ROOT / "tools/python/slicewise"
USE = '''
import pandas
import slicewise

s = slicewise.load("x.yaml", set={"nodePools.gpu.nodes": 2})
r: slicewise.Result = s.with_(nodes=3).run(seeds=5)
frame: pandas.DataFrame = r.workloads.to_pandas()
best = s.plan(instances=["g5.xlarge"]).options[0]["monthlyUsd"]
factor: float | None = s.max_load(precision=0.05).factor
replayed = slicewise.replay(frame, instances="p4d.24xlarge=10", sharing=["mps:4"])
with_own = s.with_(catalogue=slicewise.calibrate("m.csv").profiles)
if not r.verdict:
    print(r.verdict.reasons)
s.run(seeds="five")
'''


def mypy(*arguments):
    with tempfile.TemporaryDirectory() as cache:
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *arguments],
                              capture_output=True, text=True, check=False, timeout=300)


class Types(unittest.TestCase):
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
