"""The notebook is the tutorial, and runs from top to bottom."""

from __future__ import annotations

import json
import subprocess
import sys

from test_pages import BLOCK, TUTORIAL
from write_notebook import NOTEBOOK, as_text, notebook


def test_notebook_is_up_to_date() -> None:
    assert NOTEBOOK.read_text("utf8") == as_text(notebook()), "`python tests/docs/write_notebook.py` writes it anew"


def test_every_block_of_python_is_a_cell() -> None:
    blocks = [code for language, code, _ in BLOCK.findall(TUTORIAL.read_text("utf8")) if language == "python"]
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf8"))["cells"] if cell["cell_type"] == "code"]
    assert ["".join(cell["source"]) for cell in cells] == [block.strip() for block in blocks]


def test_cells_run_in_order() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-X", "utf8", "-c", RUN, str(NOTEBOOK)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "the loop takes" in run.stdout  # printed by one of the last cells


RUN = """
import json, sys
names = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1], encoding="utf8"))["cells"]:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
"""
