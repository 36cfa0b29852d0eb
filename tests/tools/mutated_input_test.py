"""Whatever is read, broken at random: an answer, or mistakes with their places, and nothing that acts on a terminal."""

import os
import pathlib
import random
import re
import resource
import subprocess
import tempfile
import unittest

from program import BINARY, ROOT, TIMEOUT_S, add_parts, environment, main

NIGHTLY = os.environ.get("SLICEWISE_NIGHTLY") == "1"
PARTS = 8
INPUTS = 20_000 if NIGHTLY else 160
CPU_S, MEMORY = 60, 3 << 30
GOLDEN = "tests/reports/golden"
LOGS = "scenarios/examples/logs"
SHORT = ("-q", "--replications", "1", "--jobs", "1")
JOBS = "arrival=submitted:iso,run=run_seconds,limit=limit_seconds,gpus=gpus,id=job,user=user,group=team,state=state"
READERS = [  # FILE is read; files that may stand in for it
    *((("run", "-f", "FILE", *SHORT, "-o", form), "scenarios/examples/*.yaml")
      for form in ("wide", "json", "csv", "md", "junit")),
    (("run", "-f", "FILE", *SHORT), "tests/scenarios/every_field.yaml"),
    (("report", "-f", "FILE", *SHORT, "-o", "html"), "scenarios/examples/*.yaml"),
    (("export", "-f", "FILE", "--to", "configmap"), "scenarios/examples/*.yaml"),
    (("compare", "-f", "FILE", *SHORT, "--instances", "g5.xlarge"), "scenarios/examples/aws-cifar10.yaml"),
    (("bugreport", "-f", "FILE"), "scenarios/examples/*.yaml"),
    (("check", "FILE"), "scenarios/examples/cluster/*"),
    (("check", "FILE"), "tests/export/plugin_configs/*/*.yaml"),
    (("import", "k8s", "-f", "FILE"), "tests/fuzz/seeds/cluster_files_fuzz/*"),
    (("import", "openb", "-f", "FILE"), f"{LOGS}/openb.csv"),
    (("import", "sacct", "-f", "FILE", "-o", "scenario"), f"{LOGS}/sacct.txt"),
    (("import", "jobs", "-f", "FILE", "--columns", JOBS), f"{LOGS}/team-jobs.csv"),
    (("replay", "-f", "FILE", "--gpus", "16", "--queue", "fifo,easy,srtf"), f"{LOGS}/team-trace.csv"),
    (("replay", "-f", "FILE", "--instances", "g5.12xlarge=2", "--sharing", "mps:2", "--group-by", "user"),
     f"{LOGS}/team-trace.csv"),
    *((("diff", *sides, "-o", form), f"{GOLDEN}/{kind}.json")
      for kind in ("platform", "plan", "comparison", "max_load") for form in ("table", "md")
      for sides in ((f"{GOLDEN}/{kind}.json", "FILE"), ("FILE", f"{GOLDEN}/{kind}.json"))),
    (("explain", "FILE"), f"{GOLDEN}/pl*.json"),
    (("calibrate", "-f", "FILE"), "scenarios/examples/own/measurements.csv"),
    (("get", "instances", "--catalogue", "FILE"), "scenarios/examples/own/catalogue.yaml"),
    (("init", "--from", "FILE"), "scenarios/examples/services.csv"),
]
NUMBERS = [text.encode() for text in (
    "0", "-0", "-1", "1", "0.1", "nan", "inf", "-inf", ".nan", "1e309", "1e-320", "1e18", "2147483648",
    "9223372036854775808", "99999999999999999999999", "1Pi", "0s", "1e9/s", "101%", "null", "[]", "{}", "''", "")]
BYTES = [b"\0", b"\x1b[31m", b"\x07", b"\xff\xfe", b"\x80", b"\xe2\x80\xae", b"\xc2\x85", b"\r", b"\t", b"\n", b'"',
         b"'", b",", b"|", b":", b"=1+1", b"&a ", b"*a", b"<script>", "é".encode(), b"\xef\xbb\xbf", b"[", b"}"]
# What a terminal or a reader's eye would act on.
HIDDEN = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def mutated(data, dice):
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        at = dice.randrange(len(data) or 1)
        kind = dice.randrange(6)
        places = list(re.finditer(rb"(?<=[ ,:|\t\[])-?\d[\w.+%/-]*" if kind < 3 else rb"[A-Za-z_]{2,}", data))
        if kind < 4 and places:
            place = dice.choice(places)
            other = dice.choice(NUMBERS) if kind < 3 else dice.choice((dice.choice(places).group(), dice.choice(BYTES)))
            data[place.start():place.end()] = other
        elif kind == 4:
            data[at:at + dice.randrange(30)] = dice.choice(BYTES)
        else:
            begin = dice.randrange(len(data) or 1)
            data[at:at] = data[begin:begin + dice.randrange(100)]
    return bytes(data)


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Mutated(unittest.TestCase):
    def check(self, seed):
        dice = random.Random(seed)
        arguments, pattern = dice.choice(READERS)
        source = dice.choice(sorted(ROOT.glob(pattern)))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, f"mutated{source.suffix}")
            file.write_bytes(mutated(source.read_bytes()[:20_000], dice))
            done = subprocess.run([BINARY, *(str(file) if word == "FILE" else word for word in arguments)], cwd=ROOT,
                                  env=environment(), capture_output=True, timeout=TIMEOUT_S, check=False,
                                  preexec_fn=limited)
        said = done.stderr.decode("utf-8")
        self.assertIn(done.returncode, (0, 1, 2, 3, 4, 5, 6, 99), f"{arguments} of {source}: {said}")
        for text in (said, done.stdout.decode("utf-8")):
            self.assertNotRegex(text, HIDDEN)
        if done.returncode == 3 and arguments[0] != "check":  # whose findings are its output
            of_all = "error: this cannot be packed: "  # by bugreport, with or without mistakes of a place
            if of_all not in said:
                self.assertRegex(said, r"(?m)^\S+:\d+:\d+: error\[", f"{arguments} of {source}")
            self.assertNotRegex(said, f"(?m)^error(?!{of_all[5:]})", f"{arguments} of {source}")


add_parts(Mutated, "part", PARTS, INPUTS, Mutated.check)

if __name__ == "__main__":
    main()
