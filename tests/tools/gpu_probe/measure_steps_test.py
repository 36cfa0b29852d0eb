"""measure_steps.py without a GPU: steps that sleep as long beside others as alone."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from program import ROOT, run

SCRIPT = ROOT / "tools/gpu_probe/measure_steps.py"
STEPS = """import time
def sleeper(ms):
    return lambda: (lambda: time.sleep(ms / 1e3))
STEPS = {"short": sleeper(2), "long": sleeper(10)}
"""


def measure(folder, *flags):
    steps = pathlib.Path(folder, "steps.py")
    steps.write_text(STEPS, encoding="utf-8")
    return subprocess.run([sys.executable, str(SCRIPT), str(steps), "--seconds", "0.1", "--gpu", "H200", *flags],
                          capture_output=True, text=True, timeout=120, check=False,
                          env={"PATH": os.environ["PATH"], "CUDA_MPS_PIPE_DIRECTORY": folder})


class WithoutAGpu(unittest.TestCase):
    def test_every_company_is_a_row_that_calibrate_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "control").touch()  # an MPS daemon
            out = pathlib.Path(folder, "mine.csv")
            result = measure(folder, "--out", str(out), "--copies", "2")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(out, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            kinds = sorted((row["workload"], row["sharing"], row["clients"], row["beside"]) for row in rows)
            shared = [(name, way, n, beside) for way in ("mps", "time-slicing")
                      for name, n, beside in (("long", "", "short"), ("long", "2", ""), ("short", "", "long"),
                                              ("short", "2", ""))]
            self.assertEqual(kinds, sorted(shared + [("long", "", "", ""), ("short", "", "", "")]))
            for row in rows:
                self.assertGreater(float(row["latency_ms"]), 10 if row["workload"] == "long" else 2)
            calibrated = run("calibrate", str(out))
            self.assertEqual(calibrated.returncode, 0, calibrated.stderr)
            self.assertIn("beside short", calibrated.stdout)

    def test_a_file_without_steps_is_refused(self):
        result = subprocess.run([sys.executable, str(SCRIPT), os.devnull], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no STEPS", result.stderr)


if __name__ == "__main__":
    unittest.main()
