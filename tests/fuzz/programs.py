"""The Hypothesis strategy of programs: each statement is tried while it is drawn, and kept if it computes something."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from rulescore import ad, is_traced

from .calls import functions, is_differentiable, numbers_in, sampled
from .program import Program
from .statements import EXPRESSIONS, INTO_RESULTS, STEPS, UNCHANGED

MOST_ENTRIES = 48
"""Of how many entries an array is cut."""

LARGEST = 1e3
"""Numbers beyond that are scaled down."""

MOST_STATEMENTS, MOST_CALLS = 6, 2
"""How many statements beside the calls, and how many calls beside the first, a program has at most."""

_DTYPES = (np.uint8, np.int8, np.int64, np.bool_, np.float16, np.float32, np.float64)


@st.composite
def programs(draw: st.DrawFn, first: str | None = None) -> Program:
    """Programs in which at least one function with a rule is called: ``first``, or any."""
    building = _Building(draw)
    with quiet():
        assume(building.call(first or draw(_names())))
        for _ in range(draw(st.integers(0, MOST_STATEMENTS))):
            building.step()
            if len(building.program.calls) <= MOST_CALLS and draw(st.integers(0, 5)) == 5:
                building.call(draw(_names()))
        building.finish()
    return building.program


@functools.cache
def _names() -> st.SearchStrategy[str]:
    return st.sampled_from(list(functions()))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Building:
    """A program that grows, and the values of its variables."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.program = Program()
        self._scope: dict[str, Any] = {"np": np}
        self._pool: list[str] = []
        self._count = 0

    def _one_of(self, choices: Sequence[Any]) -> Any:
        return self._draw(st.sampled_from(choices))

    def _chance(self, of: int) -> bool:
        return self._draw(st.integers(0, of - 1)) == of - 1

    def _new(self) -> str:
        self._count += 1
        return f"v{self._count}"

    # Statements.

    def step(self) -> None:
        """One statement more, if it computes something."""
        name = self._new()
        kind = self._one_of([*EXPRESSIONS, "steps", "into results"])
        target = self._one_of(self._pool)
        if kind == "into results":
            value = self._scope[target]
            if (
                not isinstance(value, np.ndarray)
                or not value.size
                or any(np.shares_memory(value, x) for x in self._given())
                or not self._is_differentiated(target)
            ):
                return
        text = self._one_of(INTO_RESULTS if kind == "into results" else STEPS if kind == "steps" else EXPRESSIONS[kind])
        if kind in EXPRESSIONS:
            text = f"{{v}} = {text}"
        line = text.format(a=target, b=self._one_of(self._pool), k=self._constant(), v=name)
        if not self._keep(line, name) and kind == "into results":
            self._run_again()

    def _given(self) -> list[Any]:
        every = [*self.program.inputs, *self.program.constants]
        return [self._scope[name] for name in every if isinstance(self._scope[name], np.ndarray)]

    def _is_differentiated(self, name: str) -> bool:
        """Whether a variable depends on the inputs as far as derivatives go.

        Of an ordinary array nobody can know afterwards what it was when a rule read it.
        """
        seen: list[bool] = []
        so_far = dataclasses.replace(self.program, result=name)

        def look(*inputs: Any) -> Any:
            seen.append(is_traced(so_far.function()(*inputs)))
            return inputs[0]

        try:
            ad.vjp(look, *so_far.arguments())
        except Exception:  # in a mode that does not support it
            return False
        return any(seen)

    def _constant(self) -> str:
        return self._one_of(
            (
                "0.0",
                "1.0",
                "0.5",
                "-0.3",
                "2",
                "True",
                "np.float32(0.3)",
                "np.float16(1.5)",
                "np.int8(3)",
                "np.uint8(200)",
            )
        )

    def _keep(self, line: str, *names: str) -> bool:
        """Run a statement; whether it was kept, with what it has computed sound and of moderate size."""
        try:
            exec(compile(line, "<statement>", "exec"), self._scope)
        except Exception:  # whatever NumPy has against it
            return False
        if not all(is_sound(self._scope.get(name)) for name in names):
            return False
        self.program.lines += line.split("\n")
        for name in names:
            self._take_in(name)
        return True

    def _take_in(self, name: str) -> None:
        """Let others use a variable, which does not grow beyond measure, and is real."""
        value = self._scope[name]
        lines = []
        if isinstance(value, float | complex) and not isinstance(value, np.generic):
            lines.append(f"{name} = np.multiply({name}, np.float64(1.0))")  # takes on no other type from now on
        if np.iscomplexobj(value):
            lines.append(f"{name} = np.real({name}) + 0.5 * np.imag({name})")
        if np.size(value) > MOST_ENTRIES:
            lines.append(f"{name} = {name}.reshape(-1)[:{MOST_ENTRIES}]")
        largest = float(np.max(np.abs(np.asarray(value, complex)), initial=0.0))
        if largest > LARGEST:
            lines.append(f"{name} = {name} / {10.0 ** np.ceil(np.log10(largest))!r}")
        for line in lines:
            exec(line, self._scope)
        self.program.lines += lines
        self._pool.append(name)

    def _run_again(self) -> None:
        """The values of all variables anew, after a statement that was not kept may have changed them."""
        program = self.program
        self._scope = {**program.namespace(), **dict(zip(program.inputs, program.arguments(), strict=True))}
        exec("\n".join(program.lines), self._scope)

    # Calls of functions with rules.

    def call(self, name: str) -> bool:
        """A call of a function on one of its samples, with inputs, variables and constants; whether it was kept."""
        samples = functions()[name][1]
        position = self._draw(st.integers(0, len(samples) - 1))
        f, args, kwargs = sampled(name, position)
        called = f"f{len(self.program.calls)}"
        places = [*numbers_in(list(args), f"{called}_args"), *numbers_in_keywords(kwargs, f"{called}_kwargs")]
        before = [copy.copy(x) for x in (self.program.inputs, self.program.constants, self.program.lines, self._pool)]
        for is_plain in (False, True):
            expressions = self._expressions(places, is_plain, name)
            self.program.calls[called] = name, position
            self._scope.update({called: f, f"{called}_args": args, f"{called}_kwargs": kwargs})
            parts = [argument_text(value, f"{called}_args[{k}]", expressions) for k, value in enumerate(args)]
            parts += [
                f"{key}={argument_text(value, f'{called}_kwargs[{key!r}]', expressions)}"
                for key, value in kwargs.items()
            ]
            if self._called(f"{called}({', '.join(parts)})"):
                return True
            again = [copy.copy(x) for x in before]
            self.program.inputs, self.program.constants, self.program.lines, self._pool = again
            del self.program.calls[called]
        return False

    def _called(self, call: str) -> bool:
        name = self._new()
        line = f"{name} = {call}"
        try:
            exec(line, self._scope)
        except Exception:
            return False
        parts = list(parts_of(self._scope[name], name))
        kept = [part for part in parts if self._is_sound_part(part)][:3]
        constants = [part for part in parts if _is_constant(self._value_of(part))][:1]
        if not kept and not constants:
            return False
        self.program.lines.append(line)
        if not self.program.inputs:  # of a function of none, something is differentiated beside
            self._scope["x0"] = self.program.inputs["x0"] = np.array([0.3, -0.7, 1.1])
            self._pool.append("x0")
        for part in constants:
            new = self._new()
            self._keep(f"{new} = {part} * np.mean({self._one_of(self._pool or ['x0'])})", new)
        for part in kept:
            if part == name:
                self._take_in(name)
            else:
                new = self._new()
                self._keep(f"{new} = {part}", new)
        return True

    def _is_sound_part(self, part: str) -> bool:
        return is_sound(self._value_of(part))

    def _value_of(self, part: str) -> Any:
        try:
            return eval(part, self._scope)
        except Exception:
            return None

    def _expressions(self, places: Sequence[tuple[str, Any]], is_plain: bool, name: str) -> dict[str, str]:
        """What stands for each number or array of a call, where it is not the sample's own.

        Among the numbers of functions of images are origins, of which SciPy takes the negative: without a sign, its
        process dies. What is not public is called with the types that its callers use.
        """
        overwrites = any("overwrite" in path for path, _ in places)
        is_internal = name.startswith("rules.")
        differentiable = [path for path, value in places if is_differentiable(value)]
        found: dict[str, str] = {}
        certain = self._one_of(differentiable) if differentiable else ""
        for path, value in places:
            if path in differentiable and (path == certain or not self._chance(3)):
                text = self._differentiated(value, is_plain)
                # What may be overwritten has no certain value afterwards.
                found[path] = f"({text}).copy()" if overwrites and isinstance(value, np.ndarray) else text
            elif not is_plain and not is_internal and self._chance(3):
                constant = self._retyped(value)
                is_deadly = ".ndimage." in name and isinstance(constant, np.unsignedinteger)
                if constant is not None and not is_deadly:
                    label = f"c{len(self.program.constants)}"
                    self.program.constants[label] = self._scope[label] = constant
                    found[path] = label
        return found

    def _differentiated(self, value: Any, is_plain: bool) -> str:
        """An input like this array or number, or a variable, in one of the ways to write it.

        A symmetric matrix stays one: of others, functions that want one may read half, or what they like.
        """
        stays_symmetric = is_symmetric(value)
        alike = [
            name
            for name in self._pool
            if np.shape(self._scope[name]) == np.shape(value) and isinstance(value, np.ndarray) and not stays_symmetric
        ]
        if alike and not is_plain and self._chance(2):
            return self._one_of(alike)
        name = f"x{len(self.program.inputs)}"
        if isinstance(value, float | complex):  # a number of Python's takes on what it meets; a traced one has a type
            value = np.asarray(value)[()]
        if not is_plain and isinstance(value, np.ndarray):
            value = self._one_of(_LAYOUTS)(self._changed(value))
        self.program.inputs[name] = self._scope[name] = copy.copy(value) if not isinstance(value, np.ndarray) else value
        self._pool.append(name) if not np.iscomplexobj(value) and np.size(value) <= MOST_ENTRIES else None
        if stays_symmetric:
            return f"0.5 * ({name} + np.conj(np.swapaxes({name}, -1, -2)))"
        text = UNCHANGED[0] if is_plain else self._one_of(UNCHANGED)
        return text.format(x=name)

    def _changed(self, value: Any) -> Any:
        """The array with ties, a zero, a number of another input, or in single precision; mostly as it is."""
        how = self._draw(st.integers(0, 9))
        value = np.array(value)
        if how == 6 and value.size:
            others = [np.real(np.ravel(x)[0]) for x in self.program.inputs.values() if np.size(x)]
            value.flat[-1] = self._one_of([1.0, *others])
        elif how == 7 and value.size > 1:
            value.flat[1] = value.flat[0]
        elif how == 8 and value.size:
            value.flat[-1] = 0.0
        elif how == 9:
            value = value.astype(np.complex64 if np.iscomplexobj(value) else np.float32)
        return value

    def _retyped(self, value: Any) -> Any:
        """A constant of another type that is about as large, None if there is none."""
        dtype = self._one_of(_DTYPES)
        if isinstance(value, str) or np.iscomplexobj(value) or not np.all(np.isfinite(value)):
            return None
        array = np.asarray(value)
        if np.dtype(dtype).kind in "iu" and array.size:
            limits = np.iinfo(dtype)
            if np.min(array) < limits.min or np.max(array) > limits.max:
                return None
        changed = array.astype(dtype)
        if not np.allclose(changed, array, rtol=1.0, atol=0.5):  # a tolerance that has become a 1
            return None
        if not isinstance(value, np.ndarray):
            return changed[()]
        return self._one_of(_LAYOUTS)(changed)

    # The end.

    def finish(self) -> None:
        """Choose what is returned: what was computed last, mostly, alone or with others."""
        last, other = self._pool[-1], self._one_of(self._pool)
        kind = self._draw(st.integers(0, 5))
        if kind == 1:
            self.program.result = f"({last}, {other})"
        elif kind == 2:
            self.program.result = f"{{'p': {last}, 'q': [{other}]}}"
        elif kind == 3:
            self.program.result = f"np.concatenate([{last}, {other}], axis=None)"
        elif kind == 4:
            self.program.result = f"np.sum({last}) * np.sum({other})"
        else:
            self.program.result = last


def numbers_in_keywords(kwargs: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key, value in kwargs.items():
        if key not in ("axis", "dtype", "out"):
            yield from numbers_in(value, f"{path}[{key!r}]")


def argument_text(value: Any, path: str, expressions: dict[str, str]) -> str:
    """The expression of an argument, with others in the place of some of its parts."""
    if path in expressions:
        return expressions[path]
    if type(value) in (list, tuple) and any(other.startswith(f"{path}[") for other in expressions):
        items = [argument_text(item, f"{path}[{k}]", expressions) for k, item in enumerate(value)]
        return f"[{', '.join(items)}]" if isinstance(value, list) else f"({', '.join(items)},)"
    return path


def parts_of(value: Any, name: str) -> Iterator[str]:
    """Expressions for the arrays and numbers in what a function has returned, or that are made from it."""
    if hasattr(value, "toarray"):
        yield f"{name}.toarray()"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from parts_of(item, f"{name}[{key!r}]")
    elif isinstance(value, tuple | list):
        for place, item in enumerate(value):
            yield from parts_of(item, f"{name}[{place}]")
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from parts_of(getattr(value, field.name), f"{name}.{field.name}")
    elif isinstance(value, slice):
        yield f"{name}.stop"
    elif isinstance(value, str | np.dtype):
        yield f"len(str({name}))"
    elif callable(value):
        yield f"{name}(0.4)"
    else:
        yield name


def _is_constant(value: Any) -> bool:
    """Whether something is what a function computes that has no derivative."""
    return isinstance(value, bool | int | np.integer | np.bool_) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biu"
    )


def is_symmetric(value: Any) -> bool:
    """Whether something is a stack of matrices of two rows or more that are Hermitian."""
    if not isinstance(value, np.ndarray) or value.ndim < 2 or not 1 < value.shape[-1] == value.shape[-2]:
        return False
    return bool(np.all(value == np.conj(np.swapaxes(value, -1, -2))))


def is_sound(value: Any) -> bool:
    """Whether something is an array or number with a tangent space, and finite."""
    return is_differentiable(value) and bool(np.all(np.isfinite(value)))


def _reversed_strided(x: Any) -> Any:
    if not np.ndim(x):
        return x
    base = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    view = base[tuple(slice(None, None, -2) for _ in x.shape)]
    view[...] = x
    return view


_LAYOUTS: tuple[Callable[[Any], Any], ...] = (np.copy, np.asfortranarray, _reversed_strided)
