"""slicewise replay: what the rows of a trace mean."""

import csv
import json
import pathlib
import tempfile
import unittest

from program import PODS_LOST, run


class WhatRowsSay(unittest.TestCase):
    """What a field that is empty, or says the same in other words, means."""

    def schedulers(self, trace, *arguments, code=0):
        result = run("replay", "-f", "-", *arguments, "-o", "json", stdin=trace)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)["schedulers"]

    def test_without_a_part_of_a_gpu_a_job_takes_all_of_it(self):
        trace = "arrival_s,run_s,gpus,gpu_milli\n" + "0,100,1,\n" * 3 + "0,100,1,1000\n" * 2
        replayed = self.schedulers(trace, "--gpus", "1")[0]
        self.assertEqual(replayed["makespanSeconds"], 500)
        self.assertEqual([(s["name"], s["finished"]) for s in replayed["sizes"]],
                         [("1 GPU", 5)])

    def test_a_part_is_one_of_each_gpu(self):
        use = [self.schedulers(f"arrival_s,run_s,gpus,gpu_milli\n0,36000,{gpus},500\n",
                               "--instances", node, "--sharing", "exclusive")[0]["company"]["gpuBusyRatio"]
               for gpus, node in ((1, "g5.xlarge=1"), (4, "g5.12xlarge=1"))]
        self.assertAlmostEqual(use[0], 0.5)
        self.assertAlmostEqual(use[1], 0.5)

    def test_parts_of_several_gpus_are_whole_on_nodes_and_said_to_be(self):
        trace = "arrival_s,run_s,gpus,gpu_milli\n0,3600,1,500\n0,3600,2,500\n0,3600,4,250\n"
        said = "2 of 3 jobs ask for a part of each of several GPUs and get whole ones; the first is " \
               "line 3: 0.5 of each of 2"
        for where, hours, is_said in ((("--instances", "p4d.24xlarge=1"), 6.5, True),
                                      (("--instances", "p4d.24xlarge=1", "--sharing", "exclusive"),
                                       6.5, True), (("--gpus", "8"), 2.5, False)):
            document = json.loads(run("replay", "-f", "-", *where, "-o", "json", stdin=trace).stdout)
            notes = {note["message"]: note["severity"] for note in document.get("notes", [])}
            self.assertEqual(notes.get(said), "warning" if is_said else None, where)
            replayed, = document["schedulers"]
            self.assertAlmostEqual(replayed["gpuHours"], hours)
            self.assertAlmostEqual(replayed["peakGpus"], hours if "--sharing" not in where else 7)

    def test_a_gpu_is_busy_while_an_sm_is(self):
        on = ("--instances", "g5.xlarge=1", "--sharing", "exclusive")
        both = "arrival_s,run_s,gpus,gpu_permille,sm_permille\n0,36000,1,1000,900\n"
        busy = self.schedulers(both, *on)[0]["company"]["gpuBusyRatio"]
        self.assertAlmostEqual(busy, 0.9)

    def test_a_gpu_is_the_one_that_a_log_means(self):
        times = [self.schedulers(f"arrival_s,run_s,gpus,gpu_models\n0,1000,1,{name}\n", "--any-gpu",
                                 "--instances", "g5.xlarge=1", "--sharing",
                                 "exclusive")[0]["makespanSeconds"]
                 for name in ("T4", "Tesla_T4", "NVIDIA-T4")]
        self.assertLess(times[0], 900)
        self.assertEqual(times, [times[0]] * 3)

    def test_tail_times_of_sharing_are_there(self):
        trace = "arrival_s,run_s,gpus\n0,100,1\n0,100,1\n0,100,1\n"
        shared, = self.schedulers(trace, "--instances", "g5.xlarge=1", "--sharing", "exclusive")
        self.assertAlmostEqual(shared["waitP95Seconds"], 200, delta=2)
        self.assertAlmostEqual(shared["completionP95Seconds"], 300, delta=3)
        self.assertNotIn("waitP95Seconds", self.schedulers(trace, "--gpus", "1")[0])

    def test_jobs_that_never_fit_are_named_in_any_order_of_ways(self):
        trace = "arrival_s,run_s,gpus\n0,10,16\n0,10,1\n"
        for ways in ("exclusive,mig:all-1g.5gb", "mig:all-1g.5gb,exclusive"):
            result = run("replay", "-f", "-", "--instances", "p4d.24xlarge=1", "--sharing", ways,
                         stdin=trace)
            self.assertIn("JOB_NEVER_FITS: 1 of 2 jobs", result.stdout)

    def test_jobs_above_the_memory_of_all_gpus_are_counted_without_sharing_too(self):
        trace = "arrival_s,run_s,gpus,gpu_memory_bytes\n0,10,1,1000\n0,10,1,30000000000\n" \
                "5,10,1,40000000000\n"
        for nodes, said in (("g5.xlarge=4", True), ("g5.xlarge=4,p4d.24xlarge=1", False)):
            text = run("replay", "-f", "-", "--instances", nodes, stdin=trace).stdout
            self.assertEqual("2 jobs need more GPU memory than any GPU here has (22.49 GiB), and ran "
                             "all the same; the first is line 3" in " ".join(text.split()), said,
                             text)

    def test_rows_of_groups_have_figures_of_the_group_alone(self):
        trace = "arrival_s,run_s,gpus,user\n0,10,1,ana\n0,10,2,bo\n0,30,1,bo\n"
        ways = ("-f", "-", "--instances", "p4d.24xlarge=1", "--sharing", "mig:all-1g.5gb")
        everything, *groups = csv.DictReader(
            run("replay", *ways, "--group-by", "user", "-o", "csv", stdin=trace).stdout.splitlines())
        self.assertEqual((everything["lost"], everything["fitNoShare"]), ("1", "1"))
        self.assertEqual({row["size"]: row["lost"] for row in groups}, {"ana": "", "bo": "1"})
        for row in groups:
            self.assertEqual(row["sharing"], "mig:all-1g.5gb")
            for column in ("costUsd", "usdPerJob", "worstUser", "completionP95Seconds", "neverFit",
                           "boundedSlowdownMean", "gpuBusy", "makespanSeconds", "fitNoShare"):
                self.assertEqual(row[column], "", column)
        self.assertNotIn("lost", run("replay", *ways, "-o", "csv", stdin=trace).stdout.split("\n", 1)[0])

    def test_a_pod_fits_any_slice_that_is_as_large_as_the_one_it_had(self):
        def pod(number, resource):
            times = {"startTime": "2026-11-01T08:00:00Z", "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-01T08:00:00Z"}]}
            ended = {"terminated": {"startedAt": "2026-11-01T08:00:05Z", "finishedAt": "2026-11-01T09:00:00Z",
                                    "exitCode": 0, "reason": "Completed"}}
            return {"metadata": {"name": f"p{number}", "namespace": "x", "uid": f"u{number}",
                                 "creationTimestamp": "2026-11-01T08:00:00Z"},
                    "spec": {"containers": [{"name": "c", "resources": {"limits": {resource: "1"}}}]},
                    "status": {**times, "phase": "Succeeded",
                               "containerStatuses": [{"name": "c", "state": ended}]}}

        pods = json.dumps({"kind": "List", "items": [pod(1, "nvidia.com/mig-1g.5gb"),
                                                     pod(2, "nvidia.com/mig-2g.10gb")]})
        trace = run("import", "pods", "-f", "-", stdin=pods)
        self.assertEqual(trace.returncode, 0, trace.stderr)
        ways = {"mig:all-1g.5gb": 1, "mig:all-2g.10gb": 2, "mig:all-3g.20gb": 2, "time-slicing:4": 2,
                "exclusive": 2}
        found = self.schedulers(trace.stdout, "--instances", "p4d.24xlarge=1", "--sharing", ",".join(ways),
                                code=PODS_LOST)
        self.assertEqual({way["sharing"]: way["finished"] for way in found}, ways)
        self.assertEqual(found[0]["company"]["fitNoShare"][0]["reason"], "otherSlice")
        self.assertEqual(found[0]["company"]["provenance"]["gpuMemory"], 2)

    def test_the_page_compares_ways_that_did_the_work(self):
        trace = "arrival_s,run_s,gpus,gpu_memory_bytes\n0,10,1,30000000000\n0,10,1,30000000000\n"
        stored = run("replay", "-f", "-", "--instances", "p4d.24xlarge=1", "--sharing",
                     "mig:all-1g.5gb,exclusive", "-o", "json", stdin=trace).stdout
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "replay.json")
            path.write_text(stored, encoding="utf-8")
            page = run("report", str(path)).stdout
        self.assertIn("exclusive ends first", page)
        self.assertNotIn("0 s with mig", page)
        self.assertNotRegex(page, "mig:all-1g.5gb ends first")

    def test_what_a_trace_has_no_column_for_is_told(self):
        trace = "arrival_s,run_s,gpus\n0,10,1\n0,10,1\n"
        asked = run("replay", "-f", "-", "--gpus", "1", "--group-by", "project", stdin=trace)
        self.assertEqual(asked.returncode, 3)
        self.assertIn("the trace has no column project", asked.stderr)
        by_priority = run("replay", "-f", "-", "--gpus", "1", "--queue", "priority", stdin=trace)
        self.assertEqual(by_priority.returncode, 0)
        self.assertIn("the trace has no priorities", by_priority.stdout)

    def test_a_trace_without_a_run_time_is_an_error(self):
        result = run("replay", "-f", "-", "--gpus", "1", stdin="arrival_s,run_s,gpus\n0,,1\n")
        self.assertEqual(result.returncode, 3)
        self.assertIn("no job of the trace says how long it ran", result.stderr)


if __name__ == "__main__":
    unittest.main()
