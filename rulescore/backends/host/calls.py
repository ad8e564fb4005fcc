"""A call, with all its containers, keywords and settings, as a function from arrays to arrays.

Its first derivative comes from the rule tables directly, where arguments and results are plain; all others, and those
of functions without rules, come from the reference AD, as in `functions`.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import optree

from rulescore import ad
from rulescore.ad.messages.errors import describe
from rulescore.ad.system.reference_ad import AD
from rulescore.backends.host.functions import (
    Arrays,
    HostFunction,
    Needs,
    Spec,
    dense,
    for_every_output,
    is_differentiable,
    those_needed,
)
from rulescore.closures.captures import is_tracer
from rulescore.definitions.pullbacks import require_that_of_function
from rulescore.primal_calls import called
from rulescore.tables.features import RuleConfig
from rulescore.tables.names import name_of
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()
_OBJECT = np.dtype(object)


class Declared(NamedTuple):
    """What a function returns, as somebody says with ``result_shapes=``."""

    results: Any
    """Arrays without numbers, in the containers of the result; or a function of the arguments that returns them."""
    empty: Callable[[tuple[int, ...], Any], Any]
    """An array of the system's without numbers, of a shape and dtype."""
    spec_of: Callable[[Any], Spec]
    """Shape and dtype of one."""


class HostCall(HostFunction):
    """``f(*args, **kwargs)`` as a function of the arrays among the leaves of its arguments.

    Parameters
    ----------
    f : callable
        Any Python function; one with rules is differentiated by them, others by the reference AD.
    arguments : callable
        From the arrays to ``(args, kwargs)``.
    flatten : callable
        From what ``f`` returns to its leaves and its structure.
    positions : tuple of int, optional
        The positional argument that each array is, where each is one.
    further : tuple, optional
        What follows the arrays, where the call is ``f(*arrays, *further)``.
    takes_batches : bool
        Whether ``f`` takes arrays with further axes in front, and does to each item what it does to one.
    declared : Declared, optional
        What it returns, which is found out by calling it otherwise.

    Attributes
    ----------
    function : callable
        ``f``.
    structure : object
        That of what ``f`` has returned last.
    places : tuple of int
        Where the pullback of a rule puts the cotangent of each array.
    declared : Declared or None
        What it returns, as somebody said.
    has_rules_out_of_reach : bool
        Whether there are rules, but arguments or results are not arrays and tuples of arrays alone.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        arguments: Callable[[Arrays], tuple[tuple[Any, ...], dict[str, Any]]],
        flatten: Callable[[Any], tuple[list[Any], Any]],
        positions: tuple[int, ...] | None = None,
        takes_batches: bool = False,
        further: tuple[Any, ...] | None = None,
        declared: Declared | None = None,
    ) -> None:
        super().__init__()
        self.declared = declared
        self.function, self._arguments, self._flatten = f, arguments, flatten
        self._positions, self._takes_batches = positions or (), takes_batches
        self.places = tuple([1 + position for position in self._positions])  # first comes that of `f`
        self.further = further
        # Until it turns out that there is no rule, or that the result has another form:
        self._has_rrule = self._has_frule = positions is not None
        self.has_rules_out_of_reach = positions is None and (f in rrule or f in frule)
        self.structure: Any = None
        self._results: dict[Any, tuple[Spec, ...]] = {}

    @property
    def name(self) -> str:
        return name_of(self.function)

    def batched(self) -> HostFunction:
        return self if self._takes_batches else super().batched()

    def results(self, specs: Sequence[Spec], values: Arrays | None = None) -> tuple[Spec, ...]:
        """As they were declared, or by calling the function, once for all arrays of these shapes.

        Raises
        ------
        ValueError
            When there are no values, and the function takes none of those that are tried.
        """
        key = tuple(specs)
        if key not in self._results:
            if self.declared is not None:
                self._results[key] = self._as_declared(specs, self.declared)
            else:
                self._results[key] = _specs_of(self(values)) if values is not None else self._tried(specs)
        return self._results[key]

    def _as_declared(self, specs: Sequence[Spec], declared: Declared) -> tuple[Spec, ...]:
        results = declared.results
        if callable(results):
            args, kwargs = self._arguments([declared.empty(*spec) for spec in specs])
            results = results(*args, **kwargs)
        leaves, self.structure = self._flatten(results)
        self.returns_one_array = len(leaves) == 1 and leaves[0] is results
        return tuple(map(declared.spec_of, leaves))

    def _tried(self, specs: Sequence[Spec]) -> tuple[Spec, ...]:
        errors: list[Exception] = []
        for numbers in (_around_one, lambda _, shape, dtype: np.zeros(shape, dtype)):
            try:
                with _warning_of_long_search(self.name):
                    return _specs_of(self([numbers(i, shape, dtype) for i, (shape, dtype) in enumerate(specs)]))
            except Exception as error:
                errors.append(error)
        # What it has against the call, whatever the numbers are:
        if isinstance(errors[0], TypeError) and repr(errors[0]) == repr(errors[1]):
            errors[0].add_note(f"raised by {self.name}, which was called to find the shapes of what it returns")
            raise errors[0]
        raise ValueError(
            f"the shapes of what {self.name} returns could not be found by calling it with numbers around one "
            f"({errors[0]!r}) nor with zeros ({errors[1]!r}): say what it returns with result_shapes="
        ) from errors[0]

    def known(self, specs: Sequence[Spec]) -> tuple[Spec, ...] | None:
        """What `results` has found before."""
        return self._results.get(tuple(specs))

    def require_known(self, specs: Sequence[Spec], outputs: Sequence[Any]) -> None:
        """Check that outputs have the shapes and dtypes that were found for arrays of these, if any were.

        Raises
        ------
        ValueError
            Where they have others, so that they depend on values.
        """
        known = self.known(specs)
        if known is not None and known != _specs_of(outputs):
            why = ": these depend on values, of which it knows none. Leave this part uncompiled, or say what it returns"
            raise ValueError(
                f"{self.name} returned {_shapes(_specs_of(outputs))} where a compiled program was told {_shapes(known)}"
                f"{why if self.declared is None else ''} with result_shapes="
            )

    def _leaves_of(self, y: Any) -> list[Any]:
        y = _as_named_tuple(y) if isinstance(y, dict) and type(y).__module__.startswith("scipy.") else y
        leaves, self.structure = self._flatten(y)
        if any(type(leaf) is np.ma.MaskedArray for leaf in leaves):
            raise TypeError(
                f"{self.name} returned a masked array, of whose mask the other systems know nothing: return "
                "y.filled(0.0), or the mask beside y.data"
            )
        self.returns_one_array = len(leaves) == 1 and leaves[0] is y
        return leaves

    def _outputs(self, y: Any) -> tuple[Any, ...]:
        leaves = self._leaves_of(y)
        for leaf in leaves:
            if not isinstance(leaf, (bool, int, float, complex)) and getattr(leaf, "dtype", _OBJECT) == _OBJECT:
                raise TypeError(
                    f"{self.name} returned {describe(leaf)}, which is no array: return numbers, arrays and containers "
                    "of them"
                )
        return tuple(leaves)

    def __call__(self, arrays: Arrays) -> tuple[Any, ...]:
        return tuple([y if isinstance(y, np.ndarray) else np.asarray(y)[()] for y in self.outputs_of(arrays)])

    def outputs_of(self, arrays: Arrays) -> tuple[Any, ...]:
        """What the function returns, of whatever arrays it takes."""
        args, kwargs = self._arguments(arrays)
        return self._outputs(called(self.function, args, kwargs))

    def traceable(self, *arrays: Any) -> tuple[Any, ...]:
        args, kwargs = self._arguments(arrays)
        return self._outputs(self._differentiable(*args, **kwargs))

    @property
    def _differentiable(self) -> Callable[..., Any]:
        """The function, as one that the reference AD sees."""
        return ad.primitive(self.function) if self.function in rrule or self.function in frule else self.function

    # ------------------------------------------------------------ first derivatives, by the rules directly

    def vjp(self, arrays: Arrays, needs: Needs) -> tuple[tuple[Any, ...], Callable[[Arrays], Sequence[Any]]]:
        rule = self.simple_rules.get(needs) if self.returns_one_array else None
        found = None if rule is None else rule(*arrays)
        if found is not None and is_simple(found[0]):  # the most frequent case
            y, pullback = found
            return (y,), lambda ybars: self.cotangents(pullback(ybars[0]), arrays, needs)
        return self.vjp_by_rule(arrays, needs) or super().vjp(arrays, needs)

    def vjp_by_rule(
        self, arrays: Arrays, needs: Needs, config: RuleConfig = AD
    ) -> tuple[tuple[Any, ...], Callable[[Arrays], Sequence[Any]]] | None:
        """As `vjp`; None where there is no rule, or its result has another form than a tuple of arrays."""
        found = self._rrule(arrays, needs, config) if self._has_rrule else None
        if found is None:
            return None
        y, pullback = found
        is_tuple = type(y) is tuple
        if is_tuple or not self.returns_one_array:
            self._leaves_of(y)
        have_one = list(map(is_differentiable, y)) if is_tuple else None

        def pull_back(ybars: Arrays) -> Sequence[Any]:
            ybar = ybars[0] if have_one is None else for_every_output(ybars, have_one)
            return self.cotangents(pullback(ybar), arrays, needs)

        return y if is_tuple else (y,), pull_back

    def cotangents(self, bars: Sequence[Any], arrays: Arrays, needs: Needs) -> Sequence[Any]:
        """Those of the arrays in ``needs``, of what the pullback of the rule has returned."""
        if not bars or bars[0] is not _NO_TANGENT:
            require_that_of_function(bars)
        if len(bars) <= self.places[-1]:  # it stopped early
            bars = (*bars, *[_NO_TANGENT] * self.places[-1])
        found = []
        for place, x, need in zip(self.places, arrays, needs, strict=True):
            if need:
                bar = bars[place]
                if type(bar) is not np.ndarray:
                    bar = dense(bar, x)
                if np.shape(bar) != np.shape(x):
                    raise self._unfitting(bar, x)
                found.append(bar)
        return found

    def _unfitting(self, bar: Any, x: Any) -> ValueError:
        """The error where a cotangent has a wrong shape: some systems reduce it, or do not say what it is of."""
        return ValueError(
            f"the pullback of the rrule of {self.name} returned a cotangent of shape {np.shape(bar)} for an argument "
            f"of shape {np.shape(x)}: return one of the argument's shape (rulescore.unbroadcast sums what was "
            "broadcast), and run rulescore.testing.check_rule"
        )

    def _rrule(self, arrays: Arrays, needs: Needs, config: RuleConfig) -> Any:
        """Value and pullback by a rule; None where there is none, or where they are not in a simple form."""
        found = None
        for rule in self._rules(arrays, needs, config):
            found = rule(*arrays)
            if found is not None:
                if config is AD and is_simple(found[0]):
                    self.simple_rules[needs] = rule
                break
        self._has_rrule = found is not None and _are_arrays(found[0])
        self.has_rules_out_of_reach |= found is not None and not self._has_rrule
        return found if self._has_rrule else None

    def _rules(self, arrays: Arrays, needs: Needs, config: RuleConfig) -> Iterator[Callable[..., Any]]:
        """The rrule as functions of the arrays, the fastest first; one answers None where it is not for this call."""
        if False not in needs or not self._is_told_needs(arrays):
            yield functools.partial(rrule, self.function) if self.further == () else self._rule_without_config
        if self.further is None:
            yield functools.partial(self._rule_with_config, needs, config)
        else:
            yield functools.partial(self._rule_of_first, (*needs, *[False] * len(self.further)), config)

    def _is_told_needs(self, arrays: Arrays) -> bool:
        """Whether the rule that serves arrays such as these asks what is needed, or this is not known."""
        args, kwargs = self._arguments(arrays)
        record = None if kwargs else rrule.rule_for_types(self.function, tuple(map(type, args)))
        return record is None or record.parameters.wants_needs

    def _rule_without_config(self, *arrays: Any) -> Any:
        if self.further is not None:
            return rrule(self.function, *arrays, *self.further)
        args, kwargs = self._arguments(arrays)
        return None if kwargs else rrule(self.function, *args)

    def _rule_of_first(self, needs: Needs, config: RuleConfig, *arrays: Any) -> Any:
        return rrule.call(self.function, (*arrays, *(self.further or ())), config=config, needs=needs)

    def _rule_with_config(self, needs: Needs, config: RuleConfig, *arrays: Any) -> Any:
        args, kwargs = self._arguments(arrays)
        needed = [False] * len(args)
        for position, need in zip(self._positions, needs, strict=True):
            needed[position] = need
        return rrule.call(self.function, args, kwargs, config=config, needs=tuple(needed))

    def jvp(self, arrays: Arrays, needs: Needs, tangents: Arrays) -> tuple[tuple[Any, ...], list[Any]]:
        return self.jvp_by_rule(arrays, needs, tangents) or super().jvp(arrays, needs, tangents)

    def jvp_by_rule(
        self, arrays: Arrays, needs: Needs, tangents: Arrays, config: RuleConfig = AD
    ) -> tuple[tuple[Any, ...], list[Any]] | None:
        """As `jvp`; None where there is no rule, or its result has another form than a tuple of arrays."""
        found = self._frule(arrays, needs, tangents, config) if self._has_frule else None
        if found is None:
            return None
        y, dy = found
        outputs, dys = (y, unthunk(dy)) if type(y) is tuple else ((y,), (dy,))
        if isinstance(dys, AbstractZero):
            dys = (dys,) * len(outputs)
        return outputs, [dense(part, x) for x, part in zip(outputs, dys, strict=True) if is_differentiable(x)]

    def _frule(self, arrays: Arrays, needs: Needs, tangents: Arrays, config: RuleConfig) -> Any:
        args, kwargs = self._arguments(arrays)
        directions: list[Any] = [_NO_TANGENT, *[_ZERO_TANGENT] * len(args)]
        for position, dx in zip(those_needed(self._positions, needs), tangents, strict=True):
            directions[1 + position] = dx
        found = frule.call(self.function, args, kwargs, tangents=tuple(directions), config=config)
        self._has_frule = found is not None and _are_arrays(found[0])
        self.has_rules_out_of_reach |= found is not None and not self._has_frule
        return found if self._has_frule else None


def _as_named_tuple(result: dict[str, Any]) -> Any:
    """The numbers in an object in which SciPy returns several, with their names: its class is in no system a container.

    Texts and other objects are left out, of which a compiled program would keep those of the call that it was made by.
    """
    numbers = {name: x for name, x in result.items() if all(map(_is_number, optree.tree_leaves(x)))}
    return _named_tuple(type(result).__name__, numbers)


def _named_tuple(name: str, items: dict[str, Any]) -> Any:
    return _class_of_tuples(name, tuple(items))(*items.values())


@functools.cache
def _class_of_tuples(name: str, fields: tuple[str, ...]) -> Any:
    make: Any = collections.namedtuple  # of a name and fields that are known here alone
    cls = make(name, fields)
    cls.__reduce__ = lambda self: (_named_tuple, (name, self._asdict()))  # since nobody finds the class by its name
    return cls


def _is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex)) or _is_array(x)


def is_simple(y: Any) -> bool:
    """Whether a result is one plain array of real or complex numbers, or one such number of NumPy's."""
    return (type(y) is np.ndarray or isinstance(y, np.inexact)) and y.dtype.kind in "fc"


_LONG = 5.0
"""Seconds after which somebody is told what takes so long."""


@contextlib.contextmanager
def _warning_of_long_search(name: str) -> Iterator[None]:
    """Says what is going on where a function is called with made-up numbers, and does not come back soon."""
    message = (
        f"{name} is being called with made-up numbers to find the shapes of what it returns, and is still at it after "
        f"{_LONG:g} s: say what it returns with result_shapes="
    )
    timer = threading.Timer(_LONG, warnings.warn, (message, RuntimeWarning))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _specs_of(outputs: Arrays) -> tuple[Spec, ...]:
    return tuple([(np.shape(y), y.dtype) for y in outputs])


def _shapes(specs: tuple[Spec, ...]) -> str:
    return ", ".join(f"{np.dtype(dtype)}{list(shape)}" for shape, dtype in specs) or "nothing"


def _are_arrays(y: Any) -> bool:
    """Whether a result is an array, or a plain tuple of some."""
    parts = y if type(y) is tuple else (y,)
    return all(map(_is_array, parts))


def _is_array(x: Any) -> bool:
    return (isinstance(x, (np.ndarray, np.generic)) or is_tracer(x)) and x.dtype != object


def _around_one(number: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers that most functions take: positive, and matrices of them regular and positive definite.

    Those of one array are larger than those of the array before, so that a range from one to the other is not empty.
    """
    x = np.random.default_rng(number).uniform(0.5, 1.0, shape) + 0.5 * number
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        x = x + np.swapaxes(x, -1, -2) + 3 * shape[-1] * np.eye(shape[-1])
    return x.astype(dtype)
