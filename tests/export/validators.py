"""Where the validators of exports are, and how a check reports what is wrong."""

import os
import pathlib
import re
import shlex
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent


def skip(why, required=True):
    print(f"SKIPPED: {why} (tools/export_validators installs it)")
    demanded = required and os.environ.get("SLICEWISE_REQUIRE_TOOLS") == "1"
    sys.exit(1 if demanded else SKIPPED)


try:
    import yaml
except ImportError:
    skip("python3-yaml is missing")


def pinned():
    """The assignments of versions.env."""
    lines = (HERE / "versions.env").read_text().splitlines()
    return dict(shlex.split(line)[0].split("=", 1) for line in lines if re.match(r"[A-Z_]+=", line))


# Charts bring long CRDs: libyaml reads them ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(text):
    return yaml.load(text, LOADER)


def load_all_yaml(text):
    return yaml.load_all(text, LOADER)


def validators():
    given = os.environ.get("SLICEWISE_VALIDATORS_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(given or os.path.join(cache, "slicewise"))


def distinct(paths):
    """One of the files that differ in their comments only: chart versions and cases have many alike."""
    found = {}
    for path in sorted(paths):
        lines = path.read_text().splitlines()
        found.setdefault("\n".join(line for line in lines if not re.match(r"\s*#(?!!)", line)), path)
    return list(found.values())


def tool(*parts):
    path = validators().joinpath(*parts)
    if not path.exists():
        skip(f"{path} is missing")
    return path


class Problems:
    def __init__(self):
        self.count = 0
        self.checked = 0

    def check(self, good, where, what):
        self.checked += 1
        if not good:
            self.count += 1
            print(f"{where}: {what}")

    def exit(self, minimum=1):
        self.check(self.checked >= minimum, "nothing to check", f"{self.checked} < {minimum}")
        print(f"{self.checked} checks, {self.count} failed")
        sys.exit(1 if self.count else 0)
