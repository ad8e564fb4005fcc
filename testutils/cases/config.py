"""The AD system behind rules under test: a rule where there is one, else the reference AD, else finite differences."""

from __future__ import annotations

from typing import Any

from rulescore import HasForwardMode, HasReverseMode, NoTangent, frule, rrule

from ..evidence.finite_differences import jvp_fd, vjp_fd


class TestConfig(HasReverseMode, HasForwardMode):
    """Lets the rules of higher-order functions be tested without choosing an AD system.

    What such a rule asks for is answered by the rule of the function it hands over; where there is none by the
    reference AD, which looks into the function; and where that cannot trace it (it calls `math.sin`, say), by finite
    differences, whose precision then limits that of the test: give ``rtol=1e-6`` or so.

    Examples
    --------
    >>> import math
    >>> y, pullback = TestConfig().rrule_via_ad(lambda x: x**2, 3.0)
    >>> float(y), float(pullback(1.0)[1])
    (9.0, 6.0)
    >>> y, pullback = TestConfig().rrule_via_ad(lambda x: math.exp(x), 0.0)
    >>> y, round(float(pullback(1.0)[1]), 6)
    (1.0, 1.0)
    """

    __test__ = False

    def rrule_via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The rrule of ``f``, or its output and a pullback by the reference AD or by finite differences."""
        from rulescore.ad.system.reference_ad import AD

        result = rrule(self, f, *args, **kwargs)
        if result is not None:
            return result  # type: ignore[no-any-return]

        def finite_difference_pullback(ybar: Any) -> tuple[Any, ...]:
            return tuple(vjp_fd(_call, ybar, (f, *args), fkwargs=kwargs).value)

        try:
            return AD.rrule_via_ad(f, *args, **kwargs)
        except TypeError:  # what the AD raises at what it cannot trace; if it is the function's own, it comes again
            return f(*args, **kwargs), finite_difference_pullback

    def frule_via_ad(self, tangents: tuple[Any, ...], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The frule of ``f``, or its output and its tangent by the reference AD or by finite differences."""
        from rulescore.ad.system.reference_ad import AD

        result = frule(self, tangents, f, *args, **kwargs)
        if result is not None:
            return result  # type: ignore[no-any-return]
        tangents += (NoTangent(),) * (1 + len(args) - len(tangents))
        try:
            return AD.frule_via_ad(tangents, f, *args, **kwargs)
        except TypeError:
            return f(*args, **kwargs), jvp_fd(_call, (f, *args), tangents, fkwargs=kwargs).value


def _call(f: Any, *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)
