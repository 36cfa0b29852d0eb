"""Reports in a real browser: Debian's Chromium, driven by playwright-core, judged by axe-core."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
# pylint: disable=wrong-import-position
from program import main, run, skip_without

HERE = pathlib.Path(__file__).parent
MODULES = HERE / "node_modules"
EXAMPLES = "scenarios/examples/"


def install_modules():
    """What package-lock.json says, unless it is there already."""
    if not shutil.which("npm"):
        skip_without("npm")
    stamp = MODULES / ".package-lock.json"
    lock = HERE / "package-lock.json"
    if stamp.exists() and stamp.stat().st_mtime >= lock.stat().st_mtime:
        return
    installed = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
                               cwd=HERE, capture_output=True, text=True, check=False)
    if installed.returncode != 0:
        print(installed.stderr, file=sys.stderr)
        skip_without("playwright-core (npm ci)")
    os.utime(stamp)


class Report(unittest.TestCase):
    def setUp(self):
        self.chromium = shutil.which("chromium")
        if not self.chromium:
            skip_without("chromium")
        install_modules()

    def write_page(self, folder, name, *arguments, code=0):
        page = pathlib.Path(folder) / f"{name}.html"
        written = run("report", *arguments, "-o", f"html={page}")
        self.assertEqual(written.returncode, code, written.stderr)
        self.assertLess(page.stat().st_size, 300 * 1024)
        return str(page)

    def test_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder) / "plan.json"
            planned = run("plan", "-f", EXAMPLES + "shared-inference.yaml", "--variant", "shared",
                          "--instances", "g4dn.xlarge,g6.xlarge,g5.xlarge", "--max-nodes", "2",
                          "--replications", "2", "-o", "json", "--out", str(plan))
            self.assertEqual(planned.returncode, 0, planned.stderr)
            replayed = pathlib.Path(folder) / "replay.json"
            jobs = run("replay", "-f", EXAMPLES + "logs/team-trace.csv", "--instances", "p4d.24xlarge=2",
                "--sharing", "exclusive,time-slicing:4,mps:4,mig:all-1g.5gb", "-o", "json", "--out",
                str(replayed))
            pages = [
                # One of its variants shows how pods are lost.
                self.write_page(folder, "jobs", EXAMPLES + "aws-cifar10.yaml", code=6),
                self.write_page(folder, "services", EXAMPLES + "shared-inference.yaml"),
                self.write_page(folder, "plan", str(plan)),
                self.write_page(folder, "replay", str(replayed), code=jobs.returncode),
            ]
            checked = subprocess.run(["node", "report.mjs", self.chromium, *pages], cwd=HERE,
                                     capture_output=True, text=True, timeout=900, check=False)
            self.assertEqual(checked.returncode, 0, checked.stdout[-8000:] + checked.stderr)


if __name__ == "__main__":
    main()
