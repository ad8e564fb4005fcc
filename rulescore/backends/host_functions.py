"""Functions from NumPy arrays to NumPy arrays whose derivatives are such functions again.

An AD system that is to call a Python function wants something simple: arrays in, arrays out, and for every derivative a
function of the same kind. `Call` makes that of a call with all its containers, keywords and settings; its `Pushforward`
and `Pullback` take the tangents or cotangents as further arrays; and since these are functions of the kind too, there
is a derivative of every order. The first comes from the rule tables directly, the others from the reference AD.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rulescore import ad
from rulescore.ad.config import CONFIG
from rulescore.ad.errors import describe
from rulescore.closures.captures import is_traced
from rulescore.read_only import called
from rulescore.tables.features import RuleConfig
from rulescore.tables.names import name_of
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

Arrays = Sequence[Any]
Spec = tuple[tuple[int, ...], Any]
"""Shape and dtype of an array."""
Needs = tuple[bool, ...]
"""For each array of a function, whether it is differentiated with respect to it."""

_NO_KEYWORDS: dict[str, Any] = {}
_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()
_OBJECT = np.dtype(object)


class HostFunction:
    """A function from a tuple of arrays to a tuple of arrays.

    Attributes
    ----------
    fixed : int or None
        The function is linear in all arrays after so many; None where it is not linear.
    maps : bool
        Whether it is applied to each item along a first axis.
    simple_rules : dict
        By what is needed: the rrule as a function of the arrays, where it has answered with a simple result before.
    returns_one_array : bool
        Whether that is what the function has returned last.
    kept : dict
        What the system that calls the function keeps with it.
    """

    fixed: int | None = None
    maps = False
    returns_one_array = False

    def __init__(self) -> None:
        self._derived: dict[Any, HostFunction] = {}
        self.simple_rules: dict[Needs, Callable[..., Any]] = {}
        self.kept: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """What messages call the function."""
        raise NotImplementedError

    def __call__(self, arrays: Arrays) -> tuple[Any, ...]:
        """The value, of NumPy arrays."""
        return self.traceable(*arrays)

    def traceable(self, *arrays: Any) -> tuple[Any, ...]:
        """The value, also of arrays that the reference AD differentiates."""
        raise NotImplementedError

    def vjp(self, arrays: Arrays, needs: Needs) -> tuple[tuple[Any, ...], Callable[[Arrays], Sequence[Any]]]:
        """The value; and from a cotangent for each output that has one, those of the arrays in ``needs``."""
        of_chosen, chosen = of_some(self.traceable, arrays, needs, self.name)
        outputs, pull = ad.vjp(of_chosen, *chosen)

        def pull_back(ybars: Arrays) -> list[Any]:
            return list(pull(_spread(ybars, outputs)))

        return outputs, pull_back

    def jvp(self, arrays: Arrays, needs: Needs, tangents: Arrays) -> tuple[tuple[Any, ...], list[Any]]:
        """The value, and the tangents of the outputs that have one, from those of the arrays in ``needs``."""
        of_chosen, chosen = of_some(self.traceable, arrays, needs, self.name)
        outputs, dys = ad.jvp(of_chosen, tuple(chosen), tuple(tangents))
        return outputs, [dense(dy, y) for y, dy in zip(outputs, dys, strict=True) if is_differentiable(y)]

    def results(self, specs: Sequence[Spec], values: Arrays | None = None) -> tuple[Spec, ...]:
        """Shapes and dtypes of the outputs, from those of the arrays, and from their values where they are known."""
        raise NotImplementedError

    def pushforward(self, needs: Needs) -> HostFunction:
        """The derivative as a function of the arrays, and of tangents of those in ``needs``."""
        return self._derive(("pushforward", needs), lambda: Pushforward(self, needs))

    def pullback(self, needs: Needs, conjugate: bool = False) -> HostFunction:
        """The derivative as a function of the arrays, and of cotangents of the outputs that have one."""
        return self._derive(("pullback", needs, conjugate), lambda: Pullback(self, needs, conjugate))

    def transposed(self, conjugate: bool = False) -> HostFunction:
        """A linear function with the cotangent of its output in the place of its linear arrays."""
        raise TypeError(f"{self.name} is not linear and cannot be transposed")

    def batched(self) -> HostFunction:
        """The function applied to each item along the first axis of all arrays."""
        return self._derive("batched", lambda: Batched(self))

    def _derive(self, key: Any, make: Callable[[], HostFunction]) -> HostFunction:
        # One object for each derivative: systems compile for it, and compare by identity.
        found = self._derived.get(key)
        return found if found is not None else self._derived.setdefault(key, make())


def is_differentiable(y: Any) -> bool:
    """Whether an array, or what stands for one, is of real or complex numbers."""
    return y.dtype.kind in "fc" if hasattr(y, "dtype") else isinstance(y, (float, complex))


def is_simple(y: Any) -> bool:
    """Whether a result is one plain array of real or complex numbers, or one such number of NumPy's."""
    return (type(y) is np.ndarray or isinstance(y, np.inexact)) and y.dtype.kind in "fc"


def of_some(
    f: Callable[..., Any], arrays: Arrays, needs: Sequence[bool], name: str = "a function of some arrays"
) -> tuple[Callable[..., Any], list[Any]]:
    """A function of those arrays that it is differentiated with respect to, and these; the others are constants."""

    def of_chosen(*chosen: Any) -> Any:
        given = iter(chosen)
        return f(*[next(given) if need else x for x, need in zip(arrays, needs, strict=True)])

    of_chosen.__name__ = of_chosen.__qualname__ = name
    return of_chosen, _chosen(arrays, needs)


def _chosen(arrays: Arrays, needs: Sequence[bool]) -> list[Any]:
    return [x for x, need in zip(arrays, needs, strict=True) if need]


def _spread(ybars: Arrays, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cotangents, with `NoTangent` in the place of those that do not exist."""
    given = iter(ybars)
    return tuple([next(given) if is_differentiable(y) else _NO_TANGENT for y in outputs])


def dense(dx: Any, x: Any) -> Any:
    """A tangent as an array."""
    if type(dx) is np.ndarray:  # the most frequent case
        return dx
    dx = unthunk(dx)
    if isinstance(dx, NotImplementedTangent):
        dx.fail()
    return np.zeros_like(x) if isinstance(dx, AbstractZero) else dx


# ---------------------------------------------------------------- derivatives


class Pushforward(HostFunction):
    """ẏ of the arrays and of the tangents of some of them."""

    def __init__(self, function: HostFunction, needs: Needs) -> None:
        super().__init__()
        self.function, self.needs = function, needs
        self.fixed, self.maps = len(needs), function.maps

    @property
    def name(self) -> str:
        return f"the pushforward of {self.function.name}"

    def __call__(self, arrays: Arrays) -> tuple[Any, ...]:
        count = len(self.needs)
        return tuple(self.function.jvp(arrays[:count], self.needs, arrays[count:])[1])

    def traceable(self, *arrays: Any) -> tuple[Any, ...]:
        count = len(self.needs)
        return tuple(HostFunction.jvp(self.function, arrays[:count], self.needs, arrays[count:])[1])

    def results(self, specs: Sequence[Spec], values: Arrays | None = None) -> tuple[Spec, ...]:
        count = len(self.needs)
        found = self.function.results(specs[:count], values and values[:count])
        return tuple([spec for spec in found if np.dtype(spec[1]).kind in "fc"])

    def transposed(self, conjugate: bool = False) -> HostFunction:
        return self.function.pullback(self.needs, conjugate)

    def batched(self) -> HostFunction:
        return self.function.batched().pushforward(self.needs)


class Pullback(HostFunction):
    """The cotangents of some arrays, of the arrays and of the cotangents of the outputs.

    With ``conjugate`` all cotangents are the conjugates of ours, as in JAX and HIPS autograd.
    """

    def __init__(self, function: HostFunction, needs: Needs, conjugate: bool) -> None:
        super().__init__()
        self.function, self.needs, self.conjugate = function, needs, conjugate
        self.fixed, self.maps = len(needs), function.maps

    @property
    def name(self) -> str:
        return f"the pullback of {self.function.name}"

    def __call__(self, arrays: Arrays) -> tuple[Any, ...]:
        return self._pulled(self.function.vjp, arrays)

    def traceable(self, *arrays: Any) -> tuple[Any, ...]:
        def vjp(arrays: Arrays, needs: Needs) -> Any:
            return HostFunction.vjp(self.function, arrays, needs)

        return self._pulled(vjp, arrays)

    def _pulled(self, vjp: Callable[..., Any], arrays: Arrays) -> tuple[Any, ...]:
        count = len(self.needs)
        _, pull = vjp(arrays[:count], self.needs)
        if not self.conjugate:
            return tuple(pull(arrays[count:]))
        return tuple([conjugate(xbar) for xbar in pull([conjugate(ybar) for ybar in arrays[count:]])])

    def results(self, specs: Sequence[Spec], values: Arrays | None = None) -> tuple[Spec, ...]:
        return tuple(_chosen(specs[: len(self.needs)], self.needs))

    def transposed(self, conjugate: bool = False) -> HostFunction:
        return self.function.pushforward(self.needs)

    def batched(self) -> HostFunction:
        return self.function.batched().pullback(self.needs, self.conjugate)


def conjugate(x: Any) -> Any:
    return np.conjugate(x) if np.iscomplexobj(x) else x


class Batched(HostFunction):
    """A function applied to each item along the first axis of all arrays, one after the other."""

    maps = True

    def __init__(self, function: HostFunction) -> None:
        super().__init__()
        self.function = function

    @property
    def name(self) -> str:
        return self.function.name

    def __call__(self, arrays: Arrays) -> tuple[Any, ...]:
        return _stacked([self.function(item) for item in _items(arrays)])

    def traceable(self, *arrays: Any) -> tuple[Any, ...]:
        return _stacked([self.function.traceable(*item) for item in _items(arrays)])

    def results(self, specs: Sequence[Spec], values: Arrays | None = None) -> tuple[Spec, ...]:
        size = specs[0][0][0]
        first = None if not values or not size else [x[0] for x in values]
        found = self.function.results([(shape[1:], dtype) for shape, dtype in specs], first)
        return tuple([((size, *shape), dtype) for shape, dtype in found])

    # Items have nothing to do with each other, so that a derivative is that of each. These are called directly; as
    # functions of the tangents they are `Pushforward` and `Pullback` of this one.

    def vjp(self, arrays: Arrays, needs: Needs) -> tuple[tuple[Any, ...], Callable[[Arrays], Sequence[Any]]]:
        both = [self.function.vjp(item, needs) for item in _items(arrays)]

        def pull_back(ybars: Arrays) -> list[Any]:
            return list(_stacked([pull(item) for (_, pull), item in zip(both, _items(ybars), strict=True)]))

        return _stacked([outputs for outputs, _ in both]), pull_back

    def jvp(self, arrays: Arrays, needs: Needs, tangents: Arrays) -> tuple[tuple[Any, ...], list[Any]]:
        both = [self.function.jvp(item, needs, dx) for item, dx in zip(_items(arrays), _items(tangents), strict=True)]
        return _stacked([outputs for outputs, _ in both]), list(_stacked([dys for _, dys in both]))


def _items(arrays: Arrays) -> Iterator[tuple[Any, ...]]:
    return zip(*arrays, strict=True)


def _stacked(results: list[Any]) -> tuple[Any, ...]:
    return tuple([np.stack(parts) for parts in zip(*results, strict=True)])


# ---------------------------------------------------------------- calls


class Call(HostFunction):
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

    Attributes
    ----------
    function : callable
        ``f``.
    structure : object
        That of what ``f`` has returned last.
    places : tuple of int
        Where the pullback of a rule puts the cotangent of each array.
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
    ) -> None:
        super().__init__()
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
        """By calling the function, once for all arrays of these shapes.

        Raises
        ------
        ValueError
            When there are no values, and the function takes none of those that are tried, or answers them in different
            shapes.
        """
        key = tuple(specs)
        if key not in self._results:
            self._results[key] = _specs_of(self(values)) if values is not None else self._tried(specs)
        return self._results[key]

    def _tried(self, specs: Sequence[Spec]) -> tuple[Spec, ...]:
        found: set[tuple[Spec, ...]] = set()
        errors: list[Exception] = []
        for numbers in (_around_one, lambda _, shape, dtype: np.zeros(shape, dtype)):
            try:
                found.add(_specs_of(self([numbers(i, shape, dtype) for i, (shape, dtype) in enumerate(specs)])))
            except Exception as error:
                errors.append(error)
        if len(found) > 1:
            raise ValueError(
                f"the shapes of what {self.name} returns depend on values ({' or '.join(map(_shapes, found))}): say "
                "which ones they are, with result_shapes="
            )
        if not found:
            raise ValueError(
                f"the shapes of what {self.name} returns could not be found by calling it with numbers around one "
                f"({errors[0]!r}) nor with zeros ({errors[1]!r}): say what it returns with result_shapes="
            ) from errors[0]
        return found.pop()

    def _leaves_of(self, y: Any) -> list[Any]:
        leaves, self.structure = self._flatten(y)
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
        self, arrays: Arrays, needs: Needs, config: RuleConfig = CONFIG
    ) -> tuple[tuple[Any, ...], Callable[[Arrays], Sequence[Any]]] | None:
        """As `vjp`; None where there is no rule, or its result has another form than a tuple of arrays."""
        found = self._rrule(arrays, needs, config) if self._has_rrule else None
        if found is None:
            return None
        y, pullback = found
        is_tuple = type(y) is tuple
        if is_tuple or not self.returns_one_array:
            self._leaves_of(y)
        outputs = y if is_tuple else (y,)

        def pull_back(ybars: Arrays) -> Sequence[Any]:
            return self.cotangents(pullback(_spread(ybars, outputs) if is_tuple else ybars[0]), arrays, needs)

        return outputs, pull_back

    def cotangents(self, bars: Sequence[Any], arrays: Arrays, needs: Needs) -> Sequence[Any]:
        """Those of the arrays in ``needs``, of what the pullback of the rule has returned."""
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
            "broadcast), and run testutils.check_rule"
        )

    def _rrule(self, arrays: Arrays, needs: Needs, config: RuleConfig) -> Any:
        """Value and pullback by a rule; None where there is none, or where they are not in a simple form."""
        found = None
        for rule in self._rules(arrays, needs, config):
            found = rule(*arrays)
            if found is not None:
                if config is CONFIG and is_simple(found[0]):
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
        self, arrays: Arrays, needs: Needs, tangents: Arrays, config: RuleConfig = CONFIG
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
        for position, dx in zip(_chosen(self._positions, needs), tangents, strict=True):
            directions[1 + position] = dx
        found = frule.call(self.function, args, kwargs, tangents=tuple(directions), config=config)
        self._has_frule = found is not None and _are_arrays(found[0])
        self.has_rules_out_of_reach |= found is not None and not self._has_frule
        return found if self._has_frule else None


def _specs_of(outputs: Arrays) -> tuple[Spec, ...]:
    return tuple([(np.shape(y), y.dtype) for y in outputs])


def _shapes(specs: tuple[Spec, ...]) -> str:
    return ", ".join(f"{np.dtype(dtype)}{list(shape)}" for shape, dtype in specs) or "nothing"


def _are_arrays(y: Any) -> bool:
    """Whether a result is an array, or a plain tuple of some."""
    parts = y if type(y) is tuple else (y,)
    return all(map(_is_array, parts))


def _is_array(x: Any) -> bool:
    return (isinstance(x, (np.ndarray, np.generic)) or is_traced(x)) and x.dtype != object


def _around_one(number: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers that most functions take: positive, and matrices of them regular and positive definite.

    Those of one array are larger than those of the array before, so that a range from one to the other is not empty.
    """
    x = np.random.default_rng(number).uniform(0.5, 1.0, shape) + 0.5 * number
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        x = x + np.swapaxes(x, -1, -2) + 3 * shape[-1] * np.eye(shape[-1])
    return x.astype(dtype)


class Calls:
    """The calls of one function: a `Call` for each form of its arguments and for what is fixed in them.

    Parameters
    ----------
    what : str
        How the user asked for the function, for messages: ``"to_jax"``.
    f : callable
        The function.
    array_types : tuple of type
        What is an array among the leaves of arguments. All other leaves are fixed, and have to be hashable.
    flatten, unflatten : callable
        ``flatten(tree)`` returns leaves and structure, ``unflatten(structure, leaves)`` the tree.
    vmap_method : {"sequential", "broadcast_all"}
        Whether the function is called for each item of a batch, or takes batches.

    Attributes
    ----------
    plain : dict
        The calls of arrays alone that have been found before, by their number.

    Raises
    ------
    TypeError, ValueError
        When ``f`` cannot be called, or there is no such method.
    """

    def __init__(
        self,
        what: str,
        f: Any,
        array_types: tuple[type, ...],
        flatten: Callable[[Any], tuple[list[Any], Any]],
        unflatten: Callable[[Any, list[Any]], Any],
        vmap_method: str = "sequential",
    ) -> None:
        if not callable(f):
            raise TypeError(f"{what}({describe(f)}) got no function: pass one, {what}(f)(x)")
        if vmap_method not in ("sequential", "broadcast_all"):
            raise ValueError(f"{what}: vmap_method={vmap_method!r}: write 'sequential' or 'broadcast_all'")
        self._what, self._f, self._array_types = what, f, array_types
        self._flatten, self._unflatten = flatten, unflatten
        self._takes_batches = vmap_method == "broadcast_all"
        self._known: dict[Any, Call] = {}
        self.plain: dict[int, Call] = {}
        # By the identity of all other arguments, where nobody can change them; beside these, which keeps it theirs.
        self._by_identity: dict[Any, tuple[Call, Any]] = {}
        # Of arrays and then other arguments: the call, the number of arrays, and the others.
        self._latest: tuple[Call | None, int, tuple[Any, ...]] = None, 0, ()

    def find_known(
        self, args: tuple[Any, ...], kwargs: dict[str, Any] = _NO_KEYWORDS
    ) -> tuple[Call, Sequence[Any]] | None:
        """As `find`, of calls whose arrays are arguments and whose other arguments are those of a call before."""
        array_types = self._array_types
        if not kwargs:  # the most frequent calls: arrays alone, or before what followed them last time
            arrays: Sequence[Any] = args
            call = self.plain.get(len(args))
            if call is None:
                call, count, further = self._latest
                is_latest = len(args) == count + len(further) and all(map(operator.is_, args[count:], further))
                call, arrays = call if is_latest else None, args[:count]
            if call is not None:
                for x in arrays:
                    if not isinstance(x, array_types):
                        break
                else:
                    return call, arrays
        identity, arrays = self._identity(args, kwargs)
        known = self._by_identity.get(identity)
        if known is None:
            return None
        call, _ = known
        if call.further:
            self._latest = call, len(arrays), args[len(arrays) :]
        return call, arrays

    def _identity(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], list[Any]]:
        """What tells a call from others without looking at values; and the arrays among its arguments."""
        array_types = self._array_types
        identity: list[Any] = []
        arrays = []
        for x in args:
            if isinstance(x, array_types):
                arrays.append(x)
                identity.append(_PLACE)
            else:
                identity.append(id(x))
        for name, x in kwargs.items():
            identity += name, id(x)
        return tuple(identity), arrays

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Call, Sequence[Any]]:
        """The `Call` of these arguments, and the arrays in them."""
        found = self.find_known(args, kwargs)
        if found is not None:
            return found
        array_types = self._array_types
        leaves, structure = self._flatten((args, kwargs))
        arrays = [x for x in leaves if isinstance(x, array_types)]
        fixed = tuple([_PLACE if isinstance(x, array_types) else (type(x), _key(x)) for x in leaves])
        try:
            call = self._known.get((structure, fixed))
        except TypeError:
            raise self._unhashable(leaves) from None
        others = [*[x for x in args if not isinstance(x, array_types)], *kwargs.values()]
        are_constant = all(map(self._is_constant, others))
        if call is None:
            if len(self._known) >= _MANY_KNOWN:
                self._known.pop(next(iter(self._known)), None)
            call = self._known[structure, fixed] = self._new_call(args, kwargs, leaves, structure, are_constant)
            if not kwargs and all(isinstance(x, array_types) for x in args):
                self.plain[len(args)] = call
        if are_constant:
            if len(self._by_identity) >= _MANY:
                self._by_identity.clear()
            self._by_identity[self._identity(args, kwargs)[0]] = call, others
        return call, arrays

    def _is_constant(self, x: Any) -> bool:
        """Whether an argument is no array, and no container that may be of other things at the next call."""
        if x is None or isinstance(x, self._array_types):
            return x is None
        if type(x) is tuple:
            return all(map(self._is_constant, x))
        leaves, _ = self._flatten(x)
        return len(leaves) == 1 and leaves[0] is x

    def _new_call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any], structure: Any, are_constant: bool
    ) -> Call:
        places = [i for i, x in enumerate(leaves) if isinstance(x, self._array_types)]
        fixed = [None if isinstance(x, self._array_types) else x for x in leaves]
        unflatten = self._unflatten

        positions = [i for i, x in enumerate(args) if isinstance(x, self._array_types)]
        are_positional = len(positions) == len(places)
        constants = [None if i in positions else x for i, x in enumerate(args)] if are_constant else []
        come_first = are_positional and are_constant and not kwargs and positions == [*range(len(positions))]

        def arguments(arrays: Arrays) -> tuple[tuple[Any, ...], dict[str, Any]]:
            if are_constant:  # these need not be made anew
                given = constants.copy()
                for i, x in zip(positions, arrays, strict=True):
                    given[i] = x
                return tuple(given), kwargs.copy()
            filled = list(fixed)
            for i, x in zip(places, arrays, strict=True):
                filled[i] = x
            return unflatten(structure, filled)  # type: ignore[no-any-return]

        return Call(
            self._f,
            arguments,
            self._flatten,
            tuple(positions) if are_positional else None,
            self._takes_batches,
            args[len(positions) :] if come_first else None,
        )

    def _unhashable(self, leaves: list[Any]) -> TypeError:
        call = f"{self._what}({name_of(self._f)})"
        for x in leaves:
            if not isinstance(x, self._array_types) and not _is_hashable(x):
                return TypeError(
                    f"{call} was called with {describe(x)}, which is neither an array nor hashable: pass an array, or "
                    f"bind it to the function with functools.partial before {self._what}"
                )
        return TypeError(f"{call} was called with a container whose structure is not hashable: pass a tuple or a dict")


_PLACE = object()
_MANY, _MANY_KNOWN = 256, 4096
"""Calls that are known by the identity of their arguments, and in all, at most: numbers may differ in every call."""


def _key(x: Any) -> Any:
    """What tells fixed values apart: 0.0 equals -0.0, and NaN nothing at all."""
    if type(x) is slice:  # hashable from Python 3.12 on
        return _key(x.start), _key(x.stop), _key(x.step)
    return repr(x) if type(x) in (float, complex) else x


def _is_hashable(x: Any) -> bool:
    try:
        hash(_key(x))
    except TypeError:
        return False
    return True
