"""HIPS autograd has its own NumPy, which a program has to import: here the programs' imports are replaced by it.

What is replaced are the globals of every module that has been imported, but those of Python, NumPy and the systems
themselves: `numpy`, `scipy`, `math`, their modules and their functions. What autograd does not have stays as it is.
"""

from __future__ import annotations

import importlib
import math
import sys
import sysconfig
import types
from collections.abc import Iterable
from typing import Any

OURS = ("autograd", "jax", "jaxlib", "numpy", "scipy", "rulescore", "rules", "testutils", "numba", "pandas")
"""Packages whose own imports stay: the systems, and what the programs' functions end in."""

OF_AUTOGRAD = {
    "numpy": "autograd.numpy",
    "numpy.linalg": "autograd.numpy.linalg",
    "numpy.fft": "autograd.numpy.fft",
    "scipy": "autograd.scipy",
    "scipy.integrate": "autograd.scipy.integrate",
    "scipy.linalg": "autograd.scipy.linalg",
    "scipy.signal": "autograd.scipy.signal",
    "scipy.special": "autograd.scipy.special",
    "scipy.stats": "autograd.scipy.stats",
}

OF_MATH = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "fabs": "abs",
    "pow": "power",
    **{name: name for name in ("exp", "expm1", "log10", "log1p", "log2", "sqrt", "hypot", "degrees", "radians")},
    **{name: name for name in ("cos", "sin", "tan", "cosh", "sinh", "tanh", "isfinite", "isinf", "isnan")},
}
"""NumPy's functions that do what those of `math` do. ``math.log`` has a base."""

SPECIAL_OF_MATH = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}
"""Those of `scipy.special`."""


class Replacement(types.ModuleType):
    """A module of autograd's, and the original where autograd has nothing."""

    def __init__(self, original: types.ModuleType, names: dict[str, Any]) -> None:
        super().__init__(original.__name__)
        self.__dict__.update(names)
        self._original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def replace_imports(modules: Iterable[types.ModuleType]) -> None:
    """Replace the imports of some modules."""
    replacements = _replacements()
    for module in modules:
        for name, value in list(vars(module).items()):
            if id(value) in replacements and not name.startswith("__"):
                setattr(module, name, replacements[id(value)])


def modules_of_programs() -> list[types.ModuleType]:
    """Those modules of other people that have been imported, and of ours those that call them."""
    return [
        module for module in sys.modules.values() if isinstance(module, types.ModuleType) and _is_a_programs(module)
    ]


def _is_a_programs(module: types.ModuleType) -> bool:
    package = module.__name__.partition(".")[0]
    if package == "tests":
        return module.__name__.startswith("tests.wild.libraries.")
    file = getattr(module, "__file__", None) or ""
    return file.startswith(sysconfig.get_paths()["purelib"]) and package not in OURS


def _replacements() -> dict[int, Any]:
    """By the identity of what is replaced."""
    anp = importlib.import_module("autograd.numpy")
    found: dict[int, Any] = {}
    originals = {name: importlib.import_module(name) for name in OF_AUTOGRAD}
    for name, original in originals.items():
        theirs = vars(importlib.import_module(OF_AUTOGRAD[name]))
        names = {key: value for key, value in theirs.items() if not key.startswith("_") and hasattr(original, key)}
        found[id(original)] = Replacement(original, names)
        for key, value in names.items():
            if callable(value) and not isinstance(value, type):
                found[id(getattr(original, key))] = value
    for name in OF_AUTOGRAD:  # the modules as attributes of their parents
        parent, _, child = name.rpartition(".")
        if parent:
            vars(found[id(originals[parent])])[child] = found[id(originals[name])]
    special = importlib.import_module("autograd.scipy.special")
    of_math = {name: getattr(anp, theirs) for name, theirs in OF_MATH.items()}
    of_math |= {name: getattr(special, theirs) for name, theirs in SPECIAL_OF_MATH.items()}

    def log(x: Any, *base: Any) -> Any:
        return anp.log(x) / math.log(*base) if base else anp.log(x)

    of_math["log"] = log
    found[id(math)] = Replacement(math, of_math)
    found |= {id(getattr(math, name)): function for name, function in of_math.items()}
    return found
