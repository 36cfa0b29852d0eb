"""The package under test. Started by itself it says that there is none to test."""

import importlib.util
import os
import pathlib
import sys

if importlib.util.find_spec("slicewise") is None:
    print("the Python package is not built: tools/python/environment, then configure")
    sys.exit(1 if os.environ.get("SLICEWISE_REQUIRE_TOOLS") == "1" else 77)

import slicewise  # noqa: E402

ROOT = pathlib.Path(os.environ["SLICEWISE_SOURCE_DIR"])
os.chdir(ROOT)
SHARED = "scenarios/examples/shared-inference.yaml"
__all__ = ["ROOT", "SHARED", "slicewise"]
