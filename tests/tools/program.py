"""Runs the program under test as a user's shell would."""

import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = os.environ["SLICEWISE_BINARY"]
SANITIZED = os.environ.get("SLICEWISE_SANITIZED") == "1"
ROOT = pathlib.Path(os.environ["SLICEWISE_SOURCE_DIR"])
EXAMPLE = "scenarios/examples/aws-cifar10.yaml"
PODS_LOST = 6  # the exit code of its run: in one variant, on purpose, most pods die
INFEASIBLE = 4  # in one variant no pod ever runs
TIMEOUT_S = 300


def environment(**extra):
    """Nothing of the machine's own settings but what processes need."""
    kept = {name: value for name, value in os.environ.items()
            if name in {"PATH", "HOME", "TMPDIR"} or name.endswith("SAN_OPTIONS")}
    return {**kept, **extra}


def thorough(test):
    """Seconds under sanitizers, through code that other tests cover there: by day for the release build alone."""
    return None if SANITIZED and os.environ.get("SLICEWISE_THOROUGH") != "1" else test


def main():
    """As unittest.main(), of every Nth test from the Kth where SLICEWISE_TEST_SHARD is K/N; exits 77 when all were skipped."""
    shard, shards = map(int, os.environ.get("SLICEWISE_TEST_SHARD", "0/1").split("/"))

    def cases(suite):
        for test in suite:
            yield from cases(test) if isinstance(test, unittest.TestSuite) else [test]

    everything = list(cases(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])))
    if len(sys.argv) > 1 and not sys.argv[-1].startswith("-"):
        unittest.main(module="__main__")
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(everything[shard::shards]))
    if result.wasSuccessful() and len(result.skipped) >= max(1, result.testsRun):
        sys.exit(77)
    sys.exit(not result.wasSuccessful())


def add_parts(case, name, parts, count, check):
    """Gives a test case `parts` tests, which processes can share, that call check(test, seed) with `count` seeds."""
    def add(part):
        def test(self):
            for seed in range(part, count, parts):
                with self.subTest(seed=seed):
                    check(self, seed)
        setattr(case, f"test_{name}_{part}", test)
    for part in range(parts):
        add(part)


def skip_without(tool):
    """Skips a test, or from setUpModule() all of them, for want of a tool; fails where every tool is to be there (.ci/run)."""
    if os.environ.get("SLICEWISE_REQUIRE_TOOLS") == "1":
        raise AssertionError(f"{tool} is not installed")
    raise unittest.SkipTest(f"{tool} is not installed")


def run(*arguments, stdin="", cwd=ROOT, env=None):
    return subprocess.run([BINARY, *arguments], input=stdin, cwd=cwd, text=True,
                          env=environment(**(env or {})), capture_output=True,
                          timeout=TIMEOUT_S, check=False)


def apply_bundle(folder, *arguments, other_nodes="", absent="nothing", template="", **variables):
    """Runs apply.sh in a real shell; kubectl and helm say how they were called and succeed, but for what asks for
    `absent`. `other_nodes`: what has the name of a pool and another instance type; `template`: the labels of
    each NodePool's template."""
    with tempfile.TemporaryDirectory() as tools:
        for tool in ("kubectl", "helm"):
            path = pathlib.Path(tools, tool)
            path.write_text(f'#!/bin/sh\ncase "$*" in *" -f -"*) cat >/dev/null ;; esac\ncase "$*" in *instance-type!=*) echo "$OTHER_NODES" ;; '
                            f'*notin*|*clusterpolicies*) ;; *"$ABSENT"*) case "$*" in *"get nodes"*) ;; *) exit 1 ;; esac ;; *nodepools*jsonpath*) echo "$TEMPLATE" ;; '
                            f'*) echo {tool} "$@" ;; esac\n', encoding="ascii")
            path.chmod(0o755)
        return subprocess.run(["bash", str(folder / "apply.sh"), *arguments], capture_output=True, text=True,
                              check=False, timeout=TIMEOUT_S,
                              env=environment(PATH=f"{tools}:{os.environ['PATH']}", OTHER_NODES=other_nodes,
                                              ABSENT=absent, TEMPLATE=template, **variables))


def interrupt_at_work(process, after_s, number=signal.SIGINT):
    """Sends a signal some time after the process has begun to listen for it: with sanitizers on a busy
    machine it takes a second to get there, and before that it would just be killed."""
    status = pathlib.Path(f"/proc/{process.pid}/status")
    deadline = time.monotonic() + TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status.read_text("ascii"), re.MULTILINE)
        if caught and int(caught.group(1), 16) >> (signal.SIGINT - 1) & 1:
            break
        time.sleep(0.02)
    time.sleep(after_s)
    process.send_signal(number)


def run_on_terminal(*arguments, terminal="stdout", env=None):
    """Runs with one stream on a pseudo-terminal; returns what was written to that stream."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [BINARY, *arguments], cwd=ROOT, stdin=subprocess.DEVNULL,
        stdout=slave if terminal == "stdout" else subprocess.DEVNULL,
        stderr=slave if terminal == "stderr" else subprocess.DEVNULL,
        env=environment(**{"TERM": "xterm", **(env or {})}))
    os.close(slave)
    output = b""
    while select.select([master], [], [], TIMEOUT_S)[0]:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        output += chunk
    process.wait(timeout=TIMEOUT_S)
    os.close(master)
    return output.decode("utf-8")


class VerbCase(unittest.TestCase):
    """Tests of one verb."""

    verb = ""

    def expect(self, code, message, *arguments, **settings):
        """Runs the verb, which must exit with `code` and say `message` among its mistakes."""
        result = run(self.verb, *arguments, **settings)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(message, result.stderr)
        return result


def check_schema(case, kind, document):
    """Holds a document to the schema that the program prints for its kind."""
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel  # most of what such a process takes to start
    except ImportError:
        skip_without("python3-jsonschema")
    schema = json.loads(run("schema", kind).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    errors = jsonschema.Draft7Validator(schema).iter_errors(document)
    case.assertEqual([error.message for error in errors], [])
