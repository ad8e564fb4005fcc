"""Tracers in the place of what a rule returned: one, or one for each number and array within a tuple or an object."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import no_rule
from rulescore.ad.tracing.calls import Call
from rulescore.ad.values.skeletons import Skeleton, taken_apart, tangent_of, tangents_in, with_leaves
from rulescore.tangents.spaces import as_scalar, has_tangent_space
from rulescore.tangents.structure import is_array, structure_of
from rulescore.tangents.zero import ZeroTangent


def traced(trace: Any, y: Any, call: Call, entry: Any) -> Any:
    """The output of a call with tracers in it, whose derivative the trace finds in an entry.

    What has no tangent space, such as indices, stays what it is.
    """
    if type(y) is np.ndarray and y.dtype.kind in "fc":
        return trace.record(y, entry)
    if has_tangent_space(y):
        return trace.record(as_scalar(y), entry)
    if is_array(y) and getattr(y.dtype, "kind", "") == "O":
        raise no_rule(call.f, call.args, call.kwargs, "it returned an array of objects, whose derivative is not traced")
    skeleton, parts = taken_apart(y, _is_container)
    if skeleton is None:
        return y
    outputs = [as_scalar(part) if has_tangent_space(part) else None for part in parts]
    if all(part is None for part in outputs):
        return y
    tracers = trace.record_several(
        outputs, entry, functools.partial(_cotangent, skeleton), functools.partial(tangents_in, skeleton=skeleton)
    )
    both = zip(parts, tracers, strict=True)
    return with_leaves(y, skeleton, [part if tracer is None else tracer for part, tracer in both])


def _is_container(part: Any) -> bool:
    """Whether a part of an output is a container of parts itself, as the list of edges of `np.histogramdd`."""
    return isinstance(part, (tuple, list, dict)) and bool(structure_of(part))


def _cotangent(skeleton: Skeleton, bars: list[Any]) -> Any:
    """The cotangent of an output with several parts, from theirs; None stands for one that nothing has reached."""
    return tangent_of(skeleton, [ZeroTangent() if bar is None else bar for bar in bars])
