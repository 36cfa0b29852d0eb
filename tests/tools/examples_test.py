"""Every example runs, and its outcome is what its comments and descriptions say."""

import functools
import json
import unittest

from program import INFEASIBLE, PODS_LOST, ROOT, run

OBJECTIVE_MISSED = 99
INFEASIBLE = 4


# One of their variants shows on purpose how pods die.
LOSE_PODS = {"aws-cifar10", "aws-cifar10-g5", "aws-cifar10-p4d", "gpu-parts", "manual-sharing"}


@functools.cache
def variants(name, *flags):
    """The result of each variant of an example, by name."""
    result = run("run", "-f", f"scenarios/examples/{name}.yaml", "-o", "json", *flags)
    # Without a NodeOverlay no node ever starts for a renamed resource, and no pod runs.
    fine = ((0, INFEASIBLE) if name == "karpenter-thrash" else
            (0, PODS_LOST) if name in LOSE_PODS else (0, OBJECTIVE_MISSED))
    if result.returncode not in fine:
        raise AssertionError(result.stderr)
    return {v["name"]: v for v in json.loads(result.stdout)["variants"]}


def codes(variant):
    return {finding["code"] for finding in variant["findings"]}


def latency(variant, quantile):
    return variant["workloads"][0]["latencySeconds"][quantile]


class Examples(unittest.TestCase):
    def test_every_example_runs(self):
        files = sorted((ROOT / "scenarios/examples").glob("*.yaml"))
        self.assertGreater(len(files), 9)
        for file in files:
            with self.subTest(example=file.name):
                self.assertTrue(variants(file.stem, "--replications", "1"))

    def test_pages_of_examples_are_small(self):
        # The pages of these have less on them than others, and take seconds to simulate.
        slow = {"mig-change", "mps-g5", "seven-pods-one-a100", "triton-batching"}
        files = sorted((ROOT / "scenarios/examples").glob("*.yaml"))
        self.assertGreater(len(files), 9)
        for file in files:
            if file.stem in slow:
                continue
            with self.subTest(example=file.name):
                page = run("report", f"scenarios/examples/{file.name}", "--replications", "1")
                # In one variant no pod ever runs; an objective that is missed is what a page shows.
                expected = {"karpenter-thrash": INFEASIBLE}.get(
                    file.stem, PODS_LOST if file.stem in LOSE_PODS | {"mig-multi-tenant"} else 0)
                self.assertEqual(page.returncode, expected, page.stderr)
                self.assertLess(len(page.stdout.encode()), 300 * 1024)

    def test_littles_law_holds_in_every_example(self):
        # Requests in the system = rate x time in the system; what is still there when the run ends,
        # or came before the warm-up, is small where the queue is stable.
        checked = 0
        for file in sorted((ROOT / "scenarios/examples").glob("*.yaml")):
            for name, variant in variants(file.stem, "--replications", "1").items():
                for workload in variant["workloads"]:
                    requests = workload.get("requests")
                    if requests is None or "latencySeconds" not in workload:
                        continue
                    if requests["answered"] < max(2000, 0.9999 * requests["arrived"]):
                        continue
                    with self.subTest(example=file.stem, variant=name, workload=workload["name"]):
                        rate = workload["throughputPerSecond"]
                        expected = rate * workload["latencySeconds"]["mean"]
                        self.assertLess(abs(requests["meanInSystem"] / expected - 1), 0.02)
                        checked += 1
        self.assertGreater(checked, 20)

    def test_requests_are_conserved_in_every_example(self):
        for file in sorted((ROOT / "scenarios/examples").glob("*.yaml")):
            for name, variant in variants(file.stem, "--replications", "1").items():
                for workload in variant["workloads"]:
                    requests = workload.get("requests")
                    if requests is None:
                        continue
                    with self.subTest(example=file.stem, variant=name, workload=workload["name"]):
                        gone = sum(requests[key] for key in
                                   ("answered", "refused", "dropped", "timedOut"))
                        self.assertLessEqual(gone, requests["arrived"])
                        self.assertLessEqual(requests["inObjectives"], requests["answered"])

    def test_one_model_leaves_the_gpu_waiting_and_four_use_it(self):
        found = variants("asr-tts-t4", "--replications", "1")

        def busy(copies):
            return [found[f"{copies}/mean={rate}/s"]["gpus"][0]["timeBusyRatio"]
                    for rate in (4, 8, 12, 16, 24, 32)]
        one, four = busy("one-copy"), busy("four-copies")
        for lower, higher in zip(one, one[1:5]):
            self.assertGreater(higher, lower)
        self.assertLess(one[-1] - one[-2], 0.01)  # flat, although the load grows by a third
        self.assertLess(one[-1], 0.6)
        self.assertGreater(four[-1], 0.8)
        self.assertIn("OBJECTIVE_MISSED", codes(found["one-copy/mean=16/s"]))
        self.assertNotIn("OBJECTIVE_MISSED", codes(found["four-copies/mean=16/s"]))

    def test_batching_beats_copies(self):
        found = variants("triton-batching", "--replications", "1")
        p99 = {name: latency(variant, "p99") for name, variant in found.items()}
        self.assertLess(p99["batching/mean=280/s"], p99["one-copy/mean=280/s"])
        self.assertLess(p99["one-copy/mean=280/s"], p99["four-copies/mean=280/s"])
        # Waiting for a batch to fill costs latency at every load that does not need it.
        self.assertLess(p99["batching/mean=100/s"], p99["batching-delay/mean=100/s"])
        self.assertNotIn("OBJECTIVE_MISSED", codes(found["batching/mean=600/s"]))

    def test_a_pipeline_takes_as_long_as_its_stages(self):
        found = variants("voice-pipeline", "--replications", "1")
        for variant in found.values():
            *stages, voice = variant["workloads"]
            self.assertEqual(voice["kind"], "Pipeline")
            total = sum(stage["latencySeconds"]["mean"] for stage in stages)
            self.assertLess(abs(voice["latencySeconds"]["mean"] / total - 1), 0.01)
        self.assertIn("OBJECTIVE_MISSED", codes(found["one-t4"]))
        self.assertNotIn("OBJECTIVE_MISSED", codes(found["three-t4"]))

    def test_the_readme_lists_every_example(self):
        text = (ROOT / "scenarios/README.md").read_text(encoding="utf-8")
        for file in (ROOT / "scenarios/examples").glob("*.yaml"):
            self.assertIn(f"`{file.name}`", text)

    def test_seven_pods_slow_down_as_nos_measured(self):
        # Published: 7.77, 3.64 and 3.91 times slower than alone.
        found = variants("seven-pods-one-a100", "--replications", "1")
        alone = found["alone"]["makespanSeconds"]["mean"]
        for name, measured, tolerance in (("time-slicing", 7.77, 0.02), ("mps", 3.64, 0.02),
                                          ("mig", 3.91, 0.04)):
            with self.subTest(variant=name):
                slowdown = found[name]["makespanSeconds"]["mean"] / alone
                self.assertLess(abs(slowdown / measured - 1), tolerance, slowdown)

    def test_a_chat_meets_its_limits_on_one_l40s_only(self):
        found = variants("chat-llm")
        missed = {name: [o["name"] for o in variant["workloads"][0]["objectives"] if not o["pass"]]
                  for name, variant in found.items()}
        self.assertEqual(missed, {"g5": ["ttftP95", "tpotP95"], "g6e": [], "g6e-prefix-reuse": [],
                                  "g6e-two-servers": ["ttftP95", "tpotP95"]})

    def test_gpus_that_share_a_model_gain_less_the_more_they_are(self):
        found = variants("llm-on-several-gpus", "--replications", "1")
        token = {name: variant["workloads"][0]["tokens"]["perTokenSeconds"]["p50"]
                 for name, variant in found.items()}
        self.assertGreater(token["two"] / token["four"], 1.6)
        self.assertGreater(token["four"] / token["eight"], 1.4)
        self.assertLess(token["four"] / token["eight"], token["two"] / token["four"])
        self.assertIn("GANG_ACROSS_SLOW_LINKS", codes(found["fp8-over-pcie"]))
        self.assertNotIn("OBJECTIVE_MISSED", codes(found["four"]))

    def test_the_thread_cap_of_the_device_plugin_costs_latency(self):
        found = variants("mps-g5")
        p99 = {name: latency(variant, "p99") for name, variant in found.items()}
        self.assertLess(p99["exclusive"], p99["mps-uncapped"])
        self.assertLess(p99["mps-uncapped"], p99["mps"])
        self.assertLess(p99["mps"], p99["time-slicing"])
        self.assertIn("OBJECTIVE_MISSED", codes(found["time-slicing"]))
        self.assertNotIn("OBJECTIVE_MISSED", codes(found["mps"]))

    def test_hami_holds_pods_to_their_parts_and_kai_holds_nobody(self):
        by_name = variants("gpu-parts")
        busy = {name: v["workloads"][1]["gpuBusyShare"] for name, v in by_name.items()}
        self.assertAlmostEqual(busy["hami"], 0.4, delta=0.01)
        self.assertGreater(busy["disable"], 0.7)
        self.assertEqual(busy["kai"], busy["disable"])
        self.assertEqual(busy["too-little"], 0)
        self.assertLess(latency(by_name["hami"], "p99"), latency(by_name["kai"], "p99"))

    def test_two_tenants_find_no_slice_of_their_size(self):
        found = variants("mig-multi-tenant", "--replications", "1")
        small, mixed = found["all-small"], found["mixed"]
        self.assertEqual(small["nodePools"][0]["migInstances"], {"1g.5gb": 56})
        self.assertEqual((small["pods"]["runningMax"], small["pods"]["pendingMax"]), (52, 2))
        self.assertEqual(small["pods"]["pendingReasons"], [
            "0/1 nodes are available: 1 Insufficient nvidia.com/mig-2g.10gb."])
        self.assertEqual((mixed["pods"]["runningMax"], mixed["pods"]["pendingMax"]), (54, 0))
        self.assertNotIn("OBJECTIVE_MISSED", codes(mixed))

    def test_notebooks_wait_for_replicas_and_run_out_of_memory(self):
        found = variants("notebooks-g5", "--replications", "1")

        def notebooks(replicas, allocator):
            variant = found[f"replicas={replicas},allocator={allocator}"]
            return variant["workloads"][0]["notebooks"]
        starts = [notebooks(n, "OnDemand")["sessionStartSeconds"]["p95"] for n in (2, 3, 4)]
        self.assertGreater(starts[0], 180)
        self.assertLess(max(starts[1:]), 180)
        for replicas in (2, 3, 4):
            growing, greedy = notebooks(replicas, "OnDemand"), notebooks(replicas, "Greedy")
            self.assertGreater(greedy["oomPerUserMonth"], 10 * growing["oomPerUserMonth"])
            self.assertLess(greedy["cells"], growing["cells"])

    def test_a_layout_change_evicts_all_pods_once(self):
        found = variants("mig-change", "--replications", "1")
        change, steady = found["change-at-30m"], found["half-from-the-start"]
        self.assertEqual((change["pods"]["evicted"], steady["pods"]["evicted"]), (24, 0))
        # 120 requests a second for the 70 s of the change and the 20 s of loading the model.
        refused = change["workloads"][0]["requests"]["refused"]
        self.assertLess(abs(refused / (120 * 90) - 1), 0.05, refused)
        self.assertEqual(change["workloads"][1]["waitSeconds"]["mean"], 30 * 60 + 70)

    def test_pods_without_a_request_pile_up_on_one_gpu(self):
        found = variants("manual-sharing", "--replications", "1")
        manual, shared = found["manual"], found["time-slicing"]
        self.assertIn("GPU_NOT_REQUESTED", codes(manual))
        self.assertEqual([gpu["timeBusyRatio"] > 0 for gpu in manual["gpus"]],
                         [True, False, False, False])
        self.assertEqual((manual["pods"]["failed"], manual["pods"]["succeeded"]), (4, 4))
        self.assertEqual((shared["pods"]["failed"], shared["pods"]["succeeded"]), (0, 8))
        self.assertTrue(all(gpu["timeBusyRatio"] > 0 for gpu in shared["gpus"]))


if __name__ == "__main__":
    unittest.main()
