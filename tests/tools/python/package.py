"""The package under test. Skips all tests of a file where it is not built."""

import importlib.util
import os
import sys

from program import ROOT, skip_without

if importlib.util.find_spec("slicewise") is None:
    if os.environ.get("SLICEWISE_REQUIRE_TOOLS") == "1":
        sys.exit("the Python package is not built: tools/python/environment, then configure")
    sys.exit(77)

os.chdir(ROOT)

import slicewise  # noqa: E402

SHARED = "scenarios/examples/shared-inference.yaml"
__all__ = ["ROOT", "SHARED", "skip_without", "slicewise"]
