"""The commands of every README work, and print what the README says.

A block marked `console` is a session: lines after "$ " are commands, the rest is their output, in
which a line "..." stands for any lines. A block marked `bash` is a script.
"""

import json
import os
import pathlib
import re
import subprocess
import unittest

from program import BINARY, ROOT, environment, main

# These build and test the project itself, so only their existence is checked.
CHECKED_BY_NAME = re.compile(r"^(tools/[\w/]+|cmake --preset (\S+)|cmake --build --preset (\S+)|"
                             r"ctest --preset (\S+))")
# Programs of a cluster that no test machine has: the line must be shell, nothing more.
NEEDS_A_CLUSTER = re.compile(r"\b(kubectl|helm)\b")


def blocks():
    for readme in [ROOT / "README.md", *sorted(ROOT.glob("*/README.md")), *sorted(ROOT.glob("*/*/README.md"))]:
        if not readme.is_file():
            continue
        text = readme.read_text(encoding="utf-8")
        for kind, body in re.findall(r"^```(console|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            yield readme.relative_to(ROOT), kind, body


def session(body):
    """Pairs of command and expected output lines; a command goes on while lines end in a \\."""
    steps = []
    for line in body.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps and steps[-1][0].endswith("\\"):
            steps[-1] = (f"{steps[-1][0]}\n{line}", [])
        elif steps:
            steps[-1][1].append(line)
    return steps


def matches(expected, actual):
    """Whether `actual` is `expected`, where a line "..." is any number of lines."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n"
                      for line in expected)
    text = "".join(line.rstrip() + "\n" for line in actual)
    return re.fullmatch(pattern, text) is not None


class Readme(unittest.TestCase):
    def shell(self, command, *flags):
        path = f"{pathlib.Path(BINARY).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(["bash", "-e", *flags, "-c", command], cwd=ROOT, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              env=environment(PATH=path, LANG="C.UTF-8", OMPI_ALLOW_RUN_AS_ROOT="1",
                                              OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))

    def check_by_name(self, match):
        preset = next((name for name in match.groups()[1:] if name), None)
        if preset is None:
            self.assertTrue(os.access(ROOT / match.group(1), os.X_OK), match.group(1))
        else:
            presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
            self.assertIn(preset, [p["name"] for p in presets["configurePresets"]])

    def check(self, command, expected):
        match = CHECKED_BY_NAME.match(command)
        if match:
            self.check_by_name(match)
            return
        if NEEDS_A_CLUSTER.search(command):
            self.assertEqual(self.shell(command, "-n").returncode, 0)
            return
        result = self.shell(command)
        self.assertEqual(result.returncode, 0, result.stderr)
        if expected:
            self.assertTrue(matches(expected, result.stdout.splitlines()),
                            f"{command} printed:\n{result.stdout}")

    def test_the_first_screen_shows_a_session(self):
        self.assertTrue(any(str(readme) == "README.md" and kind == "console"
                            for readme, kind, _ in blocks()))

    def every_step(self, readme, kind, body):
        steps = session(body) if kind == "console" else [(body.strip(), [])]
        for command, expected in steps:
            with self.subTest(readme=str(readme), command=command):
                self.check(command, expected)


def test_of(*block):
    return lambda self: self.every_step(*block)


for number, each in enumerate(blocks()):
    setattr(Readme, f"test_block_{number:02}_of_{re.sub(r'[^a-z]', '_', str(each[0]).lower())}",
            test_of(*each))


if __name__ == "__main__":
    main()
