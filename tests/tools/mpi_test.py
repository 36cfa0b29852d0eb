"""slicewise-mpi: what one process says, by many; a plan killed, and resumed."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from catalogue_test import MEASURED, OWN, SCENARIO
from plan_test import FAST, SHARED, WITH_RISK
from program import BINARY, ROOT, TIMEOUT_S, environment, main, run, skip_without

MPI = pathlib.Path(BINARY).with_name("slicewise-mpi")


def mpirun(ranks, *arguments):
    return ["mpirun", "-n", str(ranks), "--oversubscribe", str(MPI), *arguments]


# A rank that ends with a code of its own is given no seconds to end.
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_odls_base_sigkill_timeout": "0"}


TEAM = "scenarios/examples/logs/team-trace.csv"
# Of each verb what simulates in another way: variants, worlds that come one after the other, drawn inputs, queues,
# sharing, seeds.
STUDIES = {
    "run": ("run", "-f", SHARED, "--set", "duration=3m", "--replications", "5"),
    "run of jobs that fail": ("run", "-f", "scenarios/examples/aws-cifar10.yaml"),
    "run of language models": ("run", "-f", "scenarios/examples/chat-llm.yaml", "--replications", "2"),
    "run of notebooks and nodes": ("run", "-f", "scenarios/examples/karpenter-thrash.yaml", "--replications", "3"),
    "sweep": ("run", "-f", "scenarios/examples/replica-sweep.yaml", "--replications", "2"),
    "compare": ("compare", "-f", SHARED, "--instances", "g4dn.xlarge,p4d.24xlarge", "--set", "duration=3m",
                "--replications", "2"),
    "sensitivity": ("sensitivity", "-f", SHARED, "--variant", "shared", "--set", "duration=3m", "--replications", "2",
                    "--vary", "traffic", "--vary", "switchCost", "--break-evens", "1"),
    "neighbours": ("neighbours", "-f", SHARED, "--variant", "shared", "--replications", "2", "--set", "duration=2m"),
    "max-load of parts": ("max-load", "-f", SHARED, "--replications", "2", "--set", "duration=2m", "--precision", "10%"),
    "max-load of a whole": ("max-load", "-f", "scenarios/examples/chat-llm.yaml", "--replications", "2", "--set", "duration=20s",
                            "--set", "warmup=0s", "--precision", "50%"),
    "queues": ("replay", "-f", TEAM, "--instances", "p3.16xlarge=3", "--queue", "fifo,easy,srtf", "--group-by", "user"),
    "sharing": ("replay", "-f", TEAM, "--instances", "p4d.24xlarge=2", "--sharing", "exclusive,mps:4,time-slicing:2"),
    "inflation": ("replay", "-f", TEAM, "--nodes", "20x8", "--inflate", "60", "--placement", "best-fit,fgd",
                  "--replications", "3"),
}


class Ranks(unittest.TestCase):
    def test_it_says_what_it_is(self):
        for words in (["--version"], ["version"]):
            said = self.mpi(2, *words)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(said.stdout, run(*words).stdout)

    def setUp(self):
        if not MPI.exists() or shutil.which("mpirun") is None:
            skip_without("slicewise-mpi (libopenmpi-dev, libboost-mpi-dev, openmpi-bin)")

    def mpi(self, ranks, *arguments):
        return subprocess.run(mpirun(ranks, *arguments), cwd=ROOT, text=True, capture_output=True,
                              env=environment(**MPI_ENVIRONMENT), timeout=TIMEOUT_S, check=False)

    def test_any_number_of_ranks_writes_the_same_bytes(self):
        alone = run(*FAST, "-o", "json").stdout
        for ranks in (1, 2, 4):
            self.assertEqual(self.mpi(ranks, *FAST, "-o", "json", "-q").stdout, alone, ranks)

    def test_each_verb_writes_the_same_bytes_with_any_number_of_ranks(self):
        for name, arguments in STUDIES.items():
            with self.subTest(name):
                alone = run(*arguments, "-o", "json", "-q")
                self.assertIn(alone.returncode, (0, 4, 6, 99), alone.stderr)
                for ranks in (1, 2, 3) if name == "run" else (2, 3):
                    together = self.mpi(ranks, *arguments, "-o", "json", "-q", "-j", "1")
                    self.assertEqual(together.stdout, alone.stdout, ranks)
                    self.assertEqual(together.returncode, alone.returncode, together.stderr)
                    # mpirun has a word of its own for what ends with another code than 0.
                    self.assertEqual(together.stderr.count(alone.stderr) if alone.stderr else 1, 1, together.stderr)

    def test_drawn_inputs_are_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario, profiles = pathlib.Path(folder, "rack.yaml"), pathlib.Path(folder, "profiles.yaml")
            scenario.write_text(SCENARIO, encoding="utf-8")
            run("calibrate", MEASURED, "--out", str(profiles))
            arguments = ("run", str(scenario), "--catalogue", OWN, "--catalogue", str(profiles), "--inputs", "sampled",
                         "-o", "json")
            alone = run(*arguments)
            self.assertEqual(alone.returncode, 0, alone.stderr)
            self.assertEqual(self.mpi(3, *arguments).stdout, alone.stdout)

    def test_a_file_is_written_and_a_report_printed_once(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "result.json")
            done = self.mpi(3, "run", "-f", SHARED, "-o", "json", "--out", str(out))
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertEqual(out.read_text(), run("run", "-f", SHARED, "-o", "json").stdout)
        table = self.mpi(3, "run", "-f", SHARED, "--color", "never")
        self.assertEqual(table.stdout, run("run", "-f", SHARED).stdout)

    def test_ranks_that_read_different_files_end(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(ROOT, SHARED).read_text(encoding="utf-8")
            for rank in (0, 1):
                pathlib.Path(folder, f"{rank}.yaml").write_text(scenario + f"# {rank}\n", encoding="utf-8")
            # Each rank has a file of its own.
            script = f'ln -sf {folder}/$OMPI_COMM_WORLD_RANK.yaml {folder}/$OMPI_COMM_WORLD_RANK-x.yaml; ' \
                     f'exec {MPI} run -f {folder}/$OMPI_COMM_WORLD_RANK-x.yaml'
            refused = subprocess.run(["mpirun", "-n", "2", "--oversubscribe", "sh", "-c", script], cwd=ROOT, text=True,
                                     capture_output=True, env=environment(**MPI_ENVIRONMENT), timeout=TIMEOUT_S,
                                     check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("the ranks read different files", refused.stderr)
            self.assertEqual(refused.stdout, "")

    def test_mistakes_are_said_once_and_end_all_ranks(self):
        for arguments, words in ((("check", SHARED), "knows the verbs plan, run"),
                                 (("run", "-f", "-"), "standard input reaches one rank only"),
                                 (("run", "-f", "/no/such/file"), "FILE_UNREADABLE"),
                                 (("neighbours", "-f", SHARED, "--journal", "/no/such/file"), "keep one of a plan only"),
                                 (("run", "-f", SHARED, "--variant", "nobody"), "nobody"),
                                 (("plan", "-f", "/no/such/file"), "FILE_UNREADABLE"),
                                 ((*WITH_RISK, "--no-such-flag"), "--no-such-flag")):
            refused = self.mpi(3, *arguments)
            self.assertNotEqual(refused.returncode, 0)
            self.assertEqual(refused.stderr.count(words), 1, refused.stderr)

    def test_a_run_whose_rank_is_killed_resumes(self):
        """Kills one of the ranks that simulate, and finds every simulation that had ended."""
        alone = run(*FAST, "-o", "json").stdout
        with tempfile.TemporaryDirectory() as folder:
            journal = pathlib.Path(folder) / "journal"
            arguments = (*FAST, "-o", "json", "--journal", str(journal))
            process = subprocess.Popen(mpirun(3, *arguments), cwd=ROOT, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env=environment(**MPI_ENVIRONMENT))
            self.wait_for_lines(journal, 6, process)
            os.kill(self.rank_of(process.pid, 2), signal.SIGKILL)
            output, _ = process.communicate(timeout=TIMEOUT_S)
            self.assertNotEqual(process.returncode, 0)
            self.assertEqual(output, "")
            done = journal.read_bytes().splitlines(keepends=True)
            if not done[-1].endswith(b"\n"):
                done.pop()
            resumed = self.mpi(3, *arguments)
            self.assertEqual(resumed.stdout, alone)
            self.assertIn(f"note: {len(done) - 1} simulations were in", resumed.stderr)
            after = journal.read_bytes().splitlines(keepends=True)
            self.assertEqual(after[:len(done)], done)
            self.assertEqual(len(set(after)), len(after))
            self.assertGreater(len(after), len(done))

    def wait_for_lines(self, journal, count, process):
        while process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") >= count:
                return
            time.sleep(0.002)
        self.fail("the run ended before it could be killed")

    def rank_of(self, parent, rank):
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and f"OMPI_COMM_WORLD_RANK={rank}\0" in (
                        entry / "environ").read_text() and f"\nPPid:\t{parent}\n" in (
                            entry / "status").read_text():
                    return int(entry.name)
            except OSError:
                continue
        self.fail(f"no rank {rank} below {parent}")
        return None


if __name__ == "__main__":
    main()
