"""slicewise validate: formats, charts, the user's own pairs, exit codes."""

import csv
import io
import json
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from program import run

HEADER = "model1,model2,ratio1,ratio2,iso_gpu_util1,iso_gpu_util2\n"


class Formats(unittest.TestCase):
    def test_every_study_is_within_its_bound(self):
        result = run("validate", "-o", "json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        document = json.loads(result.stdout)
        self.assertTrue(document["withinBounds"])
        self.assertGreaterEqual(len(document["studies"]), 20)
        for study in document["studies"]:
            with self.subTest(study=study["name"]):
                self.assertLessEqual(study["check"]["meanErrorPercent"], study["boundPercent"])
                self.assertTrue(study["source"]["url"] and study["split"] and study["parameters"])

    def test_csv_holds_the_points_that_the_errors_are_means_of(self):
        studies = json.loads(run("validate", "igniter", "-o", "json").stdout)["studies"]
        rows = list(csv.DictReader(io.StringIO(run("validate", "igniter", "-o", "csv").stdout)))
        for study in studies:
            errors = [abs(float(row["predicted"]) / float(row["measured"]) - 1) * 100
                      for row in rows if row["study"] == study["name"] and row["role"] == "check"]
            self.assertEqual(len(errors), study["check"]["rows"])
            self.assertAlmostEqual(sum(errors) / len(errors), study["check"]["meanErrorPercent"],
                                   places=6)

    def test_a_name_is_a_study_a_source_or_a_mode(self):
        def names(*arguments):
            text = run("validate", *arguments, "-o", "json").stdout
            return [study["name"] for study in json.loads(text)["studies"]]
        self.assertEqual(names("nos-mps"), ["nos-mps"])
        self.assertEqual(names("nos"), ["nos-mps", "nos-turns", "nos-turns-warm"])
        self.assertIn("muxserve", names("MPS"))
        self.assertEqual(names("njit", "nos-mps"), ["njit", "nos-mps"])

    def test_markdown_is_a_table(self):
        lines = run("validate", "nos", "-o", "md").stdout.splitlines()
        table = [line for line in lines if line.startswith("| nos-")]
        self.assertGreaterEqual(len(table), 3)

    def test_the_summary_counts_what_the_json_says(self):
        studies = json.loads(run("validate", "-o", "json").stdout)["studies"]
        def error(study):
            return study["check"]["meanErrorPercent"]
        above = [s["name"] for s in studies if error(s) > s.get("targetPercent", error(s))]
        naive = [s["name"] for s in studies if error(s) > min(s["naive"].values())]
        self.assertIn("migperf-training", above)
        line = (f"{len(studies)} of {len(studies)} studies within their bounds; {len(above)} above "
                f"target ({', '.join(above)}); {len(naive)} worse than a naive rule ")
        self.assertIn(line, " ".join(run("validate").stdout.split()))

    def test_what_was_not_run_for_want_of_pairs_is_said(self):
        line = "3 studies need measurements that may not be redistributed"
        for arguments in ((), ("time-slicing",)):
            text = " ".join(run("validate", *arguments).stdout.split())
            self.assertIn(line, text)
            self.assertIn("--pairs FILE", text)
        self.assertNotIn("--pairs", run("validate", "nos").stdout)

    def test_an_unknown_name_is_a_usage_error(self):
        result = run("validate", "parvagu")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn('did you mean "parvagpu"?', result.stderr)


class OwnMeasurements(unittest.TestCase):
    """What tools write, and pairs: every row is checked or named."""

    PERF = ("Concurrency,Inferences/Second,Server Compute Infer,p99 latency,Avg GPU Utilization\n"
            "1,150,6000,8000,GPU-a:0.45;\n")

    def validated(self, *texts_and_flags):
        with tempfile.TemporaryDirectory() as folder:
            arguments = []
            for n, given in enumerate(texts_and_flags):
                if given.startswith("--") or "\n" not in given:
                    arguments.append(given)
                    continue
                path = pathlib.Path(folder, f"{n}.csv")
                path.write_text(given, encoding="utf-8")
                arguments += ["--measurements", str(path)]
            result = run("validate", "measurements", *arguments, "-o", "csv")
        return result, list(csv.DictReader(io.StringIO(result.stdout)))

    def test_one_flag_takes_several_files(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for n, workload in enumerate(["one", "two"]):
                files.append(pathlib.Path(folder, f"{n}.csv"))
                files[-1].write_text(f"workload,gpu,latency_ms,sharing,clients\n{workload},A10G,6,alone,1\n"
                                     f"{workload},A10G,12.3,time-slicing,2\n", encoding="utf-8")
            result = run("validate", "measurements", "--measurements", *map(str, files), "-o", "csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        for workload in ["one", "two"]:
            self.assertIn(workload, result.stdout)

    def test_outputs_of_tools_are_read_and_flags_say_what_they_leave_out(self):
        shared = "workload,gpu,latency_ms,sharing,clients\nasr,A10G,9,mps,2\nasr,A10G,20,mps,4\n"
        result, rows = self.validated(self.PERF, shared, "--workload", "asr", "--gpu", "A10G")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("4 processes", [row["setting"] for row in rows if row["role"] == "check"])
        result, _ = self.validated(self.PERF, "--workload", "asr")
        self.assertEqual(result.returncode, 3)
        self.assertIn("--gpu", result.stderr)

    def test_p99_of_requests_at_random_is_held_against_the_models(self):
        """Processes that take a tenth of the GPU's width do not slow each other: two queues M/D/1 at 50 %."""
        result, rows = self.validated("workload,gpu,latency_ms,p99_ms,requests_per_s,sharing,clients,"
                                      "gpu_util_percent,sm_active_percent\n"
                                      "w,A10G,20,,,,,100,1\nw,A10G,30,87,25,mps,2,,\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = [row for row in rows if row["study"] == "measurements-p99-mps"]
        self.assertEqual(len(found), 2, result.stdout)  # one for each copy
        for row in found:
            self.assertAlmostEqual(float(row["predicted"]), 87, delta=0.1 * 87)
        self.assertEqual({row["study"] for row in rows}, {"measurements-p99-mps"})  # its mean is of a queue

    def test_pairs_are_checked_without_shares(self):
        result, rows = self.validated("workload,gpu,latency_ms,kernel_us,sharing,beside\n"
                                      "w,A10G,20,100,,\nv,A10G,10,10,,\n"
                                      "w,A10G,21,,mps,v\nv,A10G,60,,mps,w\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = {(row["workload"], row["setting"]): row for row in rows}
        self.assertEqual(found["w", "beside v"]["study"], "measurements-pairs-mps")
        self.assertGreater(float(found["v", "beside w"]["predicted"]), 10)
        self.assertNotIn("note", result.stderr)

    def test_what_nothing_is_held_against_is_named(self):
        result, _ = self.validated("workload,gpu,latency_ms,sharing,clients,beside\n"
                                   "w,A10G,20,,,\nw,A10G,30,mps,2,\nw,A10G,50,mps,4,\n"
                                   "w,A10G,21,mps,1,v\nu,A10G,9,mps,1,w\nw,A10G,33,mps,1,u\n")
        self.assertIn("nothing is held against w beside v", result.stderr)
        self.assertIn("no row has v beside w", result.stderr)
        self.assertIn("u with batch 1 was not measured alone", result.stderr)

    def test_known_shares_count_in_turns(self):
        result, rows = self.validated("workload,gpu,latency_ms,sharing,clients,gpu_util_percent,sm_active_percent\n"
                                      "w,A10G,20,,,50,20\nw,A10G,24,time-slicing,2,,\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual({row["study"] for row in rows if "2 processes" in row["setting"]},
                         {"measurements-requests"})


class Measurements(unittest.TestCase):
    """Of the user's own file all ways of sharing are held against, and what cannot be is said."""

    def validated(self, *rows):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "mine.csv"
            file.write_text("workload,gpu,slice,sharing,clients,batch,latency_ms\n"
                            + "".join(f"w,NVIDIA A100-SXM4-40GB,{row}\n" for row in rows), encoding="utf-8")
            result = run("validate", "measurements", "--measurements", str(file))
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            return result.stdout

    def test_turns_are_checked_and_a_study_without_rows_to_check_says_so(self):
        text = self.validated("full,alone,1,1,6.0", "full,time-slicing,2,1,12.3", "full,time-slicing,4,1,24.9",
                              "1g.5gb,alone,1,1,18.3")
        self.assertRegex(text, r"measurements +MIG\+MPS +2 .*nothing to check")
        self.assertRegex(text, r"measurements-turns +time-slicing +1 .* 2 .*ok")
        self.assertIn("1 of 1 studies within their bounds", text)
        self.assertIn("Nothing to check: measurements.", text)
        self.assertNotIn("Worst row: :", text)

    def test_what_is_off_by_a_third_is_not_ok(self):
        text = self.validated("full,alone,1,1,6.0", "full,mps,2,1,6.6", "full,mps,4,1,18")
        self.assertRegex(text, r"measurements +MIG\+MPS .*above target")


class Charts(unittest.TestCase):
    def test_out_writes_a_page_and_one_chart_per_study(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "new" / "charts"
            self.assertEqual(run("validate", "nos", "gavel-k80", "--out", str(out)).returncode, 0)
            names = {path.name for path in out.iterdir()}
            self.assertEqual(names, {"validation.svg", "validation-nos-mps.svg",
                                     "validation-nos-turns.svg", "validation-nos-turns-warm.svg",
                                     "validation-gavel-k80.svg", "validation-gavel-k80-beside-one.svg",
                                     "validation-gavel-k80-fitted.svg"})
            for path in out.iterdir():
                root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
                self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            page = (out / "validation.svg").read_bytes()
            run("validate", "nos", "gavel-k80", "--out", str(out))
            self.assertEqual((out / "validation.svg").read_bytes(), page)

    def test_a_folder_that_cannot_be_made_is_a_file_error(self):
        with tempfile.NamedTemporaryFile() as file:
            result = run("validate", "nos-mps", "--out", file.name + "/charts")
            self.assertEqual((result.returncode, result.stdout), (5, ""))


    def test_a_folder_stays_the_one_it_is(self):
        for stands_there in (True, False):
            with self.subTest(stands_there=stands_there), tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder, "charts")
                out.mkdir()
                for content in ("", "mine"):
                    if content:
                        (out / "mine.txt").write_text(content, "utf-8")
                    out.chmod(0o2700)
                    before = out.stat()
                    result = run("validate", "nos", "--out", str(out), cwd=out if stands_there else folder)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    after = out.stat()
                    self.assertEqual((after.st_mode, after.st_uid, after.st_gid),
                                     (before.st_mode, before.st_uid, before.st_gid))
                    if stands_there:
                        self.assertEqual(after.st_ino, before.st_ino)
                self.assertEqual((out / "mine.txt").read_text("utf-8"), "mine")


class Measurements(unittest.TestCase):
    OWN = "scenarios/examples/own/measurements.csv"

    def test_measurements_of_ones_own_are_one_more_source(self):
        result = run("validate", "measurements", "measurements-turns", "--measurements", self.OWN,
                     "-o", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        studies = {study["name"]: study for study in json.loads(result.stdout)["studies"]}
        law, turns = studies["measurements"], studies["measurements-turns"]
        self.assertEqual((law["fit"]["rows"], law["check"]["rows"]), (3, 2))
        self.assertEqual((turns["fit"]["rows"], turns["check"]["rows"]), (1, 2))
        self.assertLess(law["check"]["meanErrorPercent"], 5)
        self.assertLess(turns["check"]["meanErrorPercent"], 12)
        self.assertGreater(law["naive"]["evenSharePercent"], 50)

    def test_mistakes_show_their_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.csv"
            path.write_text("workload,gpu,latency_ms\na,T4,-1\n", encoding="utf-8")
            result = run("validate", "--measurements", str(path))
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertIn("mine.csv:2:6: error[VALUE_RANGE]", result.stderr)


class Pairs(unittest.TestCase):
    def validate(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "pairs.csv"
            path.write_text(text, encoding="utf-8")
            return run("validate", "pairs", "--pairs", str(path), *arguments)

    def test_pairs_are_one_more_source(self):
        rows = "a,b,1,1,20,20\n" * 2 + "c,d,0.6,0.6,100,100\n" * 2
        result = self.validate(HEADER + rows, "-o", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        studies = json.loads(result.stdout)["studies"]
        self.assertEqual([study["name"] for study in studies],
                         ["pairs-utilisation", "pairs-refitted", "pairs-serial"])
        self.assertEqual(studies[0]["check"]["rows"], 8)
        self.assertEqual(studies[0]["fit"]["rows"], 0)

    def test_predictions_above_the_bound_exit_with_99(self):
        result = self.validate(HEADER + "a,b,0.2,0.2,10,10\n" * 4)
        self.assertEqual(result.returncode, 99)
        self.assertIn("pairs-utilisation", result.stderr)
        self.assertIn("ABOVE BOUND", result.stdout)

    def test_switching_costs_what_it_costs_on_the_gpu_given(self):
        rows = HEADER + "a,b,0.5,0.5,100,100\n" * 2
        def predicted(gpu):
            text = self.validate(rows, "--pairs-gpu", gpu, "-o", "csv").stdout
            return float(next(csv.DictReader(io.StringIO(text)))["predicted"])
        self.assertGreater(predicted("H200"), predicted("L4"))
        result = self.validate(rows, "--pairs-gpu", "H2000")
        self.assertEqual(result.returncode, 2)
        self.assertIn("H200", result.stderr)

    def test_mistakes_in_the_file_are_named_with_their_place(self):
        result = self.validate(HEADER + "a,b,fast,1,20,20\n")
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("pairs.csv:2:5: error[FIELD_TYPE]", result.stderr)
        self.assertEqual(run("validate", "--pairs", "/does/not/exist").returncode, 5)

    def test_the_gpu_of_no_pairs_is_a_usage_error(self):
        self.assertEqual(run("validate", "--pairs-gpu", "T4").returncode, 2)
        self.assertEqual(run("validate", "pairs").returncode, 2)


class Profile(unittest.TestCase):
    NAME = "gnn-training/a100-40gb/b256"

    def test_every_figure_has_its_provenance(self):
        result = run("explain", "profile", self.NAME)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for line in ("median measured step", "fitted over MIG profiles", "socc22-miso",
                     "Assumed: not published", "1g.5gb", "COPIES"):
            self.assertIn(line, result.stdout)

    def test_what_is_carried_over_to_other_gpus_is_assumed(self):
        other = run("explain", "profile", self.NAME).stdout.split("on other GPUs")[1]
        rows = [line for line in other.splitlines() if line.startswith(("T4 ", "A10G ", "H100-"))]
        self.assertEqual(len(rows), 3)
        for row in rows:
            self.assertTrue(row.endswith("Assumed"), row)

    def test_names_are_needed_and_known(self):
        result = run("explain", "profile", "gnn-training/a100-40gb/b25")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean gnn-training/a100-40gb/b256?", result.stderr)
        self.assertIn("slicewise get profiles", run("explain", "profile").stdout)
        self.assertEqual(run("explain", "sharing", "x").returncode, 2)

    def test_every_profile_can_be_explained(self):
        for name in run("get", "profiles", "-o", "name").stdout.split():
            with self.subTest(profile=name):
                self.assertEqual(run("explain", "profile", name).returncode, 0)


if __name__ == "__main__":
    unittest.main()
