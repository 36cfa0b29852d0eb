"""slicewise calibrate of a Prometheus window: what a simulation shows of itself gives back what it ran with."""

import json
import pathlib
import tempfile
import unittest

import yaml

from program import main, run, thorough

SOLO_MS = 25
CAPACITY = 0.7
SCENARIO = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {{name: window}}
spec:
  region: us-east-1
  duration: 1h
  seed: 7
  nodePools:
    - name: gpu
      instanceType: g5.2xlarge
      devicePlugin: {{version: v1, sharing: {{{sharing}: {{resources: [{{name: nvidia.com/gpu, replicas: {pods}}}]}}}}}}
      {more}
  workloads:
    - name: asr
      kind: Service
      replicas: {pods}
      podTemplate: {{resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
      gpuMemory: {{resident: 2Gi}}
      measured: {{device: A10G, requestGpuTime: {solo}ms, capacityShare: {capacity:.0%}, bandwidthShare: 0%,
                  normP: 3, provenance: Assumed}}
      traffic: {{mean: {rate}/s}}
"""
STEP_S = 60
START = 1_718_000_000


def series(name, labels, values, start):
    return {"metric": {"__name__": name, **labels},
            "values": [[start + STEP_S * i, f"{value:.6g}"] for i, value in enumerate(values)]}


def recorded(pods, busy, rate_each, start, steps, sharing):
    """A GPU with its pods, as the exporter with --kubernetes-virtual-gpus and kube-state-metrics say it."""
    node = f"n{pods}"
    yield series("kube_node_labels", {"node": node, "label_nvidia_com_gpu_sharing_strategy": sharing},
                 [1] * steps, start)
    for number in range(pods):
        pod = f"asr-7d9f4b6c58-{pods}{number}"
        labels = {"namespace": "ml", "pod": pod, "uid": pod, "node": node}
        yield series("kube_pod_created", labels, [start] * steps, start)
        yield series("kube_pod_info", {**labels, "created_by_kind": "ReplicaSet",
                                       "created_by_name": "asr-7d9f4b6c58"}, [1] * steps, start)
        yield series("kube_pod_container_resource_requests",
                     {**labels, "container": "main", "resource": "nvidia_com_gpu"}, [1] * steps, start)
        # Whole percents, as DCGM has them, about the mean.
        yield series("DCGM_FI_DEV_GPU_UTIL",
                     {"gpu": "0", "UUID": f"GPU-{pods}", "modelName": "NVIDIA A10G", "exported_namespace": "ml",
                      "exported_pod": pod, "exported_container": "main"},
                     [int(100 * busy + (i * 7 % 10) / 10) for i in range(steps)], start)
        yield series("nv_inference_request_success", {"namespace": "ml", "pod": pod, "model": "asr"},
                     [rate_each * STEP_S * i for i in range(steps)], start)


def answer(all_series):
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": list(all_series)}})


class RecordedWindow(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    def simulated(self, pods, load, sharing):
        """How busy the GPU is and what one pod answers."""
        way = {"mps": "mps", "time-slicing": "timeSlicing"}[sharing]
        text = SCENARIO.format(pods=pods, sharing=way, solo=SOLO_MS, capacity=CAPACITY,
                               rate=pods * load * 1000 / SOLO_MS,
                               more="mps: {uncapped: true}" if way == "mps" and pods > 1 else "")
        if pods == 1:
            text = "\n".join(line for line in text.splitlines() if "devicePlugin" not in line)
        result = run("run", self.write("scenario.yaml", text), "-o", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        variant = json.loads(result.stdout)["variants"][0]
        gpu = variant["gpus"][0]  # a GPU that switches is busy to DCGM
        busy = gpu["timeBusyRatio"] + gpu["contextSwitchRatio"]
        return busy, variant["workloads"][0]["throughputPerSecond"] / pods

    def window(self, loads, sharing, steps=360):
        """One GPU after the other, each with so many pods of such a load."""
        all_series = []
        start = START
        for pods, load in loads:
            busy, rate = self.simulated(pods, load, sharing)
            all_series += recorded(pods, busy, rate, start, steps, sharing)
            start += steps * STEP_S + 3600
        return all_series

    def calibrated(self, all_series, *flags):
        out = self.folder / "profiles.yaml"
        result = run("calibrate", self.write("window.json", answer(all_series)), "--out", str(out), *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        profiles = yaml.safe_load(out.read_text(encoding="utf-8"))["profiles"]
        self.assertEqual([p["name"] for p in profiles], ["asr/a10g/b1"])
        return result, profiles[0]

    @thorough
    def test_levels_under_mps_give_back_the_law_they_ran_with(self):
        result, profile = self.calibrated(self.window([(1, 0.3), (2, 0.4), (4, 0.2)], "mps"))
        self.assertAlmostEqual(profile["soloMs"], SOLO_MS, delta=0.02 * SOLO_MS)
        self.assertAlmostEqual(profile["capacityShare"], CAPACITY, delta=0.03)
        self.assertIn("2 processes under MPS       5.98       16.02    70.8", result.stdout)
        self.assertIn("note: 38 rows read, 3 levels of sharing", result.stderr)
        self.assertIn("measured 2024-06-10 on A10G", profile["provenance"]["soloMs"])

    def test_turns_keep_the_time_of_a_request_and_pay_for_switching(self):
        _, profile = self.calibrated(self.window([(1, 0.3), (2, 0.3)], "time-slicing"))
        self.assertAlmostEqual(profile["soloMs"], SOLO_MS, delta=0.02 * SOLO_MS)
        self.assertAlmostEqual(profile["duty"], 1, delta=0.05)

    def test_what_sms_and_memory_did_bounds_what_a_pod_alone_leaves_open(self):
        window = self.window([(1, 0.3)], "mps")
        util = next(s for s in window if s["metric"]["__name__"] == "DCGM_FI_DEV_GPU_UTIL")
        for name, part in (("SM", 0.6), ("DRAM", 0.12)):
            window.append({"metric": {**util["metric"], "__name__": f"DCGM_FI_PROF_{name}_ACTIVE"},
                           "values": [[at, f"{float(busy) * part / 100:.6g}"] for at, busy in util["values"]]})
        result, profile = self.calibrated(window)
        self.assertAlmostEqual(profile["capacityShare"], 0.6 ** 0.5, delta=0.01)  # busy while it answers
        self.assertAlmostEqual(profile["bandwidthShare"], 0.12 / 0.6 ** 0.5, delta=0.01)
        self.assertAlmostEqual(profile["duty"], 0.6 ** 0.5, delta=0.01)  # no less than that
        self.assertIn("0.60 to 1.00", profile["provenance"]["duty"])
        self.assertIn("SM %", result.stdout)

    def test_what_labels_do_not_say_is_asked_for(self):
        levels = [s for s in self.window([(1, 0.3), (2, 0.4)], "mps") if s["metric"]["__name__"] != "kube_node_labels"]
        file = self.write("window.json", answer(levels))
        result = run("calibrate", file)
        self.assertEqual(result.returncode, 3)
        self.assertIn("how 2 pods of asr shared a GPU is not recorded", result.stderr)
        _, profile = self.calibrated(levels, "--sharing", "mps")
        self.assertAlmostEqual(profile["capacityShare"], CAPACITY, delta=0.06)

    def test_an_idle_level_is_shown_but_not_fitted(self):
        result, profile = self.calibrated(self.window([(1, 0.3), (2, 0.02)], "mps", steps=60))
        self.assertTrue(profile["provenance"]["capacityShare"].startswith("borrowed"), profile["provenance"])
        self.assertIn("too short or too idle", result.stdout)

    def test_shared_without_a_pod_alone_is_an_error(self):
        result = run("calibrate", self.write("window.json", answer(self.window([(2, 0.4)], "mps"))))
        self.assertEqual(result.returncode, 3)
        self.assertIn("no pod of asr had a GPU to itself in this window", result.stderr)

    def test_what_says_nothing_of_a_level_is_left_out_with_its_reason(self):
        alone = list(recorded(1, 0.3, 12, START, 60, "mps"))
        shared = START + 7200

        def with_pair(change):
            pair = list(recorded(2, 0.7, 16, shared, 60, "mps"))
            change(pair)
            return run("calibrate", self.write("window.json", answer(alone + pair)))

        def another_workload(pair):
            for s in pair:
                if s["metric"]["__name__"] == "kube_pod_info" and s["metric"]["pod"].endswith("21"):
                    s["metric"]["created_by_name"] = "tts-7d9f4b6c58"

        def unequal(pair):
            for s in pair:
                if s["metric"]["__name__"] == "nv_inference_request_success" and s["metric"]["pod"].endswith("21"):
                    s["values"] = [[t, "5"] for t, _ in s["values"]]

        def uncounted(pair):
            pair[:] = [s for s in pair if s["metric"]["__name__"] != "nv_inference_request_success"]

        def one_named(pair):
            pair[:] = [s for s in pair if s["metric"]["__name__"] != "DCGM_FI_DEV_GPU_UTIL"
                       or s["metric"]["exported_pod"].endswith("20")]

        def of_vllm(pair):
            for s in pair:
                if s["metric"]["__name__"] == "nv_inference_request_success":
                    s["metric"]["__name__"] = "vllm:request_success_total"

        def of_processes(pair):
            for s in pair:
                if s["metric"]["__name__"] == "DCGM_FI_DEV_GPU_UTIL" and s["metric"]["exported_pod"].endswith("21"):
                    s["values"] = [[t, str(int(v) - 20)] for t, v in s["values"]]

        for change, why in [(another_workload, "pods of several workloads shared a GPU"),
                            (unequal, "less than half of its requests"),
                            (uncounted, "pods without a counter of requests"),
                            (one_named, "--kubernetes-virtual-gpus"),
                            (of_vllm, "times of vLLM"),
                            (of_processes, "the use of each process")]:
            with self.subTest(why=why):
                result = with_pair(change)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(why, result.stderr)
                self.assertNotIn("2 processes under MPS       ", result.stdout)
                self.assertIn("soloMs", result.stdout)

    def turns_of_two(self):
        """An hour of one pod on a GPU, then one of two; DCGM names one at a time, its default."""
        first = list(recorded(1, 0.3, 12, START, 60, "time-slicing"))
        later = list(recorded(1, 0.3, 12, START, 120, "time-slicing"))
        second = json.loads(json.dumps(first).replace("asr-7d9f4b6c58-10", "asr-7d9f4b6c58-11"))
        for s in second:
            s["values"] = [[at + 60 * STEP_S, value] for at, value in s["values"]]
            if s["metric"]["__name__"] == "kube_pod_created":
                s["values"] = [[at, str(START + 60 * STEP_S)] for at, _ in s["values"]]
            if s["metric"]["__name__"] == "DCGM_FI_DEV_GPU_UTIL":
                s["values"] = [[at, "61"] for at, _ in s["values"]]
        util = [s for s in first if s["metric"]["__name__"] == "DCGM_FI_DEV_GPU_UTIL"]
        return [s for s in later if s["metric"]["__name__"] != "DCGM_FI_DEV_GPU_UTIL"] + util + second

    def test_a_shared_hour_of_which_dcgm_names_one_pod_is_left_out(self):
        result, profile = self.calibrated(self.turns_of_two(), "--sharing", "time-slicing")
        self.assertAlmostEqual(profile["soloMs"], 25, delta=1)
        self.assertIn("--kubernetes-virtual-gpus", result.stderr)
        self.assertRegex(result.stdout, r"alone +0.983 ")

    def test_the_shared_hour_is_known_by_who_is_on_the_node_alone(self):
        window = [s for s in self.turns_of_two() if s["metric"]["__name__"] not in (
            "kube_pod_created", "kube_pod_container_resource_requests")]
        _, profile = self.calibrated(window, "--sharing", "time-slicing")
        self.assertAlmostEqual(profile["soloMs"], 25, delta=1)

    def test_pods_without_a_time_of_creation_are_read(self):
        window = [s for s in recorded(1, 0.3, 12, START, 60, "mps") if s["metric"]["__name__"] != "kube_pod_created"]
        result, profile = self.calibrated(window)
        self.assertAlmostEqual(profile["soloMs"], 25, delta=1)
        self.assertNotIn("--kubernetes-virtual-gpus", result.stderr)

    def test_replicas_that_nobody_places_leave_nothing_to_calibrate(self):
        # DCGM names one pod of three; the busy time of all over the requests of one was "a step".
        window = [s for s in recorded(3, 0.66, 11, START, 60, "time-slicing")
                  if not s["metric"]["__name__"].startswith("kube_")]
        named = next(s for s in window if s["metric"]["__name__"] == "DCGM_FI_DEV_GPU_UTIL")
        window = [s for s in window if s["metric"]["__name__"] != "DCGM_FI_DEV_GPU_UTIL"] + [named]
        result = run("calibrate", self.write("window.json", answer(window)))
        self.assertEqual(result.returncode, 3)
        self.assertIn("query kube_pod_info as well", result.stderr)

    def test_a_gpu_is_as_busy_as_the_window_says(self):
        _, profile = self.calibrated(list(recorded(1, 0.4, 16, START, 60, "time-slicing")) +
                                     list(recorded(3, 0.66, 8.8, START + 7200, 60, "time-slicing")))
        self.assertEqual(profile["duty"], 1)

    def test_nothing_to_calibrate_says_what_to_query(self):
        result = run("calibrate", self.write("window.json", answer(
            s for s in recorded(1, 0.3, 12, START, 60, "mps") if s["metric"]["__name__"] != "nv_inference_request_success")))
        self.assertEqual(result.returncode, 3)
        self.assertIn("no time at which it is known how busy a GPU was and what its pods answered", result.stderr)
        self.assertIn("pods without a counter of requests", result.stderr)

    @thorough
    def test_measurements_and_a_window_go_together_and_validate_reads_both(self):
        window = self.write("window.json", answer(self.window([(1, 0.3), (2, 0.4), (4, 0.2)], "mps")))
        csv = self.write("more.csv", "workload,gpu,latency_ms,sharing,clients\nasr,A10G,52,mps,3\n")
        result = run("calibrate", window, csv)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("3 processes under MPS", result.stdout)
        checked = run("validate", "measurements", "--measurements", window)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("measurements", checked.stdout)


if __name__ == "__main__":
    main()
