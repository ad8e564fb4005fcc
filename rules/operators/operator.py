"""The decorator of all operators: calls reach the AD system that traces something in them, and peers are named.

NumPy's functions hand their calls to a tracer by themselves. An operator is a function of Python, whose rule would
never be asked for; with `operator` above it, ``grad(lambda x: pool(x, rows, cols, "max").sum())`` needs no more.
"""

import functools

from rulescore import rrule, seen_by_tracers
from rulescore.closures import calls_back, made_explicit


def operator(*, onnx=(), tensorflow=()):
    """Make a function of Python an operator.

    Parameters
    ----------
    onnx, tensorflow : str or tuple of str, optional
        What the operator is called there: ``"MaxPool"``, ``"tf.nn.max_pool2d"``.

    Returns
    -------
    decorator : callable
        What it returns has the arguments of the function. Where none of them is traced, it calls the function; else it
        hands the call to the AD system, also where only a function among the arguments has captured what is traced.
        The AD system asks the rules, and where these decline, it calls the function with tracers.

    Notes
    -----
    What follows for an author:

    - The function itself is written for arrays: of traced values it is called only where no rule serves them.
    - In a rule, call operators by their public names, for the primal too: ``y = pool(x, rows, cols)``. In nested
      differentiations the arguments are tracers of the outer one, which has to see the call. A private function that
      works on arrays alone (SciPy, numba, writing in place) and is needed in a pullback is an operator too.
    - The names become tags of the rules, which the rules have to be registered with: ``tags=f.tags``.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import pullback_wrt
    >>> from rulescore.ad import grad
    >>> @operator(onnx="Softplus", tensorflow="tf.math.softplus")
    ... def softplus(x):
    ...     return np.logaddexp(0, x)
    >>> @rrule.register(softplus, tags=softplus.tags)
    ... def softplus_rrule(x):
    ...     return softplus(x), pullback_wrt(x)(lambda ybar: ybar / (1 + np.exp(-x)))
    >>> grad(lambda x: softplus(x).sum())(np.zeros(2))
    array([0.5, 0.5])
    >>> sorted(rrule.lookup(softplus, np.ndarray).tags)
    ['onnx:Softplus', 'tensorflow:tf.math.softplus']
    """

    def decorate(f):
        @functools.wraps(f)
        def call(*args, **kwargs):
            if not kwargs and all(map(_is_plain, map(type, args))):
                return f(*args)
            if (any(map(callable, args)) or any(map(callable, kwargs.values()))) and calls_back(call):
                explicit = made_explicit(f, args, kwargs)
                if explicit is None:
                    return f(*args, **kwargs)
                of_values, values = explicit
                return seen_by_tracers(of_values, values)
            return seen_by_tracers(f, *args, **kwargs)

        # The AD system gets `f`, which it can call with tracers without coming back here.
        rrule.alias(f, call)
        call.tags = frozenset(
            {f"onnx:{name}" for name in _names(onnx)} | {f"tensorflow:{n}" for n in _names(tensorflow)}
        )
        return call

    return decorate


@functools.cache
def _is_plain(cls):
    """Whether an argument of this class is not traced, holds nothing that is, and is no function."""
    is_function = any("__call__" in vars(base) for base in cls.__mro__)
    return not (is_function or hasattr(cls, "__rule_type__") or issubclass(cls, (list, tuple, dict)))


def _names(names):
    return (names,) if isinstance(names, str) else names
