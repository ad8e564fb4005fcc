"""Batches: many values of one shape carried through a computation at once, by tracers that hide the batch's axis.

A `BatchTracer` holds an array with the batch in axis 0 and passes for one element of it. The derivatives in many
directions are had with it in one pass: a batch of directions goes through a pushforward or a pullback as one direction
would. What a function makes of a batch its batching rule says (`functions`); where there is none, the function is
called once for each element.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from rulescore.ad.batches import functions  # noqa: F401  (it registers)
from rulescore.ad.batches.axes import BatchedIndex, as_array, ndim_of, padded
from rulescore.ad.engine.unreached import has_nan
from rulescore.ad.in_place.tracer import WritableTracer
from rulescore.ad.messages.errors import TracerConversionError, full_name
from rulescore.ad.numpy_protocols.array_makers import SPECIAL
from rulescore.ad.tracing.calls import has_parts, map_tracers
from rulescore.ad.tracing.tracers import Trace, Tracer, belongs_to, new_level, top_trace, value_beneath
from rulescore.ad.values.skeletons import taken_apart, with_leaves
from rulescore.ad.values.trees import map_containers
from rulescore.tables.batching import batching
from rulescore.tangents.kinds import is_a
from rulescore.tangents.masked import follows_all
from rulescore.tangents.zero import AbstractZero, ZeroTangent


class Batch(Trace):
    """Values that take the place of one: ``size`` of them, at least one."""

    __slots__ = ("kind", "level", "size")
    differentiates = False

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
        if belongs_to(x, self):
            return x._value
        x = x if isinstance(x, Tracer) else np.asarray(x)
        copies = np.broadcast_to(x, (self.size, *x.shape))
        return copies if isinstance(copies, Tracer) else copies.copy()

    def assigned(self, index: Any, ndim: int, value: Any) -> tuple[Any, Any] | None:
        """An index of one element, with so many dimensions, and a value to assign there, in the array of the batch.

        None for an index that cannot be moved there.
        """
        place = BatchedIndex.of(index, ndim) if top_trace((index,)) is None else None
        if place is None or ndim_of(value) > place.ndim:  # NumPy drops leading axes of length 1
            return None
        if belongs_to(value, self):
            value = place.as_result(padded(value, place.ndim))
        elif place.place and ndim_of(value):
            value = place.as_result(as_array(value)[(None, *[None] * (place.ndim - ndim_of(value)))])
        return place.entries, value

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``f`` by its batching rule; without one, once for each element of the batch."""
        if kwargs.get("out") is not None:
            raise TracerConversionError(
                f"{full_name(f)} was about to write a batch of values into an array with room for one: write it "
                "without out="
            )
        if isinstance(f, Hashable) and f in _FACTS:
            return _FACTS[f](*args, **kwargs)
        rule = batching.rule_for(f)
        values = NotImplemented if rule is None else rule(self, f, args, kwargs)
        if values is NotImplemented:
            return self._one_by_one(f, args, kwargs)
        return map_containers(self.tracer, values) if isinstance(values, (list, tuple)) else self.tracer(values)

    def _one_by_one(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What ``f`` gives for each element of the batch, joined leaf by leaf."""

        def result_for(i: int) -> Any:
            its_args, its_kwargs = map_tracers(lambda x: x._value[i] if belongs_to(x, self) else x, (args, kwargs))
            y = f(*its_args, **its_kwargs)
            return y, *taken_apart(y, has_parts)

        results, skeletons, leaves = zip(*map(result_for, range(self.size)), strict=True)
        alike = all(other == skeletons[0] for other in skeletons)
        joined = [self._joined(results) for results in zip(*leaves, strict=True)] if alike else [NotImplemented]
        if any(y is NotImplemented for y in joined):
            raise TracerConversionError(
                f"{full_name(f)} gives something of another shape or kind for each value of a batch, which cannot be "
                "carried on together: take the values one after the other"
            )
        return with_leaves(results[0], skeletons[0], joined)

    def _joined(self, results: tuple[Any, ...]) -> Any:
        """One result in the place of those for each element of the batch; NotImplemented where they are not alike."""
        first = results[0]
        if isinstance(first, (np.ndarray, np.generic, Tracer, float, complex)):
            alike = all(np.shape(result) == np.shape(first) for result in results)
            return self.tracer(np.stack(results)) if alike else NotImplemented
        if all(type(result) is type(first) and result == first for result in results):
            return first
        return self.tracer(np.array(results)) if all(isinstance(y, int) for y in results) else NotImplemented


_FACTS: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: (
        a.size if axis is None else math.prod(a.shape[i] for i in (axis if isinstance(axis, tuple) else (axis,)))
    ),
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.result_type: lambda *xs: np.result_type(*[x.dtype if isinstance(x, Tracer) else x for x in xs]),
}
"""What is known of a batch without looking at its values."""

_LEFT_TO_TRACERS = frozenset(
    {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}
    | {np.array2string, np.array_repr, np.array_str, np.save, np.savez, np.savez_compressed, np.savetxt}
)
"""What writes somewhere, which assigns to tracers or is refused for them."""


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

    shape = property(lambda self: self._value.shape[1:], WritableTracer._set_shape)
    ndim = property(lambda self: self._value.ndim - 1)
    size = property(lambda self: self._value.size // self._trace.size)
    nbytes = property(lambda self: self.size * self.itemsize)
    strides = property(lambda self: self._value.strides[1:])
    flags = property(lambda self: self._value[0].flags)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def may_be_view(self, call: Any) -> bool:
        # What stands for one number, taken out of an array, is none; a view without axes is had with an Ellipsis.
        if self.ndim or call.f is not operator.getitem:
            return True
        index = call.args[1]
        return index is Ellipsis or (isinstance(index, tuple) and any(entry is Ellipsis for entry in index))

    def _number(self) -> Any:
        """The value, where it is the same throughout the batch."""
        values = np.asarray(value_beneath(self._value))
        if not np.all(values == values[0]):
            raise TracerConversionError(
                f"{self._described()} stands for {len(values)} values and was about to become one Python number or "
                "truth value, which would have to be another one for each: use np.where instead of branching"
            )
        return values[0]

    def _described(self) -> str:
        return f"a batch of values ({self.dtype}{list(self.shape) if self.shape else ''}, {self._trace.size} of them)"


# ---------------------------------------------------------------- many directions at once: unit vectors in few passes

BATCH_ELEMENTS = 2**18
"""How many numbers a batch of directions may hold: more directions are taken in several passes.

Every intermediate result of a pass is held for all its directions at once. This many (2 MiB of float64) keep most of
them within a processor's cache, and the overhead of an operation is small beside its work long before.
"""


def images_of_unit_vectors(linear_map: Callable[[list[Any]], Any], sources: list[Any]) -> list[list[Any]]:
    """What a linear map makes of the unit vectors.

    It maps one direction per source, of which some may be `ZeroTangent`, to a sequence of images. The sources are
    numbers and arrays of the shape and dtype of the directions, and ``images[k][j]`` has the shape
    ``(sources[k].size, *shape of image j)``.
    """
    apply = _applied_to_many(linear_map, all(is_a(value_beneath(x), (np.ndarray, np.generic)) for x in sources))
    if len(sources) > 1 and not any(isinstance(x, Tracer) for x in sources):
        images = _images(apply, sources, range(len(sources)))
        if all(type(image) is np.ndarray and not np.isnan(image).any() for image in itertools.chain(*images)):
            return images
    # A unit vector in one source is zero in the others: there it is a strong zero only if it is not in the batch, and
    # no NaN, where the derivative is infinite.
    return [images for k in range(len(sources)) for images in _images(apply, sources, (k,))]


def _images(apply: Callable[..., list[Any]], sources: list[Any], members: Sequence[int]) -> list[list[Any]]:
    """The images of the unit vectors in some of the sources."""
    sizes = [sources[k].size for k in members]
    bounds = list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))
    total = largest = max(1, sum(sizes))  # of sources without elements zero is mapped, to know the shapes
    passes: list[list[Any]] = []
    start = 0
    while start < total:
        stop = min(total, start + max(1, BATCH_ELEMENTS // largest))
        directions: list[Any] = [ZeroTangent()] * len(sources)
        for k, (first, last) in zip(members, bounds, strict=True):
            if (first < stop and start < last) or not any(sizes):
                rows = np.eye(stop - start, last - first, start - first, sources[k].dtype)
                directions[k] = rows.reshape(stop - start, *sources[k].shape)
        passes.append(apply(directions, stop - start))
        largest = max(largest, *[image[:1].size for image in passes[0]])
        start = stop
    images = [parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in zip(*passes, strict=True)]
    return [[image[first:last] for image in images] for first, last in bounds]


def _applied_to_many(linear_map: Callable[[list[Any]], Any], takes_batches: bool) -> Callable[..., list[Any]]:
    """The linear map as one of some directions, counted along axis 0: all at once if it can take them so."""

    def apply(directions: list[Any], count: int) -> list[Any]:
        nonlocal takes_batches
        if count > 1 and takes_batches and not follows_all():
            try:
                images = _at_once(linear_map, directions, count)
            except Exception:
                # Rules may do to a cotangent what only an array withstands. If that was not it, it will happen again.
                takes_batches = False
            else:
                # Each direction has other zeros, which keep NaN out (`engine.unreached`), so it is taken alone then.
                if not has_nan(images):
                    return images
        return _one_after_the_other(linear_map, directions, count)

    return apply


def _at_once(linear_map: Callable[[list[Any]], Any], directions: list[Any], count: int) -> list[Any]:
    """The images of some directions, with the direction in axis 0, in one pass."""
    batch = Batch(count)
    images = linear_map([x if isinstance(x, AbstractZero) else batch.tracer(x) for x in directions])
    return [batch.values(image) for image in images]


def _one_after_the_other(linear_map: Callable[[list[Any]], Any], directions: list[Any], count: int) -> list[Any]:
    """The same in a pass for each direction."""
    images = [linear_map([x if isinstance(x, AbstractZero) else x[i] for x in directions]) for i in range(count)]
    return [np.stack(parts) for parts in zip(*images, strict=True)]
