"""tools/bench/plan_oracle/igniter.py: its greedy on GPUs for which it can be told by hand, and the program beside it."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from program import BINARY, ROOT, main

TOOL = ROOT / "tools/bench/plan_oracle/igniter.py"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOL.parent))

import igniter  # noqa: E402  (beside the bench, not in a package)

# A request takes 1 ms of the whole GPU, 1 ms more goes by alone, and of 20 kernels each waits 0.05 ms for each
# other workload on the GPU. Power and L2 cache change nothing.
HARDWARE = {"unit": 2.5, "bandwidth": 1e7, "maxGPUfrequency": 1530, "maxGPUpower": 300, "idlepower": 50,
            "power": [100, 175, 250, 290, 295], "frequency": [1530, 1530, 1530, 1505, 1430],
            "idletime": [0, 0.05, 0.10, 0.15 * 1530 / 1505, 0.20 * 1530 / 1430]}
MODEL = {"inputdata": 0, "outputdata": 0, "idletime_1": 1, "kernel": 20, "l2cache": 1, "l2caches": [1, 1, 1],
         "activetime_1": 1, "activetime_2": 1, "frequency_2": 1530, "frequency": [[1530] * 3] * 3,
         "power": [[50] * 3] * 3,
         "gpulatency": [[1 + 100 * batch / share for share in igniter.SHARES] for batch in igniter.BATCHES]}
NAMES = ("alexnet", "resnet50", "vgg19")


def shares(gpus):
    return [[(w.name, share) for w, share in company] for company in gpus]


class Greedy(unittest.TestCase):
    def setUp(self):
        self.hardware = igniter.Hardware(HARDWARE)
        self.model = igniter.Model("resnet50", MODEL, self.hardware)

    def workload(self, name, limit, rate):
        return igniter.Workload(name, self.model, limit, rate)

    def test_fits_what_was_measured(self):
        self.assertAlmostEqual(self.model.active(4, 30), 400 / 30, places=6)
        self.assertAlmostEqual(self.model.k4, 0, places=6)
        # Each copy draws 75 W; the fourth would need 25 W too many, the fifth 100 W: 1 MHz less for each.
        self.assertEqual(self.hardware.slowness(250), 1)
        self.assertAlmostEqual(self.hardware.slowness(290), 1530 / 1490)

    def test_takes_a_batch_and_threads_by_half_of_the_limit(self):
        busy = self.workload("busy", 40, 480)
        self.assertEqual(busy.batch, 10)
        self.assertEqual(busy.fewest(2.5), 55)  # 1000 / 19 = 52.6

    def test_takes_a_gpu_more_where_company_does_not_fit(self):
        gpus = igniter.greedy([self.workload("b", 40, 200), self.workload("a", 40, 480),
                               self.workload("c", 40, 300)], self.hardware)
        # Together a is late with 55 % (18.2 + 2 ms of 20), c with 32.5 %.
        self.assertEqual(shares(gpus), [[("a", 57.5), ("c", 35)], [("b", 22.5)]])

    def test_takes_the_gpu_where_the_fewest_threads_are_added(self):
        gpus = igniter.greedy([self.workload("e", 40, 650), self.workload("g", 60, 300),
                               self.workload("b", 40, 200)], self.hardware)
        # There is room beside e, which would need 2.5 % more.
        self.assertEqual(shares(gpus), [[("e", 70)], [("g", 32.5), ("b", 22.5)]])

    def test_gives_what_is_left_to_who_is_late(self):
        a, b, c = (self.workload(name, 40, 200) for name in "abc")
        gpus = igniter.with_shadows([[(a, 50), (b, 35)], [(c, 93.5)]], ["a", "b", "c"], 2.5)
        self.assertEqual(shares(gpus), [[("a", 60), ("b", 40)], [("c", 98.5)]])


class Program(unittest.TestCase):
    def test_plans_beside_the_greedy(self):
        with tempfile.TemporaryDirectory() as folder:
            algorithm, tools = (pathlib.Path(folder, "i-Gniter", name) for name in ("Algorithm", "Profile/tools"))
            algorithm.mkdir(parents=True)
            tools.mkdir(parents=True)
            measured = [{"hardware": HARDWARE}, *({name: MODEL} for name in NAMES)]
            latency = {batch: {percent: 1 + 100 * batch / percent for percent in (20, 50, 80)} for batch in (1, 4, 8)}
            (algorithm / "config").write_text("\n".join(map(json.dumps, measured)), encoding="utf-8")
            (tools / "gpulet.config").write_text(
                "\n".join(json.dumps({name: {"latency": latency}}) for name in NAMES), encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", TOOL, BINARY, "--inputs", folder, "--problems", "example",
                                   "--arrivals", "Constant", "--seeds", "2"], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("alexnet: 1.00 ms + 1.000 ms b/r, off by 0.0% in the mean", done.stdout)
        rows = [line for line in done.stdout.splitlines() if line.startswith("example")]
        self.assertEqual([row[20:38].strip() for row in rows if "shadows" not in row], ["iGniter", "plan", "plan --dra"])
        for row in rows[-2:]:
            self.assertIn("  2/2", row)


if __name__ == "__main__":
    main()
