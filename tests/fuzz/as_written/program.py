"""A program that is the text of a module, written into a folder and imported, so that it has a source."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from optree import tree_leaves

from rulescore.ad import traceable
from tests.fuzz.program import Program, written


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="as_written")


@functools.cache
def _compiled(text: str) -> tuple[str, types.CodeType]:
    name = f"written_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    path = Path(_folder().name) / f"{name}.py"
    path.write_text(text)
    return name, compile(text, str(path), "exec")


def loaded(text: str) -> dict[str, Any]:
    """What the module of a text defines; each time anew, so that nobody else has written to its arrays."""
    name, code = _compiled(text)
    module = types.ModuleType(name)
    module.__file__ = code.co_filename
    sys.modules[name] = module  # where dataclasses look
    try:
        exec(code, vars(module))
    finally:
        del sys.modules[name]
    return vars(module)


@dataclasses.dataclass
class WrittenProgram(Program):
    """A module in which ``program`` is a function of the inputs.

    Attributes
    ----------
    text : str
        The module.
    """

    text: str = ""
    has_few_modes: ClassVar[bool] = True

    @property
    def source(self) -> str:
        """The module."""
        return self.text

    def function(self, namespace: dict[str, Any] | None = None) -> Callable[..., Any]:
        """``program``, at each call that of a module which nobody else has; as it is for ordinary arrays."""
        return lambda *inputs: traceable(loaded(self.text)["program"])(*inputs)

    def variables(self, inputs: Any = None) -> dict[str, Any]:
        """The inputs, and all that is returned."""
        given = self.arguments() if inputs is None else inputs
        found = dict(zip(self.inputs, given, strict=True))
        return found | {f"v{k}": y for k, y in enumerate(tree_leaves(self.function()(*self.laid_out(tuple(given)))))}

    def as_test(self) -> str:
        """The program as text to paste into a file and run."""
        given = ", ".join(written(value) for value in self.inputs.values())
        return _IMPORTS + self.text + _TEST.format(inputs=f"({given},)")


_IMPORTS = """from copy import copy as copied
from runpy import run_path

import numpy as np
from optree import tree_leaves
from rulescore.ad import jvp, traceable
from rulescore.testing import jvp_fd

"""

_TEST = """

def inputs():
    return {inputs}


def program_anew(*x):  # with arrays in the module to which nobody else has written
    return traceable(run_path(__file__)["program"])(*map(copied, x))


def flat(y):
    return np.concatenate([np.ravel(part) for part in tree_leaves(y)])


def test_program_is_differentiated_as_it_is():
    dx = tuple([np.ones_like(x) for x in inputs()])
    value, tangent = jvp(program_anew, inputs(), dx)
    np.testing.assert_allclose(flat(value), flat(program_anew(*inputs())), rtol=1e-12)
    difference = jvp_fd(lambda *x: flat(program_anew(*x)), inputs(), dx)
    np.testing.assert_allclose(flat(tangent), difference.value, rtol=1e-5, atol=1e-6)
"""
