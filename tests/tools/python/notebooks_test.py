"""The notebooks run from the first cell to the last, as who opens them would run them."""

import pathlib
import unittest

import nbclient
import nbformat
from package import ROOT
from program import main

NOTEBOOKS = ROOT / "tools/python/notebooks"


class Notebooks(unittest.TestCase):
    def run_all(self, path):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        self.assertEqual([cell.outputs for cell in notebook.cells if cell.cell_type == "code" and cell.outputs],
                         [], "stored without what a run of it shows")
        client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                                         resources={"metadata": {"path": str(ROOT)}})
        client.execute()
        shown = [output for cell in notebook.cells if cell.cell_type == "code"
                 for output in cell.outputs if "data" in output]
        self.assertTrue(any("text/html" in output.data for output in shown))


def add(path):
    setattr(Notebooks, f"test_{path.stem}", lambda self: self.run_all(path))


for found in sorted(pathlib.Path(NOTEBOOKS).glob("*.ipynb")):
    add(found)


if __name__ == "__main__":
    main()
