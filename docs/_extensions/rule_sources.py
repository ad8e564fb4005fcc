"""The sources of the rules on the site: a page for each file, links to them, and the search for a function.

In Markdown, ``[text](../../rules/numpy/products.py#matmul)`` is the rule of ``matmul`` in that file. A code host opens
the file; the site has a page of it, on which each rule has the name of its function as an anchor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.domains import Domain, ObjType

from rulescore import RuleRecord, frule, rrule
from rulescore.tables.discovery import rule_entries
from rulescore.tables.names import name_of

TO_A_RULE = re.compile(r"\[([^]]+)\]\(((?:\.\./)+)(rules/[\w/]+)\.py#([\w.]+)\)")


def link_to_sources(app: Any, page: str, source: list[str]) -> None:
    """Lead links to rules to the pages of their files; as HTML, since these pages are no documents."""
    source[0] = TO_A_RULE.sub(_link, source[0])


def _link(found: re.Match[str]) -> str:
    text, up, file, anchor = found.groups()
    return f'<a class="source" href="{up.removesuffix("../")}_modules/{file}.html#{anchor}">{text}</a>'


def pages_of_sources(app: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each file with rules that no page of the reference shows already."""
    shown = {module.replace(".", "/") + ".py" for module, entry in app.env._viewcode_modules.items() if entry}
    for file, records in sorted(rules_by_file().items()):
        if file not in shown:
            yield (
                f"_modules/{file.removesuffix('.py')}",
                {"title": file, "body": page_of(app, file, records)},
                "page.html",
            )


def rules_by_file() -> dict[str, list[RuleRecord]]:
    """All shipped rules by the file that they stand in."""
    rule_entries.load_all()
    found: dict[str, list[RuleRecord]] = {}
    for table in (rrule, frule):
        for record in chain.from_iterable(map(table.records, list(table))):
            if record.module.startswith("rules."):
                found.setdefault(source_file(record), []).append(record)
    return found


def source_file(record: RuleRecord) -> str:
    """The file of a rule within the repository, wherever it was imported from."""
    return record.file[record.file.rindex("/rules/") + 1 :]


def page_of(app: Any, file: str, records: list[RuleRecord]) -> str:
    """The text of a file in colours, with an anchor where the first rule of each function stands."""
    first: dict[str, int] = {}
    for record in records:
        name = name_of(record.function)
        first[name] = min(record.line, first.get(name, record.line))
    text = Path(records[0].file).read_text("utf8")
    lines = app.builder.highlighter.highlight_block(text, "python", linenos=False).splitlines()
    for name, line in first.items():
        lines[line - 1] = f'<span id="{name}" class="anchor"></span>{lines[line - 1]}'
    return f"<h1>{file}</h1>" + "\n".join(lines)


class FunctionsWithRules(Domain):
    """The functions in the tables of coverage, so that the search finds ``scipy.special.erf`` by this name."""

    name = "rules"
    label = "Functions with rules"
    object_types = {"function": ObjType("function with rules")}  # noqa: RUF012
    initial_data = {"rows": {}}  # noqa: RUF012

    def clear_doc(self, docname: str) -> None:
        self.data["rows"].pop(docname, None)

    def merge_domaindata(self, docnames: Iterable[str], otherdata: dict[str, Any]) -> None:
        self.data["rows"].update({name: rows for name, rows in otherdata["rows"].items() if name in docnames})

    def process_doc(self, env: Any, docname: str, document: nodes.document) -> None:
        if not docname.startswith("coverage/") or docname == "coverage/index":
            return
        module = next(document.findall(nodes.title)).astext()
        self.data["rows"][docname] = names = []
        for row in document.findall(nodes.row):
            name = next((literal.astext() for literal in row[0].findall(nodes.literal)), None)
            if name is not None and f"{module}.{name}" not in names:
                row["ids"].append(f"row-{name}")
                names.append(f"{module}.{name}")

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        for docname, names in self.data["rows"].items():
            for name in names:
                yield name, name, "function", docname, f"row-{name.rpartition('.')[2]}", 1


def setup(app: Any) -> dict[str, bool]:
    app.add_domain(FunctionsWithRules)
    app.connect("source-read", link_to_sources)
    app.connect("html-collect-pages", pages_of_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
