"""The plan of a fleet that tools/bench/plan_oracle draws: what it costs, and how far that is above its bound."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from program import BINARY, ROOT, main

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/bench/plan_oracle"))

import problems  # noqa: E402  (beside the bench, not in a package)

TYPES = ["g4dn.xlarge", "g5.xlarge", "g6.xlarge", "g6e.xlarge", "p3.2xlarge", "p4d.24xlarge"]


class Fleet(unittest.TestCase):
    def test_costs_what_whole_pools_near_the_program_cost(self):
        """Without the pools near those that stand it costs $7,154, 3.4 % above the bound."""
        fleet = problems.fleet(20, 1, TYPES)
        fleet["spec"] |= {"duration": "3m", "warmup": "30s"}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "fleet.json")
            file.write_text(json.dumps(fleet), encoding="utf-8")
            done = subprocess.run([BINARY, "plan", "-f", file, "-q", "-o", "json", "--no-headroom", "--no-flips", "--no-risk"],
                                  text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        plan = json.loads(done.stdout)
        monthly = plan["options"][0]["monthlyUsd"]
        self.assertLess(monthly, 6974)
        self.assertLess(monthly, 1.03 * plan["lowerBoundUsdPerMonth"])
        self.assertGreater(plan["lowerBoundUsdPerMonth"], 6700)
        self.assertLessEqual(plan["lowerBoundUsdPerMonth"], monthly)


if __name__ == "__main__":
    main()
