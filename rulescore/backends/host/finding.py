"""Which call it is: the one `HostCall` for each form of arguments, found as fast as can be."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from rulescore.ad.messages.errors import describe
from rulescore.backends.host.calls import Declared, HostCall
from rulescore.backends.host.functions import Arrays
from rulescore.tables.names import name_of

_NO_KEYWORDS: dict[str, Any] = {}


class Calls:
    """The calls of one function: a `HostCall` for each form of its arguments and for what is fixed in them.

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
    declared : Declared, optional
        What the function returns, for who wants to know without calling it.

    Attributes
    ----------
    plain : dict
        The calls of arrays alone that have been found before, by their number.
    kept : set
        Calls that live as long as this; of all others those that were found longest ago may be forgotten.

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
        declared: Declared | None = None,
    ) -> None:
        if not callable(f):
            raise TypeError(f"{what}({describe(f)}) got no function: pass one, {what}(f)(x)")
        if vmap_method not in ("sequential", "broadcast_all"):
            raise ValueError(f"{what}: vmap_method={vmap_method!r}: write 'sequential' or 'broadcast_all'")
        self._what, self._f, self._array_types = what, f, array_types
        self._flatten, self._unflatten = flatten, unflatten
        self._takes_batches, self._declared = vmap_method == "broadcast_all", declared
        self._known: dict[Any, HostCall] = {}
        self.plain: dict[int, HostCall] = {}
        self.kept: set[HostCall] = set()
        # By the identity of all other arguments, where nobody can change them; beside these, which keeps it theirs.
        self._by_identity: dict[Any, tuple[HostCall, Any]] = {}
        # Of arrays and then other arguments: the call, the number of arrays, and the others.
        self._latest: tuple[HostCall | None, int, tuple[Any, ...]] = None, 0, ()

    def find_known(
        self, args: tuple[Any, ...], kwargs: dict[str, Any] = _NO_KEYWORDS
    ) -> tuple[HostCall, Sequence[Any]] | None:
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

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[HostCall, Sequence[Any]]:
        """The `HostCall` of these arguments, and the arrays in them."""
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
    ) -> HostCall:
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

        return HostCall(
            self._f,
            arguments,
            self._flatten,
            tuple(positions) if are_positional else None,
            self._takes_batches,
            args[len(positions) :] if come_first else None,
            self._declared,
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
