"""gpu_probe on a driver whose GPU is a file: it finds the figures that the test has put there."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

from program import ROOT, run, skip_without

PROBE = os.environ["SLICEWISE_PROBE"]
FAKE = os.environ["SLICEWISE_FAKE_DRIVER"]
TURN_US, SWITCH_US, LAUNCH_US, REFILL_NS_PER_MIB, CONTEXT_MIB = 1500, 180, 7, 9000, 412
SCHEMA = ROOT / "tools/gpu_probe/probe.schema.json"


def probe(folder, *flags, **figures):
    environment = {"PATH": os.environ["PATH"], "LD_PRELOAD": FAKE, "FAKE_GPU": os.path.join(folder, "gpu"),
                   "FAKE_TURN_US": str(TURN_US), "FAKE_SWITCH_US": str(SWITCH_US),
                   "FAKE_LAUNCH_US": str(LAUNCH_US),
                   "FAKE_REFILL_NS_PER_MIB": str(REFILL_NS_PER_MIB),
                   "FAKE_CONTEXT_MIB": str(CONTEXT_MIB), **figures}
    return subprocess.run(
        [PROBE, "--driver", FAKE, "--management", FAKE, "--run-ms", "80", "--repetitions", "2",
         "--processes", "3", *flags],
        capture_output=True, text=True, timeout=300, env=environment, check=False)


class OnAFakeGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.file = pathlib.Path(folder.name, "probe.json")
        pathlib.Path(folder.name, "control").touch()  # an MPS daemon
        cls.result = probe(folder.name, "--out", str(cls.file), FAKE_MIG="1",
                           CUDA_MPS_PIPE_DIRECTORY=folder.name)
        cls.document = json.loads(cls.file.read_text(encoding="utf-8"))

    def near(self, found, put_there, part=0.05):
        self.assertLess(abs(found / put_there - 1), part, (found, put_there))

    def test_all_is_measured(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        self.assertEqual(self.document["failures"], [])
        self.assertEqual(self.document["driver"], "550.54.15")
        self.assertEqual(self.document["gpu"]["name"], "NVIDIA A100-SXM4-40GB")

    def test_the_document_is_as_its_schema_says(self):
        if jsonschema is None:
            skip_without("python3-jsonschema")
        jsonschema.validate(self.document, json.loads(SCHEMA.read_text(encoding="utf-8")))

    def test_turn_and_switch_come_out(self):
        rows = self.document["timeSlicing"]
        self.assertEqual([row["processes"] for row in rows], [2, 3, 2, 2, 2])
        for row in rows:
            self.near(row["turnMicroseconds"]["median"], TURN_US)
            self.near(row["switchMicroseconds"]["median"], SWITCH_US)
            self.assertGreater(row["turnMicroseconds"]["count"], 20)
            self.assertEqual(row["together"], 0)

    def test_cold_caches_cost_by_the_working_set(self):
        for row in self.document["timeSlicing"]:
            refill = row["workingSetBytes"] / 2**20 * REFILL_NS_PER_MIB / 1000
            self.near(row["costMicroseconds"]["median"], SWITCH_US + refill, 0.1)

    def test_a_process_that_waits_gives_its_turn_away(self):
        yielding = self.document["yielding"]
        self.assertEqual(yielding["besideIdle"]["pauseMicroseconds"]["count"], 0)
        self.assertLess(yielding["besideSynchronising"]["pauseMicroseconds"]["median"], TURN_US)
        self.assertGreater(yielding["besidePausing"]["share"]["median"],
                           yielding["besideSynchronising"]["share"]["median"])

    def test_launches(self):
        launch = self.document["launch"]
        self.near(launch["hostMicroseconds"]["median"], LAUNCH_US)
        self.near(launch["untilDoneMicroseconds"]["median"], LAUNCH_US + 1)

    def test_memory_of_a_context(self):
        self.assertEqual(self.document["contextMemoryBytes"]["median"], CONTEXT_MIB * 2**20)

    def test_mps(self):
        mps = self.document["mps"]
        speeds = {(row["kernel"], row["beside"]): row["speed"]["median"]
                  for row in mps["interference"]}
        self.assertEqual(len(speeds), 9)
        self.near(speeds["latency", "bandwidth"], 0.70)
        self.near(speeds["compute", "compute"], 0.50)
        threads = {(row["kernel"], row["percent"]): row["speed"] for row in mps["threadPercentage"]}
        self.near(threads["compute", 25], 0.25)
        self.near(threads["bandwidth", 50], 1)
        self.assertTrue(mps["memoryLimit"]["refused"])
        self.assertEqual(mps["clientLimit"]["clients"], 6)
        self.assertIn("MAX_CLIENTS", mps["clientLimit"]["refusal"])
        slow = [row["latencyMicroseconds"]["mean"] for row in mps["shortBesideLong"]["beside"]]
        self.assertGreater(slow[2], 3 * mps["shortBesideLong"]["alone"]["mean"])
        blocks = [(row["neighbourMicroseconds"], row["blockMicroseconds"]) for row in mps["shortBesideLong"]["beside"]]
        self.assertEqual(blocks[-2:], [(2000, 500), (2000, 100)])

    def test_every_speed_has_its_repetitions_and_their_spread(self):
        mps, (slice_,) = self.document["mps"], self.document["mig"]
        pairs = [(row["speed"], row["spread"]) for row in mps["threadPercentage"]]
        for kernel in ("compute", "bandwidth", "latency"):
            pairs.append((mps["unitsPerSecondAlone"][kernel], mps["spreadAlone"][kernel]))
            pairs.append((slice_["unitsPerSecond"][kernel], slice_["spread"][kernel]))
        for speed, spread in pairs:
            self.assertEqual((spread["median"], spread["count"]), (speed, 2))
            self.assertLessEqual(spread["low"], spread["high"])

    def test_the_catalogue_takes_the_turns(self):
        listed = run("get", "gpus", "-o", "json", "--catalogue", str(self.file))
        self.assertEqual(listed.returncode, 0, listed.stderr)
        (gpu,) = [gpu for gpu in json.loads(listed.stdout)["items"]
                  if gpu["name"] == "A100-SXM4-40GB"]
        self.near(gpu["timeSliceSeconds"], TURN_US * 1e-6)
        self.near(gpu["switchCostSeconds"], SWITCH_US * 1e-6)
        self.assertEqual(gpu["contextMemoryBytes"], CONTEXT_MIB * 2**20)
        self.assertIn("Measured: ", gpu["sources"][-1]["text"])
        self.assertEqual(gpu["sources"][-1]["date"], self.document["date"])

    def test_the_catalogue_has_what_was_measured_on_h200(self):
        def figures(*flags):
            listed = run("get", "gpus", "-o", "json", *flags)
            self.assertEqual(listed.returncode, 0, listed.stderr)
            (gpu,) = [gpu for gpu in json.loads(listed.stdout)["items"] if gpu["name"] == "H200-SXM-141GB"]
            return [gpu[name] for name in ("timeSliceSeconds", "switchCostSeconds", "contextMemoryBytes")]
        measured = figures("--catalogue", str(ROOT / "models/measurements/nvidia-h200.json"))
        for shipped, found in zip(figures(), measured):
            self.near(found, shipped, 0.002)

    def calibrated(self, **without):
        file = self.file.with_name("part.json")
        file.write_text(json.dumps({**self.document, **without}), encoding="utf-8")
        return run("calibrate", str(file))

    def test_calibrate_reads_its_kernels(self):
        under_mps = self.calibrated(mig=[])
        self.assertEqual(under_mps.returncode, 0, under_mps.stderr)
        self.assertIn("probe/bandwidth", under_mps.stdout)
        self.assertIn("sensitivity", under_mps.stdout)
        on_slices = self.calibrated()
        self.assertEqual(on_slices.returncode, 0, on_slices.stderr)
        self.assertIn("1g.5gb", on_slices.stdout)
        neither = self.calibrated(mig=[], mps={"running": False})
        self.assertEqual(neither.returncode, 3)
        self.assertIn("start an MPS daemon first", neither.stderr)

    def test_what_cannot_be_a_measurement_is_refused(self):
        for part, said in (({"date": "yesterday"}, "is no date"),
                           ({"timeSlicing": []}, "has no turns of two processes"),
                           ({"gpu": {"name": "NVIDIA Z9"}}, "the catalogue lacks: NVIDIA Z9")):
            file = self.file.with_name("bad.json")
            file.write_text(json.dumps({**self.document, **part}), encoding="utf-8")
            result = run("get", "gpus", "--catalogue", str(file))
            self.assertEqual(result.returncode, 3, part)
            self.assertIn(said, result.stderr)
        few = json.loads(json.dumps(self.document["timeSlicing"]))
        few[0]["turnMicroseconds"]["count"] = 3
        file.write_text(json.dumps({**self.document, "timeSlicing": few}), encoding="utf-8")
        self.assertIn("of too few turns", run("get", "gpus", "--catalogue", str(file)).stderr)

    def test_the_slices_that_there_are(self):
        (slice_,) = self.document["mig"]
        self.assertEqual((slice_["profile"], slice_["smCount"]), ("1g.5gb", 14))


class Without(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_without_a_driver_it_says_so(self):
        result = probe(self.folder, "--driver", "libcuda-that-is-not-there.so")
        self.assertEqual((result.returncode, result.stdout), (4, ""))
        self.assertIn("no NVIDIA GPU to measure", result.stderr)

    def test_without_a_gpu_it_says_so(self):
        result = probe(self.folder, FAKE_GPUS="0")
        self.assertEqual((result.returncode, result.stdout), (4, ""))
        self.assertIn("the driver finds no GPU", result.stderr)

    def test_a_gpu_that_is_not_there(self):
        result = probe(self.folder, "--gpu", "3")
        self.assertEqual(result.returncode, 4)
        self.assertIn("no GPU 3", result.stderr)

    def test_wrong_flags(self):
        for flags in (("--processes", "1"), ("--proceses", "4"), ("--out",)):
            self.assertEqual(probe(self.folder, *flags).returncode, 2, flags)

    def test_help_names_the_exit_codes(self):
        self.assertIn("4 there is no NVIDIA GPU", probe(self.folder, "--help").stdout)


if __name__ == "__main__":
    unittest.main()
