"""Writes docs/coverage: every public function of NumPy and SciPy, what it has here, and what other systems have.

``python tests/docs/write_coverage.py``

What the others have is in ``peers_coverage.csv``, counted from the released packages; the page says how.
"""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import numpy as np
import scipy

from rulescore import instances_of
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

NOT_COUNTED = ("",) * len(PEERS)


@dataclass(frozen=True)
class Row:
    """A function, or several methods of one object, which have the same state."""

    name: str
    kind: str
    reason: str
    peers: tuple[str, ...]
    count: int = 1

    def cells(self) -> list[str]:
        return [self.name, MARKS[self.kind], *self.peers]


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
    return Row(f"`{state.name}`", state.kind, state.reason, peers.get(f"{module}.{state.name}", NOT_COUNTED))


def rows_of_methods(
    name: str, methods: list[FunctionState], module: str, peers: dict[str, tuple[str, ...]]
) -> Iterator[Row]:
    """One row for all methods of an object with the same state."""
    of_peers = peers.get(f"{module}.{name}", NOT_COUNTED)
    key = attrgetter("kind", "reason")
    for (kind, reason), same in itertools.groupby(sorted(methods, key=key), key=key):
        names = [state.name.partition(".")[2] for state in same]
        yield Row(f"`{name}`: {', '.join(names)}", kind, reason, of_peers, len(names))


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
            yield Row(f"`{name}`", kind, "", of_peers)


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
