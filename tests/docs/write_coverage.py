"""Writes docs/coverage: every public function of NumPy and SciPy, what it has here, and what other systems have.

``python tests/docs/write_coverage.py``

What the others have is in ``peers_coverage.csv``, counted from the released packages; the page says how.
"""

from __future__ import annotations

import ast
import csv
import inspect
import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from rulescore import RuleRecord, frule, instances_of, rrule
from rulescore.tables.names import name_of
from testutils.runs.listing import FunctionState, kind_of, listed_modules, states_of_module
from testutils.runs.running import TargetError, resolve

PAGES = Path(__file__).parents[2] / "docs" / "coverage"
DATA = Path(__file__).parent / "peers_coverage.csv"
VERSIONS = f"NumPy {np.__version__} and SciPy {scipy.__version__}"
PEERS = ("HIPS autograd", "JAX", "PyTorch", "MyGrad", "ChainRules.jl")
COUNTED = ("rules", "constant", "looked into", "not numerical", "")
MARKS = {"rules": "✓", "constant": "constant", "looked into": "traced", "not numerical": "not numerical", "": "—"}
LISTED_BY_OTHERS = ("scipy.sparse.csgraph", "scipy.spatial.distance")
"""Modules whose rules come with those of another one."""

CODE_OR_MARKUP = re.compile(r"(``.*?``|`[^`]*`)|([*_<\[])")
NOT_COUNTED = ("",) * len(PEERS)


@dataclass(frozen=True)
class Row:
    """A function, or several methods of one object, which have the same state, and one of its rules."""

    name: str
    kind: str
    reason: str
    peers: tuple[str, ...]
    count: int = 1
    rule: RuleRecord | None = None

    def cells(self) -> list[str]:
        return [self.function(), MARKS[self.kind], *self.peers]

    def function(self) -> str:
        """The name, which leads to the source of the rule, and its formula."""
        if self.rule is None:
            return self.name
        name, colon, methods = self.name.partition(":")
        file = self.rule.file[self.rule.file.rindex("/rules/") + 1 :]
        formula = formula_of(self.rule) if self.count == 1 else ""
        return f"[{name}](../../{file}#{name_of(self.rule.function)}){colon}{methods}{formula and '<br>'}{formula}"


def modules() -> list[str]:
    return [
        "numpy",
        "numpy.linalg",
        "numpy.fft",
        "numpy.ndarray",
        *sorted({*listed_modules("scipy"), *LISTED_BY_OTHERS}),
    ]


def read_peers() -> dict[str, tuple[str, ...]]:
    """What the others have, by the name of the function, class or distribution."""
    with DATA.open(encoding="utf8", newline="") as file:
        return {row["name"]: tuple(row[peer] for peer in PEERS) for row in csv.DictReader(file)}


def rows_of(module: str, peers: dict[str, tuple[str, ...]]) -> list[Row]:
    states = states_of_module(module)
    functions = [state for state in states if "." not in state.name]
    rows = [row_of(state, module, peers) for state in functions]
    by_object = itertools.groupby((s for s in states if "." in s.name), key=lambda s: s.name.partition(".")[0])
    rows += [row for name, methods in by_object for row in rows_of_methods(name, list(methods), module, peers)]
    return sorted(
        [*rows, *rows_of_classes(module, {row.name for row in rows}, peers)], key=lambda row: row.name.lower()
    )


def row_of(state: FunctionState, module: str, peers: dict[str, tuple[str, ...]]) -> Row:
    of_peers = peers.get(f"{module}.{state.name}", NOT_COUNTED)
    rule = rule_of(resolve(f"{module}.{state.name}"), module) if state.kind == "rules" else None
    return Row(f"`{state.name}`", state.kind, state.reason, of_peers, rule=rule)


def rule_of(f: Any, module: str) -> RuleRecord | None:
    """The rule of a function that says most about it: one for its own package's arrays, with words, a reverse one."""
    package = module.partition(".")[0]
    shipped = [
        record
        for table in (rrule, frule)
        for record in table.records(f)
        if not record.opted_out and "/rules/" in record.file
    ]
    return min(shipped, key=lambda r: (not str(r.entry).startswith(package), not formula_of(r)), default=None)


def formula_of(record: RuleRecord) -> str:
    """What the docstring of a rule begins with; of a rule in one line, its partial derivatives."""
    docstring = record.defined_by.__doc__ if record.defined_by is not None else None
    if docstring:
        return in_a_cell(inspect.cleandoc(docstring).split("\n\n")[0])
    return ", ".join(f"`{partial}`".replace("|", r"\|") for partial in partials_in(record.source))


def partials_in(source: str) -> list[str]:
    """The bodies of the lambdas in a call such as ``scalar_rule(np.sin, lambda y, x: np.cos(x))``."""
    try:
        statement = ast.parse(textwrap.dedent(source)).body[0]
    except SyntaxError:  # the first line of something longer
        return []
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return []
    given = [part for part in statement.value.args[1:] if not (isinstance(part, ast.Constant) and part.value is None)]
    bodies = [body_of(part) for part in given]
    return [body for body in bodies if body is not None] if all(bodies) else []


def body_of(partial: ast.expr) -> str | None:
    if isinstance(partial, ast.Lambda):
        return ast.unparse(partial.body)
    if isinstance(partial, ast.Call) and ast.unparse(partial.func) == "OneOver" and len(partial.args) == 1:
        body = body_of(partial.args[0])
        return body and f"1 / ({body})"
    if isinstance(partial, ast.Call) and ast.unparse(partial.func) == "_where_found":
        return body_of(partial.args[1])
    if isinstance(partial, ast.Call) and ast.unparse(partial.func) == "unless_underflown":
        return body_of(partial.args[0])
    return None


def in_a_cell(docstring: str) -> str:
    """Words of a docstring as Markdown in a cell of a table, where a formula is no markup."""
    words = docstring.replace("\n", " ").replace("|", r"\|")
    return CODE_OR_MARKUP.sub(lambda found: found[1] or "\\" + found[2], words)


def rows_of_methods(
    name: str, methods: list[FunctionState], module: str, peers: dict[str, tuple[str, ...]]
) -> Iterator[Row]:
    """One row for all methods of an object with the same state."""
    of_peers = peers.get(f"{module}.{name}", NOT_COUNTED)
    key = attrgetter("kind", "reason")
    for (kind, reason), same in itertools.groupby(sorted(methods, key=key), key=key):
        names = [state.name.partition(".")[2] for state in same]
        same_name = f"{name}.{names[0]}"
        rule = rule_of(resolve(f"{module}.{same_name}"), module) if kind == "rules" else None
        yield Row(f"`{name}`: {', '.join(names)}", kind, reason, of_peers, len(names), rule)


def rows_of_classes(module: str, known: set[str], peers: dict[str, tuple[str, ...]]) -> Iterator[Row]:
    """The classes of a module of which the data tell, as `scipy.interpolate.CubicSpline`."""
    for full_name, of_peers in peers.items():
        owner, _, name = full_name.rpartition(".")
        if owner != module or any(row.startswith(f"`{name}`") for row in known):
            continue
        try:
            found = resolve(full_name)
        except TargetError:
            continue
        if isinstance(found, type):
            kind = kind_of(found) or kind_of(instances_of(found))
            rule = (rule_of(found, module) or rule_of(instances_of(found), module)) if kind == "rules" else None
            yield Row(f"`{name}`", kind, "", of_peers, rule=rule)


def page_of(module: str, rows: list[Row]) -> str:
    text = [f"# {module}", table(["function", "here", *PEERS], [row.cells() for row in rows])]
    missing = sorted({(row.reason, row.name) for row in rows if row.reason})
    if missing:
        text.append("## Why there is no rule")
        reasons = itertools.groupby(missing, key=lambda pair: pair[0])
        text += ["\n".join(f"- {', '.join(name for _, name in same)}: {reason}" for reason, same in reasons)]
    return "\n\n".join(text) + "\n"


def index_page(rows: dict[str, list[Row]]) -> str:
    lines = []
    for module, of_module in rows.items():
        counted = Counter({kind: sum(row.count for row in of_module if row.kind == kind) for kind in COUNTED})
        lines.append([f"[{module}]({file_of(module)})", *(str(counted[kind]) for kind in COUNTED)])
    summary = table(["module", *(MARKS[kind] for kind in COUNTED)], lines)
    toctree = "\n".join(file_of(module).removesuffix(".md") for module in rows)
    return INTRODUCTION.format(versions=VERSIONS, summary=summary, toctree=toctree)


INTRODUCTION = """\
# Coverage

Every public function of {versions}, what it has here, and what other systems have. Functions and methods
here:

{summary}

- ✓: an frule, an rrule, or both, checked by finite differences on sample inputs
- constant: its derivative is declared to be zero
- traced: it has no rule on purpose; AD systems differentiate what it does
- not numerical: there is nothing to differentiate
- —: no rule. The pages say why, where somebody has said it.

The name of a function leads to the source of its rule. Below it is the formula: what the docstring of the rule begins
with (ȳ is the cotangent of the output, x̄ that of an argument, and a d in front means a tangent), or, of an elementwise
function, its partial derivatives as the rule has them.

The columns of the others were counted from the released packages. ✓ is a derivative: for HIPS autograd a rule in both
modes (*reverse*, *forward*: in that alone); for JAX and MyGrad a gradient that agrees with finite differences on a
sample call; for PyTorch an equivalent with a gradient, under whatever name; for ChainRules.jl and its extensions a rule
for the function of that meaning. A — is none, and an empty cell was not counted. Of the distributions of `scipy.stats`,
one method is enough for a ✓.

Sparse arrays have rules for their operators and for methods such as `dot`, `multiply`, `sum` and `toarray`, which the
page of `scipy.sparse` does not list.

`python tests/docs/write_coverage.py` writes these pages.

```{{toctree}}
:hidden:

{toctree}
```
"""


def file_of(module: str) -> str:
    return module.replace(".", "_") + ".md"


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def pages() -> dict[str, str]:
    """The text of every page by the name of its file."""
    peers = read_peers()
    rows = {module: rows_of(module, peers) for module in modules()}
    return {"index.md": index_page(rows), **{file_of(module): page_of(module, rows[module]) for module in rows}}


if __name__ == "__main__":
    PAGES.mkdir(exist_ok=True)
    for file, text in pages().items():
        (PAGES / file).write_text(text, "utf8")
