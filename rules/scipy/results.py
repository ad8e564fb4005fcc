"""Results that hold objects, such as interpolants and operators: an AD system sees numbers, arrays and containers.

What such an object computes would count as a constant without anybody's saying so. In the result of a rule it raises.
"""

import copy
import functools

from rulescore import not_implemented, structure_of

INSTEAD = {
    "sol": "; build CubicHermiteSpline(result.x, result.y, result.yp, axis=1) of rules.scipy.interpolate, which is it",
}
"""What to write instead, by the name of the field."""

OPERATORS = ("__call__", "__matmul__", "__rmatmul__", "__mul__", "__rmul__", "__getitem__")


def sealed(y):
    """A result whose objects raise when they are used; anything else as it is."""
    if not isinstance(y, dict):
        return y
    objects = {key: seal(key, value) for key, value in y.items() if is_object(value)}
    return type(y)({**y, **objects}) if objects else y


def is_object(x):
    """Whether it holds something and is no container."""
    return not isinstance(x, (tuple, list, dict)) and bool(structure_of(x))


def seal(key, x):
    closed = copy.copy(x)
    closed.__class__ = sealed_class(type(x), key)
    return closed


@functools.cache
def sealed_class(cls, key):
    def fail(*args, **kwargs):
        not_implemented(f"what .{key} of the result computes{INSTEAD.get(key, '')}").fail()

    used = [name for name in dir(cls) if not name.startswith("_") and callable(getattr(cls, name))]
    used += [name for name in OPERATORS if hasattr(cls, name)]
    return type(cls.__name__, (cls,), {"__slots__": (), "__module__": cls.__module__, **dict.fromkeys(used, fail)})
