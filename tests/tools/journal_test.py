"""--journal of the studies that plan_test.py does not look at: one that was killed goes on, to the same bytes."""

import pathlib
import tempfile
import unittest

from program import main, run

FAST = ("-f", "scenarios/examples/shared-inference.yaml", "--set", "duration=2m")
TWICE = (*FAST, "--replications", "2")
STUDIES = {
    "run": ("run", *FAST, "--replications", "3"),
    "replay": ("replay", "-f", "scenarios/examples/logs/team-trace.csv", "--nodes", "3x8", "--queue", "fifo,easy,srtf",
               "--placement", "best-fit,first-fit"),
    "inflation": ("replay", "-f", "scenarios/examples/logs/team-trace.csv", "--nodes", "3x8", "--inflate", "130%",
                  "--replications", "5"),
    "compare": ("compare", *TWICE, "--variant", "shared", "--instances", "g4dn.xlarge"),
    "max-load": ("max-load", *TWICE, "--variant", "shared", "--precision", "20%"),
    "neighbours": ("neighbours", *TWICE, "--variant", "shared"),
    "sensitivity": ("sensitivity", *TWICE, "--variant", "shared", "--vary", "traffic", "--break-evens", "1"),
}


class StudyJournal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal = pathlib.Path(folder.name, "journal")
        self.kept = ("-o", "json", "--journal", str(self.journal))

    def test_one_that_was_killed_goes_on_to_the_same_bytes(self):
        for name, study in STUDIES.items():
            with self.subTest(name):
                self.journal.unlink(missing_ok=True)
                plain = run(*study, "-o", "json")
                whole = run(*study, *self.kept)
                self.assertEqual((whole.stdout, whole.returncode), (plain.stdout, plain.returncode), whole.stderr)
                self.assertNotIn("simulations were in", whole.stderr)
                lines = self.journal.read_bytes().splitlines(keepends=True)
                self.assertGreater(len(lines), 4)
                # As a killed run leaves it: some of the lines, in the order of its threads, the last one cut.
                half = lines[:1] + lines[:len(lines) // 2:-1]
                self.journal.write_bytes(b"".join(half) + lines[1][:-1])
                resumed = run(*study, *self.kept, "-j", "1")
                self.assertEqual((resumed.stdout, resumed.returncode), (plain.stdout, plain.returncode), resumed.stderr)
                self.assertIn(f"note: {len(half) - 1} simulations were in", resumed.stderr)
                again = self.journal.read_bytes().splitlines(keepends=True)
                self.assertEqual(sorted(again), sorted(lines))

    def test_what_is_known_is_not_simulated_again(self):
        """A line put in place of another shows: nothing was simulated."""
        study = STUDIES["compare"]
        plain = run(*study, *self.kept)
        first, *lines = self.journal.read_text().splitlines()
        tasks = sorted(([int(line.split()[0]), int(line.split()[1]), line.split()[2]] for line in lines))
        # Two replications of each option: the first of one, and that of another one.
        tasks[0][2], tasks[2][2] = tasks[2][2], tasks[0][2]
        lines = [first, *(f"{step} {task} {found}" for step, task, found in tasks)]
        self.journal.write_text("".join(f"{line}\n" for line in lines))
        self.assertNotEqual(run(*study, *self.kept).stdout, plain.stdout)

    def test_a_replay_of_other_nodes_or_another_trace_is_refused(self):
        nodes = self.journal.with_name("nodes.csv")
        nodes.write_text("name,cpu_milli,memory_mib,gpu,model\na,64000,262144,8,A100\nb,64000,262144,8,A100\n")
        study = ("replay", "-f", "scenarios/examples/logs/team-trace.csv", "--nodes", str(nodes), "--any-gpu", *self.kept)
        self.assertIn(run(*study).returncode, (0, 6))
        nodes.write_text(nodes.read_text().replace(",8,", ",4,"))
        refused = run(*study)
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn("PLAN_STALE", refused.stderr)

    def test_another_question_is_refused(self):
        study = STUDIES["compare"]
        self.assertEqual(run(*study, *self.kept).returncode, run(*study).returncode)
        before = self.journal.read_bytes()
        for change in (("--seed", "7"), ("--nodes", "2"), ("--set", "duration=3m")):
            refused = run(*study, *change, *self.kept)
            self.assertEqual(refused.returncode, 3, refused.stderr)
            self.assertIn("PLAN_STALE", refused.stderr)
        self.assertEqual(self.journal.read_bytes(), before)
        damaged = before.splitlines(keepends=True)
        damaged[2] = b"0 1 xyz\n"
        self.journal.write_bytes(b"".join(damaged))
        self.assertIn(f"{self.journal}:3:1: error[PLAN_STALE]", run(*study, *self.kept).stderr)


if __name__ == "__main__":
    main()
