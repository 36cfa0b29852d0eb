#!/usr/bin/env python3
"""The manifest for krew, filled in as tools/packaging/release does, by krew's own validator.

    validate_krew_manifest.py MANIFEST
"""

import pathlib
import subprocess
import sys
import tempfile

from validators import Problems, pinned, tool


def verdict(text):
    with tempfile.TemporaryDirectory() as folder:
        manifest = pathlib.Path(folder, "slicewise.yaml")  # krew wants the plugin's name
        manifest.write_text(text, encoding="utf-8")
        out = subprocess.run([tool("bin", "validate-krew-manifest-" + pinned()["KREW_VERSION"]), "-skip-install",
                              "-manifest", manifest], capture_output=True, text=True, check=False)
    return out.returncode, out.stdout + out.stderr


def main():
    problems = Problems()
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").replace("VERSION", "0.1.0")
    code, said = verdict(text.replace("SHA256", "0" * 64))
    problems.check(code == 0, "the manifest", said)
    code, said = verdict(text)
    problems.check(code != 0, "a checksum that is none", "is accepted")
    problems.exit()


if __name__ == "__main__":
    main()
