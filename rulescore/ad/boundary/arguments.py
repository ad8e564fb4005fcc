"""What a caller hands in: the arguments of a function, their leaves and what is none; tangents and cotangents."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import describe
from rulescore.ad.numpy_protocols.operands import is_refused
from rulescore.ad.tracing.tracers import frozen, value_beneath
from rulescore.ad.values.trees import LEAF, flatten, form_of, hides_numbers, is_exotic, is_integral, path_of, unflatten
from rulescore.tables.names import name_of
from rulescore.tangents.kinds import is_a
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space
from rulescore.tangents.sparsity import is_sparse
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent

Argnums = int | Sequence[int]


class Arguments:
    """The arguments of a function, of which some are differentiated: the numbers and arrays that are its ``leaves``."""

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
            self.leaves += [frozen(as_scalar(leaves[i])) for i in active]

    def with_leaves(self, new: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments with others in the place of the leaves."""
        if self._are_leaves and len(self.args) == 1:  # the most frequent case
            return tuple(new)
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
            part = new[start:end]
            if end - start < len(leaves):
                part = with_items(leaves if filling is None else [filling] * len(leaves), active, part)
            trees.append(unflatten(structure, part))
            start = end
        return trees


def with_items(items: Sequence[Any], positions: Iterable[int], new: Iterable[Any]) -> list[Any]:
    """A list of some items, with others at some of the positions."""
    found = list(items)
    for i, x in zip(positions, new, strict=True):
        found[i] = x
    return found


def function_of(f: Callable[..., Any], items: Sequence[Any], positions: Sequence[int]) -> Callable[..., Any]:
    """``f`` as a function of the arguments at some positions, with the others as they are."""

    def of_some(*some: Any) -> Any:
        return f(*with_items(items, positions, some))

    return of_some


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


def check_differentiated(what: str, f: Any, argnums: Any = 0) -> None:
    """Raise where what is to be differentiated is no function, or ``argnums`` neither an integer nor several."""
    if not callable(f):
        raise TypeError(f"{what}({describe(f)}) got no function: write {what}(f)(x), with the function first")
    if type(argnums) is int:
        return
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


def check_primals(what: str, f: Any, primals: Any, tangents: Any) -> None:
    """Raise where primals and tangents do not come in tuples."""
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(
                f"{what}({name_of(f)}, ...) got {describe(given)} for its {name}: give a tuple, (x,) for one"
            )


def _check_leaves(what: str, tree: Any, position: int, leaves: list[Any], active: list[int]) -> None:
    for i, leaf in enumerate(leaves):
        problem = None if _is_usual(leaf) else _problem_of_leaf(leaf)
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
        if is_a(leaf, np.ndarray):
            return "a structured array has no derivative. Pass a dict of its fields, {name: x[name] for name in names}"
        return "only floats, complex numbers and arrays of them are differentiated. Pass float(x)"
    if not has_tangent_space(leaf) and hides_numbers(leaf):
        what = "an array of objects" if is_a(leaf, np.ndarray) else f"a {type(leaf).__name__}"
        return (
            f"there are numbers in it, and what is within {what} is not seen. Pass an array, or a tuple, list, dict or "
            'dataclass (a field with metadata={"static": True} is held constant), register its class with '
            'optree.register_pytree_node(..., namespace="rulescore"), or leave it out (argnums, or a closure)'
        )
    return None


# ---------------------------------------------------------------- tangents and cotangents


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
        check_tangent(f"{what}{path_of(like, i)} for {name_of(f)}", leaf, primal)
        found.append(as_scalar(project_to(value_beneath(primal))(leaf)))
    return found


def check_tangent(where: str, dx: Any, x: Any) -> None:
    """Raise where a tangent or a cotangent given by a user is none of its primal."""
    if not is_a(dx, (numbers.Number, np.ndarray, np.generic)) and not has_tangent_space(dx):
        raise TypeError(f"{where} is {describe(dx)}: give a number or an array, as the value it belongs to is")
    if np.shape(dx) != np.shape(x):
        raise ValueError(
            f"{where} has the shape {np.shape(dx)} and should have {np.shape(x)}, that of the value it belongs to"
        )
    if np.iscomplexobj(dx) and not np.iscomplexobj(x):
        raise TypeError(
            f"{where} is complex, and the value it belongs to is real: give its real part, or pass a complex primal"
        )
