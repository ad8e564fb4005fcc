"""Random modules: each statement is tried while it is written, and kept if it computes something."""

from __future__ import annotations

import contextlib
import copy
import random
import re
import textwrap
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .definitions import DEFINITIONS
from .program import WrittenProgram, loaded
from .vocabulary import (
    ALIASES,
    BLOCKS,
    CONSTANTS,
    HEADS,
    IMPORTS,
    NEW,
    ORDER,
    PLACES,
    PRELUDE,
    SPECIAL,
    STATISTICS,
    VALUES,
    WORDS,
    WRITES,
)

FEWEST, MOST = 4, 14
"""How many statements are tried."""

MOST_ENTRIES, LARGEST = 24, 1e3
"""Of arrays with more entries, and of larger numbers, no statement is kept."""

_KINDS = ((NEW, 3), (ALIASES, 3), (WRITES, 5), (ORDER, 1), (VALUES, 3), (DEFINITIONS, 3), (BLOCKS, 2))


def written_program(rng: random.Random) -> WrittenProgram:
    """A module, and inputs of its function."""
    writer = _Writer(rng)
    for _ in range(rng.randint(FEWEST, MOST)):
        writer.write_more()
    return writer.finished()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        head, self._modules = rng.choice(HEADS)
        self._head = f"{head}\n{IMPORTS}"
        self._definitions: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        numbers = np.random.default_rng(rng.randrange(1 << 32))
        self._inputs: dict[str, Any] = {"x0": np.round(numbers.normal(size=4), 3)}
        if rng.random() < 0.8:
            self._inputs["x1"] = rng.choice((float, np.float64))(np.round(numbers.normal(), 3))
        if rng.random() < 0.4:
            self._inputs["x2"] = np.round(numbers.normal(size=(3, 4)), 3)
        self._values: dict[str, Any] = dict(self._inputs)

    def finished(self) -> WrittenProgram:
        """The program so far, which returns all it has."""
        results = [part for name, x in self._values.items() for part in _results(name, x)]
        text = self._text(self._lines, f"({', '.join([*results, *_EFFECTS])})")
        return WrittenProgram(inputs=self._inputs, text=text, result="")

    def write_more(self) -> None:
        """One statement more, if it makes sense."""
        texts, _ = self._rng.choices(_KINDS, [weight for _, weight in _KINDS])[0]
        definition = ""
        try:
            if texts is DEFINITIONS:
                words = self._words()
                definition, statement = (part.format_map(words) for part in self._rng.choice(DEFINITIONS))
            elif texts is BLOCKS:
                statement = self._block()
            else:
                statement = self._rng.choice(texts).format_map(self._words())  # type: ignore[arg-type]
        except LookupError:  # there is no such thing yet
            return
        self._keep(statement, definition)

    def _words(self) -> _Words:
        return _Words(self._rng, self._values, self._modules, self._new)

    def _new(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _block(self) -> str:
        """Statements within another one."""
        words = self._words()
        parts = [[self._simple(words) for _ in range(self._rng.randint(1, 3))] for _ in range(2)]
        made = sorted({name for name in re.findall(r"\bv\d+\b", "\n".join(parts[0])) if name not in self._values})
        block, other = (textwrap.indent("\n".join(part), "    ") for part in parts)
        words.update(block=block, other=other, news=", ".join([*made, words["a"]]))
        return self._rng.choice(BLOCKS).format_map(words)

    def _simple(self, of_block: _Words) -> str:
        """A statement of a block, which has some names in common with the others."""
        words = self._words()
        words.update({name: of_block[name] for name in ("a", "s") if self._rng.random() < 0.7})
        texts = self._rng.choice((NEW, ALIASES, WRITES, WRITES, VALUES))
        return self._rng.choice(texts).format_map(words)

    def _keep(self, statement: str, definition: str) -> None:
        lines, definitions = [*self._lines, statement], [*self._definitions, definition]
        before, self._definitions = self._definitions, definitions
        try:
            with quiet():
                found = loaded(self._text(lines, "dict(locals())"))["program"](*map(copy.copy, self._inputs.values()))
        except Exception:  # whatever Python and NumPy have against it
            found = {}
        values = {name: x for name, x in found.items() if re.fullmatch(r"[vx]\d+", name)}
        if values and all(map(_is_sound, values.values())):
            self._lines, self._values = lines, values
        else:
            self._definitions = before

    def _text(self, lines: list[str], result: str) -> str:
        definitions = "\n\n\n".join([self._head, PRELUDE.strip(), *filter(None, self._definitions)])
        body = textwrap.indent("\n".join([*lines, f"return {result}"]), "    ")
        return f"{definitions}\n\n\ndef program({', '.join(self._inputs)}):\n{body}\n"


_EFFECTS = ("said()", "TABLE")
"""What is changed beside the results: in which order things happened, and an array that everybody sees."""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """What happens within it without NumPy's warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Words(dict[str, str]):
    """What is put into the places of a text, each drawn where it is first asked for."""

    def __init__(self, rng: random.Random, values: dict[str, Any], modules: dict[str, str], new: Any) -> None:
        super().__init__(modules)
        self._rng, self._of, self._new = rng, values, new

    def __missing__(self, word: str) -> str:
        self[word] = found = self._found(word)
        return found

    def _found(self, word: str) -> str:
        choose = self._rng.choice
        if word in WORDS:
            return choose(WORDS[word]).format_map(self)
        if word in ("v", "w"):
            return self._new()
        if word == "n":
            return self._new()[1:]
        if word in ("i", "j"):
            return choose(PLACES)
        if word == "c":
            return choose(CONSTANTS)
        if word == "as":
            return self._found(choose("as"))
        if word in ("s", "t"):
            return choose([*self._names("s"), *(f"{a}[{i}]" for a in self._names("a")[-2:] for i in "01")])
        if word in ("special", "statistic"):
            return choose(SPECIAL if word == "special" else STATISTICS)
        # What is new is more often used.
        names = self._names("a" if word == "b" else word)
        return choose([*names, *names[-2:], *names[-1:]])

    def _names(self, kind: str) -> list[str]:
        return [name for name, x in self._of.items() if _kind(x) == kind]


def _kind(x: Any) -> str:
    """The place in a text that a value can take."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.size and x.size > 1:
        return {1: "a", 2: "m"}.get(x.ndim, "")
    if isinstance(x, float | np.floating) or (isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.ndim == 0):
        return "s"
    if isinstance(x, list) and x:
        kinds = set(map(_kind, x))
        return {"a": "L", "s": "l"}.get(kinds.pop(), "") if len(kinds) == 1 else ""
    return "o" if type(x).__name__ in ("Box", "Boxed") else ""


def _results(name: str, x: Any) -> list[str]:
    """How a value is returned."""
    kind = _kind(x)
    if kind == "o":
        return [f"{name}.{part}" for part in ("x", "y", "scale") if _kind(getattr(x, part))]
    return [name] if kind else []


def _is_sound(x: Any) -> bool:
    """Whether the numbers in something are few, and of moderate size."""
    if _kind(x) == "o":
        return all(map(_is_sound, (x.x, x.y, x.scale)))
    if isinstance(x, list | tuple):
        return len(x) <= MOST_ENTRIES and all(map(_is_sound, x))
    if not isinstance(x, np.ndarray | np.generic | float):
        return True
    if np.asarray(x).dtype.kind not in "fc":
        return True
    return bool(np.size(x) <= MOST_ENTRIES and np.all(np.abs(x) <= LARGEST))
