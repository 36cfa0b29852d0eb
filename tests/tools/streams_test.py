"""Data goes to standard output, everything else to standard error; files appear whole."""

import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import yaml

from program import BINARY, EXAMPLE, PODS_LOST, ROOT, environment, interrupt_at_work, run, thorough

RUN = ("run", "-f", EXAMPLE, "--replications", "2")


class Formats(unittest.TestCase):
    def test_json_is_json_with_version_and_sorted_keys(self):
        document = json.loads(run(*RUN, "-o", "json").stdout)
        self.assertEqual(document["apiVersion"], "slicewise.dev/result.v1alpha1")
        self.assertEqual(list(document["metadata"]), sorted(document["metadata"]))

    def test_yaml_says_the_same_as_json(self):
        self.assertEqual(yaml.safe_load(run(*RUN, "-o", "yaml").stdout),
                         json.loads(run(*RUN, "-o", "json").stdout))

    def test_csv_has_one_width(self):
        rows = list(csv.reader(io.StringIO(run(*RUN, "-o", "csv").stdout)))
        self.assertGreater(len(rows), 1)
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})

    @thorough
    def test_every_listing_has_every_format(self):
        for listing in ("instances", "gpus", "mig-profiles", "profiles", "prices"):
            for form in ("table", "wide", "json", "yaml", "csv", "name"):
                with self.subTest(listing=listing, format=form):
                    result = run("get", listing, "-o", form)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.assertTrue(result.stdout.endswith("\n"))
                    if form == "json":
                        json.loads(result.stdout)
                    if form == "yaml":
                        yaml.safe_load(result.stdout)

    def test_mig_profiles_take_the_gpu_as_a_flag_too(self):
        self.assertEqual(run("get", "mig-profiles", "--gpu", "A100-SXM4-40GB").stdout,
                         run("get", "mig-profiles", "A100-SXM4-40GB").stdout)

    def test_schemas_are_json(self):
        for kind in ("scenario", "result", "comparison"):
            self.assertIn("$schema", json.loads(run("schema", kind).stdout))


class Streams(unittest.TestCase):
    def test_a_scenario_comes_from_standard_input(self):
        text = (ROOT / EXAMPLE).read_text(encoding="utf-8")
        from_input = run("run", "-f", "-", "--replications", "2", "-o", "json", stdin=text)
        self.assertEqual(from_input.returncode, PODS_LOST, from_input.stderr)
        document = json.loads(from_input.stdout)
        self.assertEqual(document["metadata"].pop("scenarioFile"), "-")
        metadata = json.loads(run(*RUN, "-o", "json").stdout)["metadata"]
        del metadata["scenarioFile"]
        self.assertEqual(document["metadata"], metadata)

    def test_quiet_leaves_standard_error_empty(self):
        result = run(*RUN, "-o", "json", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (PODS_LOST, ""))

    def test_warnings_of_a_json_run_go_to_standard_error(self):
        result = run(*RUN, "-o", "json")
        self.assertIn("warning[", result.stderr)
        self.assertNotIn("\x1b", result.stderr)

    def test_no_progress_without_a_terminal(self):
        self.assertNotIn("replications", run(*RUN, "-o", "csv", "-q").stderr)

    def test_a_full_disk_is_exit_5(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([BINARY, "get", "gpus"], stdout=full, env=environment(),
                                    stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, 5)
        self.assertIn("cannot write", result.stderr)

    def test_a_closed_standard_output_is_exit_5(self):
        result = subprocess.run(["bash", "-c", f"{BINARY} get gpus >&-"], env=environment(),
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 5, result.stderr)

    def test_a_reader_that_leaves_ends_the_program_quietly(self):
        command = f"{BINARY} get instances -o json | head -c 1; exit ${{PIPESTATUS[0]}}"
        result = subprocess.run(["bash", "-c", command], env=environment(), capture_output=True,
                                text=True, check=False)
        self.assertIn(result.returncode, (0, 141), result.stderr)
        self.assertEqual(result.stderr, "")


class OutputFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "result.json"

    def test_the_file_holds_what_standard_output_would(self):
        result = run(*RUN, "-o", "json", "--out", str(self.path))
        self.assertEqual((result.returncode, result.stdout), (PODS_LOST, ""))
        self.assertEqual(self.path.read_text(encoding="utf-8"), run(*RUN, "-o", "json").stdout)
        self.assertEqual(os.listdir(self.folder.name), ["result.json"])

    def test_a_failed_run_leaves_an_older_file_alone(self):
        self.path.write_text("older", encoding="utf-8")
        self.assertEqual(run("run", "-f", "-", "--out", str(self.path), stdin="{}").returncode, 3)
        self.assertEqual(self.path.read_text(encoding="utf-8"), "older")

    def test_a_folder_that_is_not_there_is_exit_5(self):
        result = run(*RUN, "--out", str(self.path.parent / "none" / "result.json"))
        self.assertEqual(result.returncode, 5)

    def test_a_device_is_written_in_place(self):
        self.assertEqual(run(*RUN, "--out", "/dev/null").returncode, PODS_LOST)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())


class Interrupt(unittest.TestCase):
    def interrupted(self, *command, number=signal.SIGINT):
        """The document that a long command writes when it is interrupted after a second."""
        process = subprocess.Popen(
            [BINARY, *command, "--replications", "100000", "--jobs", "1", "-o", "json"],
            cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        interrupt_at_work(process, 0.5, number)
        output, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted", errors)
        document = json.loads(output)
        self.assertIs(document["metadata"]["interrupted"], True)
        return document

    def test_ctrl_c_writes_the_partial_result_and_is_130(self):
        document = self.interrupted("run", "-f", EXAMPLE)
        self.assertEqual(document["metadata"]["replications"], 100000)
        for variant in document["variants"]:
            self.assertLess(variant["replications"], 100000)

    def test_a_job_whose_deadline_has_come_says_what_it_has(self):
        self.interrupted("run", "-f", EXAMPLE, number=signal.SIGTERM)

    def test_so_do_the_commands_that_search(self):
        shared = ("-f", "scenarios/examples/shared-inference.yaml", "--variant")
        self.interrupted("compare", "-f", EXAMPLE)
        self.interrupted("max-load", *shared, "alone")
        self.interrupted("neighbours", *shared, "shared")
        self.interrupted("sensitivity", *shared, "shared")


if __name__ == "__main__":
    unittest.main()
