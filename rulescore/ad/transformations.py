"""The transformations: from a function to its gradient, its vector-Jacobian and Jacobian-vector products.

Each begins a differentiation of its own, puts tracers into the arguments, calls the function, and takes them out of the
result. `jacobians` has those that need many of these products.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rulescore.ad.duals import Dual
from rulescore.ad.errors import LEAKED, LeakedTracerError, UnrelatedOutputError, describe, unmask
from rulescore.ad.locations import explain, new_tape
from rulescore.ad.tapes import Tape, walk_back
from rulescore.ad.tracers import Tracer, apply, is_refused, value_beneath
from rulescore.ad.trees import (
    LEAF,
    flatten,
    form_of,
    hides_numbers,
    is_exotic,
    is_integral,
    path_of,
    tree_map,
    unflatten,
)
from rulescore.ad.unused_rules import warn_of_unused_rules
from rulescore.ad.views import View, snapshot
from rulescore.tables.names import name_of
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space, zero_tangent
from rulescore.tangents.sparsity import is_sparse
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent

Argnums = int | Sequence[int]

# ---------------------------------------------------------------- arguments


class Arguments:
    """The arguments of a function of which some are differentiated.

    Attributes
    ----------
    leaves : list
        The numbers and arrays that are differentiated, in their order.
    """

    def __init__(self, what: str, args: tuple[Any, ...], argnums: Argnums) -> None:
        self.is_single = type(argnums) is int or not isinstance(argnums, Sequence)
        self.positions = _positions(what, argnums, len(args))
        self.args = args
        self._trees: list[tuple[list[Any], Any, Sequence[int]]] = []
        self._are_leaves = True  # each argument that is differentiated is a single number or array
        self.leaves: list[Any] = []
        for position in self.positions:
            leaves, structure = flatten(args[position])
            if leaves and all(map(_is_usual, leaves)):
                self._trees.append((leaves, structure, range(len(leaves))))
                self.leaves += map(as_scalar, leaves)
                self._are_leaves &= structure is LEAF
                continue
            self._are_leaves = False
            active = [i for i, leaf in enumerate(leaves) if has_tangent_space(leaf)]
            _check_leaves(what, args[position], position, leaves, active)
            self._trees.append((leaves, structure, active))
            self.leaves += [snapshot(as_scalar(leaves[i])) for i in active]

    def with_leaves(self, new: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments with others in the place of the leaves."""
        args = list(self.args)
        trees = new if self._are_leaves else self._in_trees(new, None)
        for position, tree in zip(self.positions, trees, strict=True):
            args[position] = tree
        return tuple(args)

    def tangents(self, new: Sequence[Any]) -> Any:
        """Something for each leaf in the form of the arguments; `NoTangent` for leaves without a derivative."""
        trees = new if self._are_leaves else self._in_trees(new, NoTangent())
        return trees[0] if self.is_single else tuple(trees)

    def directions(self, tangents: Sequence[Any], f: Any) -> list[Any]:
        """A tangent for each leaf, from one given by a user for each argument."""
        if len(tangents) != len(self.args):
            raise ValueError(
                f"the jvp of {name_of(f)} got {len(self.args)} primals and {len(tangents)} tangents: give one each"
            )
        return [
            dx
            for primal, tangent, (_, _, active) in zip(self.args, tangents, self._trees, strict=True)
            for dx in map(matching("the tangent", tangent, primal, f).__getitem__, active)
        ]

    def _in_trees(self, new: Sequence[Any], filling: Any) -> list[Any]:
        trees, start = [], 0
        for leaves, structure, active in self._trees:
            end = start + len(active)
            if end - start == len(leaves):
                filled = new[start:end]
            else:
                filled = list(leaves) if filling is None else [filling] * len(leaves)
                for i, leaf in zip(active, new[start:end], strict=True):
                    filled[i] = leaf
            trees.append(filled[0] if structure is LEAF else unflatten(structure, filled))
            start = end
        return trees


def _is_usual(leaf: Any) -> bool:
    """Whether a leaf needs no second look."""
    return leaf.dtype.kind in "fc" if type(leaf) is np.ndarray else type(leaf) in _USUAL_SCALARS


_USUAL_SCALARS = frozenset({np.float64, float, complex})


def _positions(what: str, argnums: Argnums, count: int) -> list[int]:
    if type(argnums) is int and 0 <= argnums < count:  # the most frequent case
        return [argnums]
    every = argnums if isinstance(argnums, Sequence) else (argnums,)
    for position in every:
        if not -count <= position < count:
            raise ValueError(
                f"{what} was asked for with respect to argument {position} (argnums), and {count} positional arguments "
                "were given: count from 0, and pass what is differentiated by position"
            )
    normal = [operator.index(position) % count for position in every]
    if len(set(normal)) != len(normal):
        raise ValueError(f"{what}: argnums={argnums!r} names an argument twice; name each once")
    return normal


def check_argnums(what: str, argnums: Any) -> None:
    """Raise where ``argnums`` is neither an integer nor a sequence of some."""
    every = argnums if isinstance(argnums, Sequence) else (argnums,)
    if not all(hasattr(position, "__index__") and not _is_flag(position) for position in every):
        raise TypeError(
            f"{what}(f, {describe(argnums)}) got that for argnums, which says which arguments are differentiated: give "
            f"an integer or a tuple of integers there, and the arguments to the result, {what}(f)(x)"
        )
    if len(every) == 0:
        raise ValueError(f"{what}(f, argnums={argnums!r}) differentiates with respect to nothing: name an argument")


def _is_flag(x: Any) -> bool:
    return isinstance(x, (bool, np.bool_)) or np.ndim(x) > 0


def _check_leaves(what: str, tree: Any, position: int, leaves: list[Any], active: list[int]) -> None:
    for i, leaf in enumerate(leaves):
        problem = None if type(leaf) is np.ndarray and leaf.dtype.kind in "fc" else _problem_of_leaf(leaf)
        if problem:
            where = f"argument {position}{path_of(tree, i)}"
            raise TypeError(f"{what} was asked for with respect to {where}, which is {describe(leaf)}: {problem}")
    if not active:
        raise TypeError(
            f"{what} was asked for with respect to argument {position}, a {type(tree).__name__}, in which there is no "
            "number or array to differentiate: pass floats or arrays of floats, also within tuples, lists, dicts and "
            "dataclasses"
        )


def _problem_of_leaf(leaf: Any) -> str | None:
    """Why a leaf can neither be differentiated nor be left out, and what to write instead."""
    if is_integral(leaf):
        return (
            "integers and booleans have no derivative. Pass a float (1.0, x.astype(float)), or leave it out of what is "
            "differentiated (argnums, or a closure)"
        )
    if is_sparse(leaf):
        return (
            "a sparse array has no NumPy functions to trace. Differentiate with respect to its values (S.data), with a "
            "function of them that has a rule (primitive), or pass S.toarray()"
        )
    cls: Any = type(leaf)
    if is_refused(cls):
        return (
            f"the operators and functions of a {cls.__name__} mean something else than those of arrays, which "
            "is what derivatives are known of. Pass np.asarray(x), and for a mask use np.where"
        )
    if is_exotic(leaf):
        if isinstance(leaf, np.ndarray):
            return "a structured array has no derivative. Pass a dict of its fields, {name: x[name] for name in names}"
        return "only floats, complex numbers and arrays of them are differentiated. Pass float(x)"
    if not has_tangent_space(leaf) and hides_numbers(leaf):
        what = "an array of objects" if isinstance(leaf, np.ndarray) else f"a {type(leaf).__name__}"
        return (
            f"there are numbers in it, and what is within {what} is not seen. Pass an array, or a tuple, list, dict or "
            'dataclass (a field with metadata={"static": True} is held constant), register its class with '
            'optree.register_pytree_node(..., namespace="rulescore"), or leave it out (argnums, or a closure)'
        )
    return None


# ---------------------------------------------------------------- reverse mode


def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the value of ``f`` and its gradient.

    Parameters
    ----------
    f : callable
        A function of plain NumPy code that returns a real number. Its arguments may be numbers, arrays, and nested
        tuples, lists, dicts and dataclasses of them.
    argnums : int or sequence of int
        Which positional arguments are differentiated.
    has_aux : bool
        Whether ``f`` returns a pair: the number, and something else that is handed through.

    Returns
    -------
    callable
        With the arguments of ``f``; returns ``(value, gradient)``, or ``((value, aux), gradient)``. The gradient has
        the form of the argument, or is a tuple of such for several argnums. With respect to a complex number x it is
        ∂/∂Re x + i ∂/∂Im x.

    Raises
    ------
    TypeError
        (From the returned function.) When an argument is an integer, or the value is no real number.
    UnrelatedOutputError
        When the value does not depend on the arguments.
    NoRuleError
        When ``f`` calls a function that nothing says how to differentiate.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import value_and_grad
    >>> value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """
    check_function("value_and_grad", f)
    check_argnums("value_and_grad", argnums)
    what = f"the gradient of {name_of(f)}"

    @functools.wraps(f, updated=())
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        arguments = Arguments(what, args, argnums)

        def record(tape: Tape) -> Any:
            return f(*arguments.with_leaves([tape.leaf(x) for x in arguments.leaves]), **kwargs)

        warn_of_unused_rules(f)
        tape = new_tape()
        try:
            y, aux = _result(record(tape), has_aux, f)
            _check_loss(y, f, tape)
            value, node = y._value, y._node
            if has_aux:
                aux = without_tracers(aux, tape)
        except ValueError as error:
            unmask(error)
            raise
        finally:
            tape.close()
        length = len(tape)
        seed = value.dtype.type(1)
        try:
            bars = walk_back(tape, [(node, seed)], len(arguments.leaves), keep=False)
        except Exception as error:
            explain(error, length, record)
            raise
        gradient = arguments.tangents(_finished(bars, arguments.leaves))
        return ((value, aux) if has_aux else value), gradient

    return value_and_gradient


def grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of ``f``.

    Parameters
    ----------
    f, argnums, has_aux
        As for `value_and_grad`.

    Returns
    -------
    callable
        With the arguments of ``f``; returns the gradient, or ``(gradient, aux)``.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import grad
    >>> grad(np.tanh)(0.0)
    np.float64(1.0)
    >>> grad(grad(lambda x: x**3))(2.0)
    np.float64(12.0)
    """
    check_function("grad", f)
    check_argnums("grad", argnums)
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function, and the function that pulls cotangents back through it.

    Parameters
    ----------
    f : callable
        A function of ``primals`` that returns a number, an array, or nested containers of them.
    *primals
        Where to differentiate it; see `value_and_grad`.
    has_aux : bool
        Whether ``f`` returns a pair: the output, and something else that is handed through.

    Returns
    -------
    y : object
        The output.
    vjp_fn : callable
        From a cotangent, in the form of the output, to a tuple of one cotangent per primal. It may be called several
        times.
    aux : object
        Only with ``has_aux``.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import vjp
    >>> y, vjp_fn = vjp(np.multiply, 2.0, 5.0)
    >>> vjp_fn(1.0)
    (np.float64(5.0), np.float64(2.0))
    """
    check_function("vjp", f)
    recording = Recording(f"the vjp of {name_of(f)}", f, primals, has_aux)

    def vjp_fn(cotangent: Any) -> tuple[Any, ...]:
        return recording.pull(cotangent)

    y = recording.value
    return (y, vjp_fn, recording.aux) if has_aux else (y, vjp_fn)


class Recording:
    """A call of a function that has been recorded, to be walked back any number of times.

    Attributes
    ----------
    value, aux : object
        What the function returned.
    """

    def __init__(self, what: str, f: Any, primals: tuple[Any, ...], has_aux: bool) -> None:
        if not primals:
            raise ValueError(f"{what} was asked for without an argument to differentiate it at: pass them after f")
        self._f = f
        self._arguments = Arguments(what, primals, range(len(primals)))
        warn_of_unused_rules(f)
        self._tape = tape = new_tape()
        try:
            y, aux = _result(self._record(tape), has_aux, f)
            outputs, structure = flatten(y)
            check_outputs(f, outputs)
            self._nodes = [output._node if _belongs_to(output, tape) else None for output in outputs]
            self.value = unflatten(structure, [_handed_out(output, tape) for output in outputs])
            self.aux = tree_map(lambda leaf: _handed_out(leaf, tape), aux) if has_aux else None
        except ValueError as error:
            unmask(error)
            raise
        finally:
            tape.close()

    def _record(self, tape: Tape) -> Any:
        return self._f(*self._arguments.with_leaves([tape.leaf(x) for x in self._arguments.leaves]))

    def pull(self, cotangent: Any) -> tuple[Any, ...]:
        """The cotangents of the primals, from that of the value."""
        given = matching("the cotangent", cotangent, self.value, self._f)
        seeds = [
            (node, ybar)
            for node, ybar in zip(self._nodes, given, strict=True)
            if node is not None and not isinstance(ybar, AbstractZero)
        ]
        leaves = self._arguments.leaves
        try:
            bars = walk_back(self._tape, seeds, len(leaves), keep=True)
        except Exception as error:
            explain(error, len(self._tape), self._record)
            raise
        return self._arguments.tangents(_finished(bars, leaves, given))  # type: ignore[no-any-return]


def check_function(what: str, f: Any) -> None:
    """Raise where there is something else in the place of the function."""
    if not callable(f):
        raise TypeError(f"{what}({describe(f)}) got no function: write {what}(f)(x), with the function first")


def _result(result: Any, has_aux: bool, f: Any) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"{name_of(f)} was differentiated with has_aux=True and returned a {type(result).__name__}: return a pair, "
            "the output and what is handed through beside it"
        )
    return result


def _belongs_to(y: Any, tape: Any) -> bool:
    return isinstance(y, Tracer) and y._trace is tape


def _value(y: Any, trace: Any) -> Any:
    return y._value if isinstance(y, Tracer) and y._trace is trace else y


def _handed_out(y: Any, trace: Any) -> Any:
    """A result that its receiver may write to while the tape, which may have saved it, is still to be walked back."""
    if not _belongs_to(y, trace):
        return y
    value = y._value
    return value.copy(order="K") if type(value) is np.ndarray else snapshot(value)


def without_tracers(tree: Any, trace: Any) -> Any:
    """A tree with the values in the place of the tracers of a trace."""
    return tree_map(lambda leaf: _value(leaf, trace), tree)


def check_outputs(f: Any, outputs: list[Any]) -> None:
    """Raise where a function returned something in which values that are being differentiated would get away."""
    for y in outputs:
        if type(y) is np.ndarray or isinstance(y, Tracer) or has_tangent_space(y):
            if isinstance(y, np.ndarray) and y.dtype.kind == "O" and hides_numbers(y):
                raise TypeError(
                    f"{name_of(f)} was differentiated and returned an array of objects: return np.stack([...])"
                )
            continue
        if isinstance(y, Iterator):
            raise TypeError(
                f"{name_of(f)} was differentiated and returned a {type(y).__name__}, which would compute after the "
                "differentiation has ended: return a list or a tuple of what it gives, list(...)"
            )
        if hides_numbers(y):
            raise TypeError(
                f"{name_of(f)} was differentiated and returned a {type(y).__name__} with numbers in it, which are not "
                "seen there: return an array, or a tuple, list, dict or dataclass; what is only to be handed through "
                "goes into the second place with has_aux=True"
            )


def _check_loss(y: Any, f: Any, tape: Tape) -> None:
    if isinstance(y, Tracer) and y._trace is tape and type(y._value) is np.float64:  # the most frequent case
        return
    name = name_of(f)
    if not isinstance(y, Tracer) and not has_tangent_space(y):
        raise TypeError(
            f"the gradient of {name} was asked for, which returned {describe(y)} and not a real number{_hint(y)}"
        )
    if y.shape != () if hasattr(y, "shape") else False:
        raise TypeError(
            f"the gradient of {name} was asked for, which returned an array of shape {y.shape}: a gradient is that of "
            "a single number. Reduce the result (np.sum(...)), or ask for jacrev(f), jacfwd(f) or vjp(f, x)"
        )
    if not _belongs_to(y, tape):
        raise UnrelatedOutputError(
            f"the gradient of {name} was asked for, but its result does not depend on the arguments that are "
            "differentiated, or only through functions without a derivative (np.floor, np.argmax, comparisons, int): "
            "compute the result from the arguments, and name the right ones with argnums. If zero is what you want, "
            "add 0.0 * np.sum(x)"
        )
    if y.dtype.kind == "c":
        raise TypeError(
            f"the gradient of {name} was asked for, which returned a complex number: return a real one (np.abs(y), "
            "y.real), or ask for vjp(f, x)"
        )


def _hint(y: Any) -> str:
    """What to write instead of a loss of some type."""
    if y is None:
        return ": its return statement is missing"
    if inspect.isgenerator(y):
        return ": return the number, a yield makes the function a generator"
    if isinstance(y, tuple):
        return ": return the number alone, or pass has_aux=True if it is the first of a pair"
    if isinstance(y, (int, np.integer, np.bool_)) or getattr(getattr(y, "dtype", None), "kind", "") in ("i", "u", "b"):
        return ": integers and booleans, such as counts and comparisons give, have no derivative"
    return ": return a number computed with NumPy from the arguments"


def _finished(bars: list[Any], leaves: list[Any], given: Sequence[Any] = ()) -> list[Any]:
    """Cotangents as they are handed out: each of the form of its primal, in its own memory, zero where none arrived."""
    if not given and _are_finished(bars, leaves):
        return bars
    traces = _traces_of(given)
    finished: list[Any] = []
    owners = _Owners([*leaves, *given])
    for bar, leaf in zip(bars, leaves, strict=True):
        if type(bar) is np.ndarray and type(leaf) is np.ndarray and bar.dtype is leaf.dtype and bar.shape == leaf.shape:
            finished.append(owners.own(_lifted(bar, traces) if traces else bar))  # the most frequent case
            continue
        like = value_beneath(leaf)
        if bar is None:
            bar = np.zeros(like.shape, like.dtype) if type(like) is np.ndarray else zero_tangent(like)
        elif isinstance(bar, Tracer):
            bar = project_to(like)(bar)
            bar = bar if bar.dtype == like.dtype else bar.astype(like.dtype)
        else:
            bar = project_to(like)(bar)
        bar = _lifted(bar, traces | _traces_of((leaf,)) if isinstance(leaf, Tracer) else traces)
        finished.append(owners.own(bar))
    return finished


def _are_finished(bars: list[Any], leaves: list[Any]) -> bool:
    """Whether all are ordinary arrays with memory of their own, which most gradients are."""
    others: list[Any] = []
    for bar, leaf in zip(bars, leaves, strict=True):
        if type(bar) is type(leaf) is np.float64:
            continue
        if (
            type(bar) is not np.ndarray
            or type(leaf) is not np.ndarray
            or bar.dtype is not leaf.dtype
            or bar.shape != leaf.shape
            or bar.base is not None
            or not bar.flags.writeable
        ):
            return False
        others += (bar, leaf) if leaf.base is None else (bar, leaf, leaf.base)
    return len({id(x) for x in others}) == len(others)


class _Owners:
    """The memory that has been handed out, or belongs to somebody else; a gradient gets its own."""

    def __init__(self, taken: Sequence[Any]) -> None:
        self._taken = [x for x in taken if isinstance(x, (np.ndarray, Tracer))]  # held, so that no id is used again
        self._ids = {id(part) for x in self._taken for part in (x, getattr(x, "base", None)) if part is not None}

    def own(self, x: Any) -> Any:
        """``x``, or a copy of it where its memory is somebody else's."""
        if isinstance(x, Tracer):
            is_array = not isinstance(value_beneath(x), np.generic)
            if is_array and (id(x) in self._ids or isinstance(x, View)):
                x = apply(np.ndarray.copy, (x,))
        elif isinstance(x, np.ndarray):
            if id(x) in self._ids or id(x.base) in self._ids or _is_read_only(x):
                x = x.copy()
            elif x.base is not None:
                self._ids.add(id(x.base))
        else:
            return x
        self._ids.add(id(x))
        self._taken.append(x)
        return x


def _is_read_only(x: Any) -> bool:
    # To ask a view that np.broadcast_arrays made for its flags raises a warning.
    return not x.flags.writeable if x.base is None else x.__array_interface__["data"][1]


def _traces_of(xs: Sequence[Any]) -> dict[int, Any]:
    """The traces of some tracers by level, those of the tracers within them too."""
    traces: dict[int, Any] = {}
    for x in xs:
        while isinstance(x, Tracer):
            traces[x._trace.level] = x._trace
            x = x._value
    return traces


def _lifted(x: Any, traces: dict[int, Any]) -> Any:
    """A derivative as a tracer of each of the traces: where it is constant, its own derivative is zero."""
    own = x._trace.level if isinstance(x, Tracer) else -1
    for level in sorted(traces):
        if level > own:
            x = traces[level].constant(x)
    return x


def matching(what: str, tree: Any, like: Any, f: Any) -> list[Any]:
    """The leaves of a tree given by a user, which has to have the form and the shapes of another one."""
    leaves, structure = flatten(tree)
    expected, form = flatten(like)
    if structure != form:
        raise TypeError(
            f"{what} for {name_of(f)} has the form {form_of(structure)} and should have {form_of(form)}, where * is a "
            "number or an array: nest it as the value it belongs to"
        )
    found = []
    for i, (leaf, primal) in enumerate(zip(leaves, expected, strict=True)):
        leaf = unthunk(leaf)
        if isinstance(leaf, AbstractZero) or not has_tangent_space(primal):
            found.append(NoTangent())
            continue
        where = f"{what}{path_of(like, i)} for {name_of(f)}"
        _check_tangent(where, leaf, primal)
        leaf = project_to(value_beneath(primal))(leaf)
        found.append(as_scalar(leaf))
    return found


def _check_tangent(where: str, dx: Any, x: Any) -> None:
    """Raise where a tangent or a cotangent given by a user is none of its primal."""
    if not isinstance(dx, (numbers.Number, np.ndarray, np.generic)) and not has_tangent_space(dx):
        raise TypeError(f"{where} is {describe(dx)}: give a number or an array, as the value it belongs to is")
    if np.shape(dx) != np.shape(x):
        raise ValueError(
            f"{where} has the shape {np.shape(dx)} and should have {np.shape(x)}, that of the value it belongs to"
        )
    if np.iscomplexobj(dx) and not np.iscomplexobj(x):
        raise TypeError(
            f"{where} is complex, and the value it belongs to is real: give its real part, or pass a complex primal"
        )


# ---------------------------------------------------------------- forward mode


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of a function, and its derivative along a direction.

    Parameters
    ----------
    f : callable
        A function of ``primals``.
    primals : tuple
        Where to differentiate it; see `value_and_grad`.
    tangents : tuple
        The direction, of the form of ``primals``.
    has_aux : bool
        Whether ``f`` returns a pair: the output, and something else that is handed through.

    Returns
    -------
    y, dy : object
        The output and its derivative, of the same form.
    aux : object
        Only with ``has_aux``.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import jvp
    >>> jvp(np.sin, (0.0,), (2.0,))
    (np.float64(0.0), np.float64(2.0))
    """
    check_function("jvp", f)
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"jvp({name_of(f)}, ...) got {describe(given)} for its {what}: give a tuple, (x,) for one")
    if not primals:
        raise ValueError(f"the jvp of {name_of(f)} was asked for without an argument to differentiate it at: give some")
    arguments = Arguments(f"the jvp of {name_of(f)}", tuple(primals), range(len(primals)))
    given = arguments.directions(tangents, f)
    warn_of_unused_rules(f)
    trace = Dual()
    try:
        traced = [trace.tracer(x, dx) for x, dx in zip(arguments.leaves, given, strict=True)]
        y, aux = _result(f(*arguments.with_leaves(traced)), has_aux, f)
        outputs, structure = flatten(y)
        check_outputs(f, outputs)
        values = [_value(output, trace) for output in outputs]
        owners = _Owners([*arguments.leaves, *given, *values])
        traces = _traces_of(given)
        parts = [owners.own(_tangent(y, value, trace, traces)) for y, value in zip(outputs, values, strict=True)]
        aux = without_tracers(aux, trace) if has_aux else None
    except ValueError as error:
        unmask(error)
        raise
    finally:
        trace.__class__ = _ClosedDual
    pair = unflatten(structure, values), unflatten(structure, parts)
    return (*pair, aux) if has_aux else pair


class _ClosedDual(Dual):
    """The trace of a differentiation in forward mode that has ended."""

    __slots__ = ()

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise LeakedTracerError(LEAKED)

    def constant(self, value: Any) -> Any:
        raise LeakedTracerError(LEAKED)


def _tangent(y: Any, value: Any, trace: Dual, traces: dict[int, Any]) -> Any:
    """The tangent of an output, as it is handed out."""
    like = value_beneath(value)
    if not has_tangent_space(like):
        return NoTangent()
    dy = y._node if _belongs_to(y, trace) else NoTangent()
    if isinstance(dy, NotImplementedTangent):
        dy.fail()
    dy = zero_tangent(as_scalar(like)) if isinstance(dy, AbstractZero) else project_to(like)(dy)
    if isinstance(dy, Tracer) and dy.dtype != like.dtype:  # a projection leaves other arrays than NumPy's as they are
        dy = apply(np.ndarray.astype, (dy, like.dtype))
    return _lifted(dy, traces | _traces_of((value,)))


def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of a function, and its derivative as a linear function of the direction.

    Parameters
    ----------
    f : callable
        A function of ``primals``.
    *primals
        Where to differentiate it; see `value_and_grad`.

    Returns
    -------
    y : object
        The output.
    f_jvp : callable
        From one tangent per primal to the tangent of the output. ``f`` is not called again.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import linearize
    >>> y, f_jvp = linearize(np.sin, 0.0)
    >>> f_jvp(2.0)
    np.float64(2.0)
    """
    check_function("linearize", f)
    what = f"the derivative of {name_of(f)}"
    recording = Recording(what, f, primals, False)
    arguments = Arguments(what, primals, range(len(primals)))
    outputs, structure = flatten(recording.value)
    active = [i for i, output in enumerate(outputs) if has_tangent_space(output)]
    leaves = [as_scalar(outputs[i]) for i in active]

    def record(tape: Tape, recording: Recording) -> list[Any]:
        """What the pullback does to a cotangent, whose transpose is the derivative."""
        ybar: list[Any] = [NoTangent()] * len(outputs)
        for i, leaf in zip(active, leaves, strict=True):
            ybar[i] = tape.leaf(zero_tangent(value_beneath(leaf)))
        cotangents = recording.pull(unflatten(structure, ybar))
        return [bar for tree in cotangents for bar in flatten(tree)[0] if not isinstance(bar, AbstractZero)]

    def record_again(tape: Tape) -> None:
        record(tape, Recording(what, f, primals, False))

    tape = new_tape()
    try:
        traced = record(tape, recording)
        nodes = [bar._node if _belongs_to(bar, tape) else None for bar in traced]
    finally:
        tape.close()

    def f_jvp(*tangents: Any) -> Any:
        given = arguments.directions(tangents, f)
        seeds = [
            (node, dx)
            for node, dx in zip(nodes, given, strict=True)
            if node is not None and not isinstance(dx, AbstractZero)
        ]
        try:
            bars = walk_back(tape, seeds, len(leaves), keep=True)
        except Exception as error:
            explain(error, len(tape), record_again)
            raise
        dy: list[Any] = [NoTangent()] * len(outputs)
        for i, bar in zip(active, _finished(bars, leaves, given), strict=True):
            dy[i] = bar
        return unflatten(structure, dy)

    return recording.value, f_jvp
