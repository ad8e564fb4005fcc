"""Batches: many values of one shape carried through a computation at once, by tracers that hide the batch's axis.

A `BatchTracer` holds an array with the batch in axis 0 and passes for one element of it. The derivatives in many
directions are had with it in one pass: a batch of directions goes through a pushforward or a pullback as one direction
would. What a function makes of a batch its batching rule says (`table`); where there is none, the function is
called once for each element.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Any

import numpy as np

from rulescore.ad.batches import functions, indexing  # noqa: F401  (these register)
from rulescore.ad.batches.indexing import BatchedIndex
from rulescore.ad.batches.table import FACTS, as_array, is_batched, ndim_of, padded
from rulescore.ad.in_place.tracer import WritableTracer
from rulescore.ad.messages.errors import TracerConversionError, full_name
from rulescore.ad.numpy_protocols.array_makers import SPECIAL
from rulescore.ad.tracing.tracers import Trace, Tracer, new_level, top_trace, value_beneath
from rulescore.ad.values.trees import flatten_containers, map_containers, unflatten
from rulescore.tables.batching import batching


class Batch(Trace):
    """Values that take the place of one: ``size`` of them, at least one."""

    __slots__ = ("kind", "level", "size")

    def __init__(self, size: int) -> None:
        self.level = new_level()
        self.size = size
        self.kind = BatchTracer

    def __repr__(self) -> str:
        return f"<Batch of level {self.level}: {self.size} values>"

    def constant(self, value: Any) -> Any:
        """A tracer of a value that is the same throughout the batch."""
        return self.tracer(self.values(value))

    def values(self, x: Any) -> Any:
        """What ``x`` stands for: its values along axis 0 if it is a tracer of this batch, else copies of it."""
        if is_batched(self, x):
            return x._value
        x = x if isinstance(x, Tracer) else np.asarray(x)
        copies = np.broadcast_to(x, (self.size, *x.shape))
        return copies if isinstance(copies, Tracer) else copies.copy()

    def place(self, index: Any, ndim: int) -> BatchedIndex | None:
        """An index of elements with so many dimensions in the array that holds the batch; None where it is unknown."""
        return BatchedIndex.of(index, ndim) if top_trace((index,)) is None else None

    def assignable(self, place: BatchedIndex, value: Any) -> Any:
        """A value as it can be assigned to a place in the array that holds the batch, or NotImplemented."""
        ndim = ndim_of(value)
        if ndim > place.ndim:  # NumPy drops leading axes of length 1
            return NotImplemented
        if is_batched(self, value):
            return place.as_result(padded(value, place.ndim))
        if place.place == 0 or ndim == 0:
            return value
        return place.as_result(as_array(value)[(None, *[None] * (place.ndim - ndim))])

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``f`` by its batching rule; without one, once for each element of the batch."""
        if kwargs.get("out") is not None:
            raise TracerConversionError(
                f"{full_name(f)} was about to write a batch of values into an array with room for one: write it "
                "without out="
            )
        if isinstance(f, Hashable) and f in FACTS:
            return FACTS[f](*args, **kwargs)
        rule = batching.rule_for(f)
        values = NotImplemented if rule is None else rule(self, f, args, kwargs)
        if values is NotImplemented:
            return self._one_by_one(f, args, kwargs)
        return map_containers(self.tracer, values) if isinstance(values, (list, tuple)) else self.tracer(values)

    def _one_by_one(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What ``f`` gives for each element of the batch, joined leaf by leaf."""

        def result_for(i: int) -> Any:
            its_args, its_kwargs = map_containers(lambda x: x._value[i] if is_batched(self, x) else x, (args, kwargs))
            return flatten_containers(f(*its_args, **its_kwargs))

        _, leaves, structures = zip(*map(result_for, range(self.size)), strict=True)
        if any(other != structures[0] for other in structures):
            raise _differing(f)
        return unflatten(structures[0], [self._joined(f, results) for results in zip(*leaves, strict=True)])

    def _joined(self, f: Any, results: tuple[Any, ...]) -> Any:
        """One result in the place of those for each element of the batch."""
        first = results[0]
        if isinstance(first, (np.ndarray, np.generic, Tracer, float, complex)):
            if any(np.shape(result) != np.shape(first) for result in results):
                raise _differing(f)
            return self.tracer(np.stack(results))
        if all(type(result) is type(first) and result == first for result in results):
            return first
        if all(isinstance(result, int) for result in results):
            return self.tracer(np.array(results))
        raise _differing(f)


_LEFT_TO_TRACERS = frozenset(
    {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}
    | {np.array2string, np.array_repr, np.array_str, np.save, np.savez, np.savez_compressed, np.savetxt}
)
"""What writes somewhere, which assigns to tracers or is refused for them."""


def _differing(f: Any) -> TracerConversionError:
    return TracerConversionError(
        f"{full_name(f)} gives something of another shape or kind for each value of a batch, which cannot be carried "
        "on together: take the values one after the other"
    )


class BatchTracer(WritableTracer):
    """A batch that passes for one of its elements: it hides axis 0 of its value."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method in ("reduce", "accumulate", "reduceat"):
            return self._call(getattr(ufunc, method), inputs, kwargs)
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func not in SPECIAL or func in _LEFT_TO_TRACERS:
            return super().__array_function__(func, types, args, kwargs)
        # What makes arrays of other tracers looks at the values beneath; here it makes one for each element.
        if top_trace(args, kwargs.values()) is None:  # NumPy has taken `like` out of the arguments
            return self._trace.constant(func(*args, **kwargs))
        return self._call(func, args, kwargs)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._value.shape[1:]  # type: ignore[no-any-return]

    shape = shape.setter(WritableTracer._set_shape)  # type: ignore[attr-defined]

    @property
    def ndim(self) -> int:
        return self._value.ndim - 1  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        return self._value.size // self._trace.size  # type: ignore[no-any-return]

    @property
    def strides(self) -> Any:
        return self._value.strides[1:]

    @property
    def flags(self) -> Any:
        return self._value[0].flags

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def may_be_view(self, call: Any) -> bool:
        # What stands for one number, taken out of an array, is none; a view without axes is had with an Ellipsis.
        if self.ndim or call.f is not operator.getitem:
            return True
        index = call.args[1]
        return index is Ellipsis or (isinstance(index, tuple) and any(entry is Ellipsis for entry in index))

    def _number(self) -> Any:  # where it is the same throughout the batch
        values = np.asarray(value_beneath(self._value))
        if not np.all(values == values[0]):
            raise TracerConversionError(
                f"{self._described()} stands for {len(values)} values and was about to become one Python number or "
                "truth value, which would have to be another one for each: use np.where instead of branching"
            )
        return values[0]

    def _described(self) -> str:
        return f"a batch of values ({self.dtype}{list(self.shape) if self.shape else ''}, {self._trace.size} of them)"
