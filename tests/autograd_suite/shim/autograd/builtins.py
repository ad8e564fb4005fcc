"""Python's builtins as autograd has them: here what is differentiated is in containers and no container is."""

import builtins
from builtins import dict, list, tuple

from .tracer import getval


def isinstance(x, types):
    return builtins.isinstance(getval(x), types)


def type(x):
    return builtins.type(getval(x))
