"""A use of a client library, and how a verdict on it comes about.

A use is a function in ``uses_LIBRARY.py``, after which the library is called as on PyPI. It takes the functions of
`tests.clients.functions` as its only argument, whose name says in which system: ``in_jax``, ``in_torch``,
``in_autograd``, ``in_pytensor``. It does with them what a user of the library would, and returns the numbers that come
out, in containers. It is run twice: with functions made by the adapter, and with the same functions written with what
the system has itself. Both have to give the same numbers.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import random
import re
import sys
import textwrap
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optree

from tests.clients.functions import FUNCTIONS, Functions, with_wrong_derivative

FOLDER = Path(__file__).parent
ADAPTERS = {
    "in_jax": "to_jax",
    "in_torch": "to_torch",
    "in_autograd": "to_autograd",
    "in_pytensor": "wrap_jax(to_jax)",
}
RTOL = {"float16": 2e-2, "float32": 1e-4, "complex64": 1e-4}
"""Of the largest number. Half precision is that of ``bfloat16``, in which something has been computed."""


@dataclass(frozen=True)
class Use:
    """What users of a library do, in the words of the function's docstring."""

    library: str
    name: str
    what: str
    system: str

    @property
    def adapter(self) -> str:
        """What makes the functions."""
        return ADAPTERS[self.system]

    def verdict(self, is_derivative_wrong: bool = False) -> str:
        """Right, wrong and how, or what error was raised and what it is for, if that is known."""
        use = getattr(importlib.import_module(f"tests.clients.{_module_of(self.library)}"), self.name)
        functions = importlib.import_module(f"tests.clients.functions_{self.system}")
        given = FUNCTIONS.through(with_wrong_derivative) if is_derivative_wrong else FUNCTIONS
        expected = _numbers(use, functions.OWN)
        try:
            computed = _numbers(use, given.through(functions.adapter))
        except Exception as error:
            traceback.print_exc()
            return f"error: {_first_line(error)}"
        return comparison(computed, expected)


def uses_of(library: str) -> list[Use]:
    """The uses of a library, read from its file, which may not be importable."""
    tree = ast.parse((FOLDER / f"{_module_of(library)}.py").read_text("utf8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    return [Use(library, node.name, _what(node), node.args.args[0].arg) for node in functions]


def _what(node: ast.FunctionDef) -> str:
    return " ".join((ast.get_docstring(node) or "").removesuffix(".").split())


def libraries() -> list[str]:
    """The libraries that have a file of uses, as they are called on PyPI."""
    return [path.stem.removeprefix("uses_").replace("_", "-") for path in sorted(FOLDER.glob("uses_*.py"))]


def version_of(library: str) -> str | None:
    """Of a library that is installed."""
    try:
        return importlib.metadata.version(library).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def _module_of(library: str) -> str:
    return f"uses_{library.replace('-', '_')}"


def _numbers(use: Callable[[Functions], Any], functions: Functions) -> list[Any]:
    """What a use returns, computed with the same random numbers each time."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - some of the libraries draw from it
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    return [_as_numpy(leaf) for leaf in optree.tree_leaves(use(functions))]


def _as_numpy(leaf: Any) -> Any:
    array = np.asarray(leaf.detach() if hasattr(leaf, "detach") else leaf)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"a use returned {leaf!r}, which is no number: return numbers")
    return array


def comparison(computed: list[Any], expected: list[Any]) -> str:
    if len(computed) != len(expected) or not expected:
        return f"wrong: {len(computed)} arrays, not {len(expected)}"
    for x, y in zip(computed, expected, strict=True):
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            return f"wrong: {x.dtype}{list(x.shape)}, not {y.dtype}{list(y.shape)}"
        rtol = RTOL.get(x.dtype.name, 1e-6)
        error = np.max(np.abs(x - y), initial=0) if x.dtype != bool else np.any(x != y)
        if not (np.all(np.isfinite(y)) and error <= 1e-3 * rtol + rtol * np.max(np.abs(y), initial=0)):
            return f"wrong: off by {error:.1e}"
    return "right"


def _first_line(error: BaseException) -> str:
    """Without the addresses of objects, which differ each time, and cut if it is long."""
    line = next(iter(str(error).strip().splitlines()), "")
    return textwrap.shorten(re.sub(r" at 0x[0-9a-f]+", "", f"{type(error).__name__}: {line}"), 200, placeholder=" ...")
