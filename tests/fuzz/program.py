"""A program: the source of a function, with the arrays it is called with and the constants in it."""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import re
import textwrap
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .calls import sampled

_PRELUDE = """import numpy as np
from rulescore.testing import check_derivative  # or any mode of rulescore.ad
"""


def as_it_is(f: Any) -> Any:
    """The function itself."""
    return f


@dataclasses.dataclass
class Program:
    """Statements that compute ``result`` of ``inputs``.

    Attributes
    ----------
    inputs : dict of str to array
        What it is called with, and differentiated by.
    constants : dict of str to object
        The other arrays and numbers that it names.
    calls : dict of str to (str, int)
        The names of functions, for each the function and the position of its sample: ``f0``, and ``f0_args`` and
        ``f0_kwargs`` of the sample.
    lines : list of str
        The statements.
    result : str
        The expression that is returned.
    """

    inputs: dict[str, Any] = dataclasses.field(default_factory=dict)
    constants: dict[str, Any] = dataclasses.field(default_factory=dict)
    calls: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict)
    lines: list[str] = dataclasses.field(default_factory=list)
    result: str = "x0"
    around: Callable[[Any], Any] = as_it_is
    """What is made of the functions in calls."""

    has_few_modes: ClassVar[bool] = False
    """Whether it is differentiated in few modes, and more programs instead."""

    @property
    def source(self) -> str:
        """The function ``program``, as text."""
        body = textwrap.indent("\n".join([*self.lines, f"return {self.result}"]), "    ")
        return f"def program({', '.join(self.inputs)}):\n{body}\n"

    def lines_of_result(self) -> list[str]:
        """The statements that the result is computed by."""
        needed = set(re.findall(r"\b[vx]\d+\b", self.result)) | {"w"}
        found = []
        for line in reversed(self.lines):
            written = re.search(r"\b(v\d+|w)\b", line)
            if written is not None and written[0] in needed:
                needed.update(re.findall(r"\bv\d+\b", line))
                found.append(line)
        return found[::-1]

    def namespace(self) -> dict[str, Any]:
        """What the statements name, with constants of their own."""
        names: dict[str, Any] = {"np": np, **copy.deepcopy(self.constants)}
        for name, (function, position) in self.calls.items():
            f, names[f"{name}_args"], names[f"{name}_kwargs"] = sampled(function, position)
            names[name] = self.around(f)
        return names

    def function(self, namespace: dict[str, Any] | None = None) -> Callable[..., Any]:
        """The function itself."""
        names = self.namespace() if namespace is None else namespace
        exec(_compiled(self.source), names)
        return names["program"]

    def variables(self, inputs: Any = None, offsets: dict[str, Any] | None = None) -> dict[str, Any]:
        """The values of the inputs and of all variables, which are moved by their offsets where they are assigned."""
        given = self.arguments() if inputs is None else inputs
        scope = {**self.namespace(), **dict(zip(self.inputs, given, strict=True)), "offsets": offsets}
        exec(_with_offsets("\n".join(self.lines), tuple(offsets or ())), scope)
        return {name: x for name, x in scope.items() if name in self.inputs or (name[0] == "v" and name[1:].isdigit())}

    def conditions(self, inputs: Any) -> list[Any]:
        """What every comparison and order in the statements has given, as masks of `np.where` do, as they are run."""
        found: list[Any] = []

        def noted(condition: Any) -> Any:
            found.append(np.copy(condition))
            return condition

        scope = {**self.namespace(), **dict(zip(self.inputs, inputs, strict=True)), "noted": noted}
        tree = _Noting().visit(ast.parse("\n".join(self.lines)))
        exec(compile(ast.fix_missing_locations(tree), "<program>", "exec"), scope)
        return found

    def arguments(self) -> tuple[Any, ...]:
        """The inputs, once more: each caller has arrays of its own, that lie in memory as these do."""
        return self.laid_out(tuple(self.inputs.values()))

    def laid_out(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Copies of values of the inputs that lie in memory as the inputs do."""
        return tuple(_laid_as(x, like) for x, like in zip(values, self.inputs.values(), strict=True))

    def with_wide_constants(self) -> Program:
        """The same with constants of small types as those of full precision."""
        return dataclasses.replace(self, constants={name: _widened(x) for name, x in self.constants.items()})

    def as_test(self) -> str:
        """The program as text to paste into a file and run."""
        lines = ["import numpy as np", ""]
        if any("backwards(" in written(value) for value in (*self.constants.values(), *self.inputs.values())):
            lines.insert(1, "from tests.fuzz.program import backwards")
        if self.calls:
            lines.insert(1, "from tests.fuzz.calls import sampled")
        for name, (function, position) in self.calls.items():
            lines.append(f"{name}, {name}_args, {name}_kwargs = sampled({function!r}, {position})")
        lines += [f"{name} = {written(value)}" for name, value in self.constants.items()]
        lines += ["", "", self.source, ""]
        lines += [f"{name} = {written(value)}" for name, value in self.inputs.items()]
        return "\n".join(lines)


@functools.lru_cache(1)
def _compiled(source: str) -> Any:
    return compile(source, "<program>", "exec")


@functools.lru_cache(1)
def _with_offsets(lines: str, names: tuple[str, ...]) -> Any:
    """The statements, and behind those that assign to one of some variables one that moves it."""
    found: list[ast.stmt] = []
    for statement in ast.parse(lines).body:
        found.append(statement)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        for name in [target.id for target in targets if isinstance(target, ast.Name) and target.id in names]:
            found += ast.parse(f"{name} = {name} + offsets[{name!r}]").body
    return compile(ast.Module(found, []), "<program>", "exec")


class _Noting(ast.NodeTransformer):
    """Hands each comparison to ``noted``, and each order of numbers."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        return ast.Call(ast.Name("noted", ast.Load()), [node], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        is_order = isinstance(node.func, ast.Attribute) and node.func.attr in ("argsort", "argmax", "argmin")
        return ast.Call(ast.Name("noted", ast.Load()), [node], []) if is_order else node


def _widened(x: Any) -> Any:
    dtype = np.asarray(x).dtype
    if dtype.kind not in "fiub":
        return x
    wide = np.asarray(x).astype(np.float64 if dtype.kind == "f" else np.int64)
    return wide if isinstance(x, np.ndarray) else wide[()]


def _laid_as(x: Any, like: Any) -> Any:
    """A copy with the order of another array's memory."""
    if not isinstance(x, np.ndarray):
        return copy.copy(x)
    if not x.size or like.flags.c_contiguous:
        return np.copy(x, order="C")
    return np.copy(x, order="F") if like.flags.f_contiguous else backwards(x)


def backwards(x: Any) -> Any:
    """A copy that is every other entry of a larger array, read backwards."""
    base = np.empty(tuple(2 * n for n in x.shape), x.dtype)
    view = base[tuple(slice(None, None, -2) for _ in x.shape)]
    view[...] = x
    return view


def written(value: Any) -> str:
    """An expression for an array or number that gives it back to the last digit."""
    if isinstance(value, np.ndarray):
        text = f"np.array({value.tolist()!r}, np.{value.dtype.name})".replace("np.bool)", "bool)")
        text = text.replace("nan", "np.nan").replace("inf", "np.inf")
        if value.size == 0:
            text = f"np.zeros({value.shape}, np.{value.dtype.name})"
        if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
            text = f"np.asfortranarray({text})"
        elif value.size and not value.flags.c_contiguous:
            text = f"backwards({text})"
        return text
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({value.item()!r})"
    return repr(value)
