"""Objects by their fields, as rules know them: what a rule returns, and whole functions with what they hold.

Unlike trees (`trees`), which are containers that somebody declares to be such, any object with attributes has a
skeleton, and its tangent is a structural one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from rulescore.tangents.spaces import has_tangent_space
from rulescore.tangents.structural import Tangent
from rulescore.tangents.structure import rebuild, structure_of, tuple_of
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


class Skeleton(NamedTuple):
    """The fields of an object without what they hold, so that nothing is kept alive.

    The bones are pairs of a field and the skeleton of what it holds, which is None for a leaf.
    """

    cls: type
    bones: tuple[tuple[Any, Any], ...]


def taken_apart(
    x: Any, is_opened: Callable[[Any], bool] = lambda part: True, around: tuple[int, ...] = ()
) -> tuple[Skeleton | None, list[Any]]:
    """The skeleton of an object, with those of its fields that are opened, and its leaves; no skeleton for a leaf.

    What an object holds of the objects ``around`` it, as itself, is a leaf. Thunks are computed.
    """
    x = unthunk(x)
    fields = None if has_tangent_space(x) else x.fields if isinstance(x, Tangent) else structure_of(x)
    if not fields:
        return None, [x]
    bones: list[Any] = []
    leaves: list[Any] = []
    for key, part in fields.items():
        is_leaf = not is_opened(part) or (around and id(part) in around) or part is x
        inner, within = (None, [part]) if is_leaf else taken_apart(part, is_opened, (*around, id(x)))
        bones.append((key, inner))
        leaves += within
    return Skeleton(type(x), tuple(bones)), leaves


def tangents_in(dx: Any, skeleton: Skeleton | None, forced: Callable[[Any], Any] = unthunk) -> list[Any]:
    """The tangents of the leaves, ``forced``, in that of an object; zeros where it says nothing of them."""
    dx = forced(dx)
    if skeleton is None:
        return [dx]
    if isinstance(dx, AbstractZero):
        parts = [dx] * len(skeleton.bones)
    elif isinstance(dx, Tangent):
        parts = [dx.fields.get(key, _ZERO_TANGENT) for key, _ in skeleton.bones]
        unknown = dx.fields.keys() - {key for key, _ in skeleton.bones}
        if unknown and (lost := [key for key in unknown if not isinstance(unthunk(dx.fields[key]), AbstractZero)]):
            raise TypeError(
                f"a tangent with the field {lost[0]!r} does not fit the type {skeleton.cls.__name__}, "
                f"whose fields with a derivative are {[key for key, _ in skeleton.bones]}"
            )
    else:
        parts = list(dx.values()) if isinstance(dx, dict) else list(dx)
    both = zip(parts, skeleton.bones, strict=True)
    return [leaf for part, (_, inner) in both for leaf in tangents_in(part, inner, forced)]


def with_leaves(x: Any, skeleton: Skeleton | None, leaves: Iterable[Any]) -> Any:
    """An object like ``x`` with others in the places of the leaves."""
    leaves = iter(leaves)  # which all parts take from
    if skeleton is None:
        return next(leaves)
    fields = structure_of(x) or {}
    parts = {k: next(leaves) if inner is None else with_leaves(fields[k], inner, leaves) for k, inner in skeleton.bones}
    return rebuild(x, parts)


def tangent_of(skeleton: Skeleton | None, leaves: Iterable[Any]) -> Any:
    """The cotangent of an object from those of its leaves, as rules get it: a tuple of the same kind of a tuple, which
    they may take apart or ask for its fields; else structural.
    """
    leaves = iter(leaves)
    if skeleton is None:
        return next(leaves)
    parts = {key: next(leaves) if inner is None else tangent_of(inner, leaves) for key, inner in skeleton.bones}
    for part in parts.values():
        if part is not _NO_TANGENT:
            is_tuple = issubclass(skeleton.cls, tuple)
            return tuple_of(skeleton.cls, parts.values()) if is_tuple else Tangent.from_fields(skeleton.cls, parts)
    return _NO_TANGENT
