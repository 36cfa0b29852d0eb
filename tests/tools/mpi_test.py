"""slicewise-mpi: the plan of one process, by many; killed, and resumed."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from plan_test import FAST, QUICK, SHARED
from program import BINARY, ROOT, TIMEOUT_S, environment, main, run, skip_without

MPI = pathlib.Path(BINARY).with_name("slicewise-mpi")


def mpirun(ranks, *arguments):
    return ["mpirun", "-n", str(ranks), "--oversubscribe", str(MPI), *arguments]


MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Ranks(unittest.TestCase):
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

    def test_mistakes_are_said_once_and_end_all_ranks(self):
        for arguments, words in ((("run", "-f", SHARED), "knows one verb"),
                                 (("plan", "-f", "/no/such/file"), "FILE_UNREADABLE"),
                                 ((*QUICK, "--no-such-flag"), "--no-such-flag")):
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
