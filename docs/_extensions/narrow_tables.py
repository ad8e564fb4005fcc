"""Tables that fit a phone: each cell knows the heading of its column, so that a style sheet can show a row as a card.

A table of four columns or more has the class ``wide``, and its cells ``data-label``.
"""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup

WIDE = 4


def label_cells(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Write the headings of columns into the cells of wide tables."""
    if "<table" not in context.get("body", ""):
        return
    body = BeautifulSoup(context["body"], "html.parser")
    for table in body.find_all("table"):
        labels = [heading.get_text(" ", strip=True) for heading in table.select("thead th")]
        if len(labels) < WIDE:
            continue
        table["class"] = [*table.get("class", []), "wide"]
        for row in table.select("tbody tr"):
            for cell, label in zip(row.find_all("td", recursive=False), labels, strict=False):
                cell["data-label"] = label
                if not cell.get_text(strip=True):
                    cell["class"] = [*cell.get("class", []), "empty"]
    context["body"] = str(body)


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", label_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
