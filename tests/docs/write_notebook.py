"""Writes docs/write_your_first_rule.ipynb: the tutorial as a notebook, with the output that the page shows.

``python tests/docs/write_notebook.py``
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from test_pages import BLOCK, TUTORIAL

NOTEBOOK = TUTORIAL.with_suffix(".ipynb")


def cells_of(page: str) -> Iterator[dict[str, Any]]:
    """The page cut at its blocks of Python. Commands stay text, since they set a machine up or run in a clone."""
    start = 0
    for block in BLOCK.finditer(page):
        language, code, shown = block.groups()
        if language == "python":
            yield from markdown_cell(page[start : block.start()])
            yield code_cell(code, shown)
            start = block.end()
    yield from markdown_cell(page[start:])


def markdown_cell(text: str) -> Iterator[dict[str, Any]]:
    if text.strip():
        yield {"cell_type": "markdown", "metadata": {}, "source": lines(text.strip())}


def code_cell(code: str, shown: str | None) -> dict[str, Any]:
    outputs = [{"name": "stdout", "output_type": "stream", "text": lines(shown)}] if shown else []
    source = lines(code.strip())
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": outputs, "source": source}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook(page: Path = TUTORIAL) -> dict[str, Any]:
    """The whole notebook, as JSON can hold it."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells_of(page.read_text("utf8")))]
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def as_text(contents: dict[str, Any]) -> str:
    return json.dumps(contents, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(as_text(notebook()), "utf8")
