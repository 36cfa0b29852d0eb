"""What tools/bench/interval_coverage counts, by a program that answers with figures of the test's own."""

import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

from program import BINARY, ROOT, main

TOOL = ROOT / "tools/bench/interval_coverage/interval_coverage.py"

# Runs find the seed in ms for p50, whose interval holds 10 ms for seeds 7 to 13, and never p99.9. The true
# quantiles are 10 ms at any clock.
FAKE = """#!{python}
import json, sys
seed = int(sys.argv[sys.argv.index("--seed") + 1])
text = json.load(sys.stdin)
clock = int(text["spec"]["warmup"].removesuffix("ns")) / 60e9
true = "--replications" in sys.argv
latency = {{"p50": (10 * clock if true else seed) / 1000, "p99": 0.01 * clock, "p999": 0.01 * clock}}
if not true:
    latency |= {{"p50Ci95": 0.0035, "p99Ci95": 0.0001, "p999Ci95": 0.0001, "p999": 0.02}}
print(json.dumps({{"variants": [{{"workloads": [{{"latencySeconds": latency}}]}}]}}))
"""


def table(program, *arguments):
    return subprocess.run([sys.executable, TOOL, program, *arguments], text=True, capture_output=True,
                          check=False)


class IntervalCoverage(unittest.TestCase):
    def test_counts_the_runs_whose_interval_holds_the_true_quantile(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder) / "fake"
            fake.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
            fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
            arguments = ("--seeds", "20", "--truth", "8", "--setting", "alone, constant")
            done = table(fake, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            _, row = done.stdout.splitlines()
            self.assertIn("35.0%", row)  # 7 of 20
            self.assertIn("100.0% ± 1.0%", row)  # p99
            self.assertIn("0.0% ± 0.5%", row)  # p99.9
            self.assertIn(" - ", row)  # p95, which no run has
            self.assertEqual(table(fake, *arguments, "--check", "0", "1").returncode, 0)
            outside = table(fake, *arguments, "--check", "0.3", "0.4")
            self.assertEqual((outside.returncode, outside.stdout.splitlines()[-1]), (1, "2 outside"))

    def test_reads_the_program(self):
        done = table(BINARY, "--seeds", "2", "--truth", "8", "--setting", "load 0.3, 2 min")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("±"), 4)


if __name__ == "__main__":
    main()
