"""Loops that numba compiles where it is installed: a way to take, not a dependency."""

import functools


class Compiled:
    """A loop over elements, written in the part of Python that numba compiles.

    Nothing is imported before the first call. Each process compiles once, which takes seconds. The results are not kept
    on disk: numba finds them by the file of the loop and loads the module whose name it had, which fails for good when
    that file was once run under another name.

    Parameters
    ----------
    loop : function
        Of arrays and numbers. Where numba is missing it is not run at all, since Python would take too long.

    Examples
    --------
    >>> @Compiled
    ... def total(x):
    ...     y = 0.0
    ...     for i in range(len(x)):
    ...         y += x[i]
    ...     return y
    >>> total.is_available() in (True, False)
    True
    """

    def __init__(self, loop):
        functools.update_wrapper(self, loop)
        self.loop = loop
        self._compiled = None

    def is_available(self):
        """Whether the loop can be compiled here."""
        return numba_module() is not None

    def __call__(self, *args):
        if self._compiled is None:
            self._compiled = numba_module().njit(self.loop, error_model="numpy")  # x / 0 is an infinity
        return self._compiled(*args)


@functools.cache
def numba_module():
    """Numba; None where it is not installed, or has been told to compile nothing."""
    try:
        import numba
    except ImportError:
        return None
    return None if numba.config.DISABLE_JIT else numba
