"""What a function depends on, as one vector: integrals of cotangents are those of vectors."""

import numpy as np

from rulescore import NoTangent, Tangent, project_to, structure_of

from ..named_arguments import filled


def is_number(x):
    """Whether it is a number or an array of numbers that have a derivative."""
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    return issubclass(type(x), (float, complex)) or kind in ("f", "c")


def size_of(x):
    """How many numbers with a derivative there are in an object."""
    if is_number(x):
        return np.size(x)
    return sum(map(size_of, (structure_of(x) or {}).values()))


def vector_of(dx, x):
    """A tangent of an object as a vector."""
    parts = list(_parts(dx, x))
    return np.concatenate(parts) if parts else np.zeros(0)


def _parts(dx, x):
    if is_number(x):
        yield np.reshape(filled(dx, x), -1)
        return
    for key, part in (structure_of(x) or {}).items():
        yield from _parts(dx[key], part)


def tangent_from(vector, x):
    """The tangent of an object that `vector_of` makes a vector."""
    if is_number(x):
        return project_to(x)(np.reshape(vector, np.shape(x)))
    fields, start = {}, 0
    for key, part in (structure_of(x) or {}).items():
        size = size_of(part)
        fields[key] = tangent_from(vector[start : start + size], part) if size else NoTangent()
        start += size
    return Tangent.from_fields(type(x), fields) if start else NoTangent()
