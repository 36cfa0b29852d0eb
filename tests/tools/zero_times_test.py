"""No time of a scenario is so short that a run never ends: zero and one nanosecond in the place of each."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SLICEWISE_SOURCE_DIR"])
BINARY = os.environ["SLICEWISE_BINARY"]
EXAMPLES = SOURCE / "scenarios/examples"
TIME = re.compile(r"\b([a-zA-Z0-9]+):\s*(\d[\d.]*(?:ns|us|ms|s|m|h))\b")
KEPT = ("duration", "until", "warmup")  # how long is simulated
ENDS = (0, 3, 4, 6, 99)  # as `slicewise run --help` has them
SECONDS = 120  # such runs take one or two; a cycle of zero time has no end


def first_of_each_key():
    """The first place of each key that is a time, over all examples."""
    seen = set()
    for example in sorted(EXAMPLES.glob("*.yaml")):
        text = example.read_text()
        if "kind: Scenario" not in text:
            continue
        for found in TIME.finditer(text):
            if found.group(1) in seen or found.group(1) in KEPT:
                continue
            seen.add(found.group(1))
            yield example, text, found


class ZeroTimes(unittest.TestCase):
    def test_every_scenario_that_is_accepted_ends(self):
        runs = 0
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)  # traces stand beside them
            for example, text, found in first_of_each_key():
                for time in ("0s", "1ns"):
                    with self.subTest(example=example.name, key=found.group(1), time=time):
                        file = pathlib.Path(folder) / example.name
                        file.write_text(text[:found.start(2)] + time + text[found.end(2):])
                        done = subprocess.run(
                            [BINARY, "run", "-f", file, "--replications", "1", "--progress", "none"],
                            capture_output=True, text=True, check=False, timeout=SECONDS)
                        self.assertIn(done.returncode, ENDS, done.stderr)
                        runs += 1
        self.assertGreater(runs, 30)


if __name__ == "__main__":
    unittest.main()
