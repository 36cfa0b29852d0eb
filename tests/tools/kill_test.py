"""Whenever a verb is killed, what it writes is there as a whole or not at all, and the next run cleans up."""

import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from program import BINARY, EXAMPLE, ROOT, TIMEOUT_S, apply_bundle, environment, main, run, skip_without

NIGHTLY = os.environ.get("SLICEWISE_NIGHTLY") == "1"
MOMENTS = 1_000 if NIGHTLY else 5  # at which a verb is killed; of fewer all: a verb has 10 to 200
CALLS = "%file,%desc"  # the system calls that leave something behind
TRACE = "scenarios/examples/logs/team-trace.csv"
LIGHT, RESULT = "scenarios/examples/shared-inference.yaml", "tests/reports/golden/platform.json"
ONE = ("-f", EXAMPLE, "--variant", "after")
PLAN = ("plan", *ONE, "--replications", "1", "--instances", "g4dn.xlarge", "--strategies", "timeSlicing",
        "--max-nodes", "8", "--no-headroom", "--no-flips", "--jobs", "1", "-q", "-o", "json")
REPLAY = ("replay", "-f", TRACE, "--gpus", "16", "-o", "json")
VERBS = {  # OUT is where it writes
    "run": ("run", *ONE, "-q", "--replications", "1", "--jobs", "1", "-o", "json", "--out", "OUT"),
    "bundle": ("export", *ONE, "--to", "bundle", "--out", "OUT"),
    "charts": ("validate", "nos", "--out", "OUT"),
}
if NIGHTLY:
    VERBS |= {
        "junit": ("run", *ONE, "-q", "--replications", "1", "--jobs", "1", "--out", "/dev/null", "--junit", "OUT"),
        "compare": ("compare", *ONE, "-q", "--replications", "1", "--jobs", "1", "-o", "json", "--instances",
                    "g5.xlarge", "--out", "OUT"),
        "configmap": ("export", *ONE, "--to", "configmap", "--out", "OUT"),
        "page": ("report", *ONE, "--replications", "1", "--jobs", "1", "-o", "html=OUT"),
        "svgs": ("report", *ONE, "--replications", "1", "--jobs", "1", "-o", "svg=OUT/"),
        "replay": (*REPLAY, "--out", "OUT"),
        "job times": (*REPLAY, "--out", "/dev/null", "--job-times", "OUT"),
        "init": ("init", "--template", "batch-jobs", "--out", "OUT"),
        "import": ("import", "jobs", "-f", TRACE, "--out", "OUT"),
        "max-load": ("max-load", "-f", LIGHT, "-q", "--jobs", "1", "-o", "json", "--out", "OUT"),
        "neighbours": ("neighbours", "-f", LIGHT, "--variant", "shared", "-q", "--replications", "1", "--jobs", "1",
                       "--out", "OUT"),
        "diff": ("diff", RESULT, RESULT, "--out", "OUT"),
        "profiles": ("calibrate", "scenarios/examples/own/measurements.csv", "--out", "OUT"),
        "bug report": ("bugreport", "-f", EXAMPLE, "-o", "OUT"),
        "binary trace": ("import", "jobs", "-f", TRACE, "-o", "binary", "--out", "OUT"),
        "timelines": ("export", *ONE, "--to", "csv", "--out", "OUT"),
        "check": ("check", "tests/export/plugin_configs/accepted/mps.yaml", "--out", "OUT"),
    }


def setUpModule():
    if subprocess.run(["bash", "-c", "command -v strace"], capture_output=True, check=False).returncode != 0:
        skip_without("strace")


def traced(arguments, *options, cwd=ROOT):
    """How it ended, and the lines of strace without the numbers of processes."""
    with tempfile.NamedTemporaryFile("r", errors="replace") as trace:
        done = subprocess.run(["strace", "-f", "-o", trace.name, "-e", f"trace={CALLS}", *options, BINARY, *arguments],
                              cwd=cwd, env=environment(), capture_output=True, timeout=TIMEOUT_S, check=False)
        return done.returncode, [line.split(" ", 1)[1].strip() for line in trace if "(" in line]


def moments(arguments, seed, cwd=ROOT, since=r"O_CREAT|^mkdir|^rename|^unlink"):
    """The system calls from the first one on that changes a file: name, and which of that name."""
    _, lines = traced(arguments, cwd=cwd)
    seen, calls, begun = collections.Counter(), [], False
    for line in lines:
        name = line.split("(", 1)[0]
        seen[name] += 1
        begun = begun or re.search(since, line)
        if begun:
            calls.append((name, seen[name]))
    return calls if len(calls) <= MOMENTS else random.Random(seed).sample(calls, MOMENTS)


def kill_at(call, arguments, cwd=ROOT):
    status, _ = traced(arguments, "-e", f"inject={call[0]}:signal=KILL:when={call[1]}", cwd=cwd)
    if status != -signal.SIGKILL:
        raise AssertionError(f"not killed: {status}")


def content(path):
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    return path.read_bytes() if path.exists() else None


def put(path, wanted):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if isinstance(wanted, dict):
        path.mkdir()
        for name, data in wanted.items():
            (path / name).write_bytes(data)
    elif wanted is not None:
        path.write_bytes(wanted)


class Killed(unittest.TestCase):
    def check_verb(self, name, command):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out")
            arguments = [word.replace("OUT", str(out)) for word in command]
            run(*arguments)
            whole = content(out)
            self.assertTrue(whole, name)
            older = None
            if name == "charts":  # a folder that is there, with a file of somebody else
                older = {**whole, "validation.svg": b"older", "mine.txt": b"mine"}
                whole = {**whole, "mine.txt": b"mine"}
            elif name not in ("bundle", "svgs", "timelines", "init"):
                older = b"older"
            put(out, older)
            for call in moments(arguments, name):
                with self.subTest(verb=name, call=call):
                    put(out, older)
                    kill_at(call, arguments)
                    self.assertIn(content(out), (older, whole))
                    if content(out) == whole:
                        put(out, older)
                    run(*arguments)
                    self.assertEqual(content(out), whole)
                    self.assertEqual(os.listdir(folder), ["out"])

    def test_each_verb_writes_all_or_nothing(self):
        for name, command in VERBS.items():
            self.check_verb(name, command)

    def test_a_bundle_written_file_by_file_is_applied_as_a_whole_only(self):
        arguments = ("export", "-f", str(ROOT / EXAMPLE), "--variant", "after", "--to", "bundle", "--out", ".")
        with tempfile.TemporaryDirectory() as folder:
            calls = moments(arguments, "in place", folder, since=r"rename.*apply\.sh")
            whole = content(pathlib.Path(folder))
        ends = set()
        for call in calls:
            with self.subTest(call=call), tempfile.TemporaryDirectory() as folder:
                kill_at(call, arguments, folder)
                is_whole = whole.items() <= content(pathlib.Path(folder)).items()
                applied = apply_bundle(pathlib.Path(folder))
                self.assertEqual(applied.returncode == 0, is_whole, applied.stderr)
                ends.add(is_whole)
        self.assertIn(False, ends)

    def test_a_plan_goes_on_from_its_journal_to_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            journal, out = pathlib.Path(folder, "journal"), pathlib.Path(folder, "plan.json")
            arguments = (*PLAN, "--journal", str(journal), "--out", str(out))
            run(*PLAN, "--out", str(out))
            whole = out.read_bytes()
            out.unlink()
            for call in moments(arguments, "plan"):
                with self.subTest(call=call):
                    out.unlink(missing_ok=True)
                    journal.unlink(missing_ok=True)
                    kill_at(call, arguments)
                    result = run(*arguments)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertEqual(out.read_bytes(), whole)
                    self.assertEqual(sorted(os.listdir(folder)), ["journal", "plan.json"])


if __name__ == "__main__":
    main()
