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
    """A module of autograd's, and the original, a module or a distribution, where autograd has nothing."""

    def __init__(self, original: Any, theirs: types.ModuleType) -> None:
        super().__init__(theirs.__name__)
        self._original = original
        for name, value in vars(theirs).items():
            if not name.startswith("_") and hasattr(original, name):
                setattr(self, name, value)

    def replaced(self) -> dict[str, Any]:
        """What autograd has, by its name."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._original(*args, **kwargs)


def replace_imports(modules: Iterable[types.ModuleType]) -> None:
    """Replace the imports of some modules."""
    replacements = _replacements()
    for module in modules:
        for name, value in list(vars(module).items()):
            if id(value) in replacements and not name.startswith("__"):
                setattr(module, name, replacements[id(value)])


def modules_of_programs() -> list[types.ModuleType]:
    """Those modules of other people that have been imported, and of ours those that call them."""
    imported = list(sys.modules.values())  # asking some of them imports more
    return [module for module in imported if isinstance(module, types.ModuleType) and _is_a_programs(module)]


def _is_a_programs(module: types.ModuleType) -> bool:
    package = module.__name__.partition(".")[0]
    if package == "tests":
        return module.__name__.startswith("tests.wild.libraries.")
    file = getattr(module, "__file__", None) or ""
    return file.startswith(sysconfig.get_paths()["purelib"]) and package not in OURS


def _replacements() -> dict[int, Any]:
    """By the identity of what is replaced."""
    found: dict[int, Any] = {}
    for name in sorted(OF_AUTOGRAD, reverse=True):  # what is within a module before the module
        original, theirs = importlib.import_module(name), importlib.import_module(OF_AUTOGRAD[name])
        replacement = Replacement(original, theirs)
        for key, value in replacement.replaced().items():
            replaced = getattr(original, key)
            if id(replaced) in found:
                setattr(replacement, key, found[id(replaced)])
            elif isinstance(value, types.ModuleType):
                setattr(replacement, key, Replacement(replaced, value))
                found[id(replaced)] = getattr(replacement, key)
            elif callable(value) and not isinstance(value, type):
                found[id(replaced)] = value
        found[id(original)] = replacement
    of_math = types.ModuleType("math")
    vars(of_math).update(_functions_of_math())
    found |= {id(getattr(math, name)): function for name, function in _functions_of_math().items()}
    found[id(math)] = Replacement(math, of_math)
    return found


def _functions_of_math() -> dict[str, Any]:
    anp = importlib.import_module("autograd.numpy")
    special = importlib.import_module("autograd.scipy.special")

    def log(x: Any, *base: Any) -> Any:
        return anp.log(x) / math.log(*base) if base else anp.log(x)

    functions = {name: getattr(anp, theirs) for name, theirs in OF_MATH.items()}
    return functions | {name: getattr(special, theirs) for name, theirs in SPECIAL_OF_MATH.items()} | {"log": log}
