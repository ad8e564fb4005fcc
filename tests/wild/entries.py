"""The list: entry points of libraries from PyPI, and the numbers at which they are differentiated.

A library has a module in ``libraries/``, called as on PyPI, whose docstring says how the library calls itself and what
it is for; ``libraries.txt`` has its version. Every public function of the module is an entry. It does what the
library's documentation does and has no mathematics of its own; its docstring names the entry point, and the defaults
of its arguments are the numbers: of a float, or of an array, which may be written as a tuple.

None of this imports a library, which may not be there.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
REQUIREMENTS = FOLDER / "libraries.txt"


@dataclass(frozen=True)
class Entry:
    """An entry point of a library, and the function that calls it."""

    library: str
    field: str
    module: str
    name: str
    point: str

    def function(self) -> Callable[..., Any]:
        """The function; the library is imported."""
        return getattr(importlib.import_module(f"tests.wild.libraries.{self.module}"), self.name)


def modules() -> list[str]:
    """The libraries' modules, in the order of the alphabet."""
    return sorted(path.stem for path in (FOLDER / "libraries").glob("*.py"))


def entries_of(module: str) -> list[Entry]:
    """The entries of a library, in the order in which they are written."""
    tree = ast.parse((FOLDER / "libraries" / f"{module}.py").read_text("utf8"))
    library, _, field = (ast.get_docstring(tree) or "").removesuffix(".").partition(": ")
    return [
        Entry(library, field, module, node.name, ast.get_docstring(node) or "")
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def versions() -> dict[str, str]:
    """The version of each library, by its module."""
    lines = [line.partition("==") for line in REQUIREMENTS.read_text("utf8").split()]
    return {name.lower().replace("-", "_").replace(".", "_"): version for name, _, version in lines}


def numbers_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The arguments of an entry: floats, and arrays of them."""
    defaults = [parameter.default for parameter in inspect.signature(function).parameters.values()]
    return tuple([np.array(x, float) if isinstance(x, tuple | np.ndarray) else float(x) for x in defaults])
