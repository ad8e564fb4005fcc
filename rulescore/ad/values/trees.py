"""Arguments and results as trees: nested tuples, lists, dicts and dataclasses with numbers and arrays at their leaves.

Trees are those of `optree`, in the namespace ``"rulescore"``. A dataclass is a tree whose children are the fields with
numbers to differentiate in them; its other fields stay as they are.
"""

from __future__ import annotations

import dataclasses
import functools
import numbers
import threading
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import optree

from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.kinds import is_a
from rulescore.tangents.spaces import has_tangent_space
from rulescore.tangents.structure import structure_of

NAMESPACE = "rulescore"
_lock = threading.Lock()
_dataclasses: set[type] = set()


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a tree, and its structure."""
    kind = type(tree)
    # The most frequent trees; that a class has no attribute takes long to find out.
    if kind in _LEAF_TYPES or (kind not in _CONTAINERS and hasattr(kind, "__rule_type__")):
        return [tree], LEAF
    leaves, structure = optree.tree_flatten(tree, namespace=NAMESPACE)
    if _LEAF_TYPES.issuperset(map(type, leaves)):
        return leaves, structure
    classes = {type(leaf) for leaf in leaves if type(leaf) not in _LEAF_TYPES and _is_dataclass(leaf)}
    if classes:  # met for the first time, here or in another thread that has registered it meanwhile
        with _lock:
            for cls in classes - _dataclasses:
                flattener, rebuilder = _dataclass_flattener(cls), functools.partial(_rebuilt, cls)
                optree.register_pytree_node(
                    cls, flattener, rebuilder, path_entry_type=optree.GetAttrEntry, namespace=NAMESPACE
                )
                _dataclasses.add(cls)
        return flatten(tree)
    return leaves, structure


LEAF = optree.tree_structure(0, namespace=NAMESPACE)
"""The structure of what is a leaf itself."""


_LEAF_TYPES = frozenset({np.ndarray, float, np.float64, complex})
_CONTAINERS = frozenset({tuple, list, dict})


def unflatten(structure: Any, leaves: Iterable[Any]) -> Any:
    """The tree of a structure with other leaves."""
    if structure is LEAF:
        (leaf,) = leaves
        return leaf
    return optree.tree_unflatten(structure, leaves)


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with a function applied to its leaves."""
    leaves, structure = flatten(tree)
    return unflatten(structure, map(function, leaves))


def path_of(tree: Any, position: int) -> str:
    """Where a leaf is in a tree, as one would write it: ``['w'][0].scale``."""
    if is_a(tree, np.ndarray) or hasattr(type(tree), "__rule_type__"):
        return ""
    accessor = optree.tree_accessors(tree, namespace=NAMESPACE)[position]
    return str(accessor.codify(""))


def form_of(structure: Any) -> str:
    """A structure as error messages show it: ``{'w': *, 'b': *}``."""
    return str(structure).removeprefix("PyTreeSpec(").removesuffix(f", namespace='{NAMESPACE}')").removesuffix(")")


# ---------------------------------------------------------------- dataclasses


def _is_dataclass(leaf: Any) -> bool:
    return (
        dataclasses.is_dataclass(leaf) and not isinstance(leaf, (type, AbstractTangent)) and not has_tangent_space(leaf)
    )


@dataclasses.dataclass(frozen=True, repr=False)
class _Static:
    """What a dataclass holds beside its children: fields that stay as they are, and attributes that are no fields."""

    # Of two dataclasses with the same children, what else they hold is none of the tree's business.
    attributes: dict[str, Any] = dataclasses.field(compare=False)
    names: tuple[str, ...]

    def __repr__(self) -> str:
        return ", ".join(self.names)


def _dataclass_flattener(cls: type) -> Callable[[Any], tuple[list[Any], _Static, tuple[str, ...]]]:
    fields = dataclasses.fields(cls)
    names = tuple(field.name for field in fields)
    fixed = {
        field.name
        for field in fields
        if field.metadata.get("static", False) or not field.metadata.get("pytree_node", True)
    }
    real = {field.name for field in fields if field.type in (float, complex, "float", "complex")} - fixed

    def flatten_dataclass(x: Any) -> tuple[list[Any], _Static, tuple[str, ...]]:
        held = {name: getattr(x, name) for name in names if hasattr(x, name)}
        # A field declared a float is one whatever it holds: an integer there is a mistake to be told.
        children = tuple(k for k, v in held.items() if k in real or (k not in fixed and _has_numbers(v)))
        static = {name: value for name, value in held.items() if name not in children}
        # Other attributes are kept but for those made of numbers, such as what a cached_property remembers: these may
        # have been computed from the children, and have to be computed again.
        others = {k: v for k, v in getattr(x, "__dict__", {}).items() if k not in held and not _has_numbers(v)}
        return [held[name] for name in children], _Static(static | others, children), children

    return flatten_dataclass


def _rebuilt(cls: type, static: _Static, children: Iterable[Any]) -> Any:
    x: Any = object.__new__(cls)
    for name, value in {**static.attributes, **dict(zip(static.names, children, strict=True))}.items():
        object.__setattr__(x, name, value)  # frozen dataclasses refuse the ordinary way
    return x


def _has_numbers(x: Any) -> bool:
    leaves, _ = flatten(x)
    return any(
        has_tangent_space(leaf) or isinstance(leaf, AbstractTangent) or is_exotic(leaf) or hides_numbers(leaf)
        for leaf in leaves
    )


# ---------------------------------------------------------------- lists, tuples and dicts alone

# The arguments of a call are no trees of the user's: a dataclass among them is one value to the function that gets it.


def leaves_of(x: Any) -> list[Any]:
    """The leaves of nested lists, tuples and dicts."""
    return optree.tree_leaves(x)  # type: ignore[no-any-return]


def map_containers(function: Callable[[Any], Any], x: Any) -> Any:
    """Nested lists, tuples and dicts with a function applied to their leaves."""
    return optree.tree_map(function, x)


def is_integral(leaf: Any) -> bool:
    """Whether a leaf is a number or array of integers or booleans, which has no derivative."""
    if isinstance(leaf, (bool, int)):
        return True
    stands_for = getattr(type(leaf), "__rule_type__", type(leaf))
    return issubclass(stands_for, (np.ndarray, np.generic)) and leaf.dtype.kind in "iub"


def is_exotic(leaf: Any) -> bool:
    """Whether a leaf is a real number, or an array of such, but of a kind that is not differentiated."""
    if is_a(leaf, np.ndarray):
        return leaf.dtype.names is not None
    return is_a(leaf, numbers.Number) and not has_tangent_space(leaf) and not is_integral(leaf)


def hides_numbers(leaf: Any, depth: int = 3) -> bool:
    """Whether a leaf that is no number is an object with floats or tracers in it, which a tree does not reach."""
    items: Iterable[Any]
    if is_a(leaf, np.ndarray):
        items = leaf.flat if leaf.dtype.kind == "O" else ()
    elif depth == 0 or isinstance(leaf, (AbstractTangent, types.ModuleType, type)):
        return False
    elif isinstance(leaf, (set, frozenset)):
        items = leaf
    else:
        try:
            parts = structure_of(leaf)
        except (TypeError, AttributeError):  # an object that says nothing of what it holds
            return False
        if parts is None:  # of an array of another package too, which may have been made of tracers
            parts = {name: x for name, x in getattr(leaf, "__dict__", {}).items() if hasattr(type(x), "__rule_type__")}
        items = parts.values()
    return any(has_tangent_space(item) or hides_numbers(item, depth - 1) for item in items)
