"""Interpolants whose objects hold what they are made of, and are functions of the points: their rules, all alike.

`interpolant` defines, for a class of SciPy's, a class of the same name whose objects can be built from and called with
values that are being differentiated, and the rules of building and calling. What is the same for numbers is asked of an
object of SciPy's.
"""

import functools
import inspect

from multipledispatch import MDNotImplementedError

from rulescore import (
    MissingDerivativeError,
    Tangent,
    apply_linear,
    frule,
    instances_of,
    is_traced,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent, Struct

from ..linear_maps import composed
from .bsplines import Constant
from .piecewise import Constructed
from .reference_ad import with_cotangents, with_tangent


class Held(Constructed):
    """An object that holds what it is made of by name, beside the object of SciPy's for numbers.

    Attributes
    ----------
    names : tuple of str
        What it is made of.
    build, values : callable
        See `interpolant`.
    """

    def __init__(self, *args, **kwargs):
        if not is_traced(*args, *kwargs.values()):
            self.hold(*type(self).build(*args, **kwargs))

    def hold(self, plain, *parts):
        self.__dict__.update({**dict(zip(self.names, parts, strict=True)), "plain": Constant(plain)})
        return self

    def parts(self):
        return [self.__dict__[name] for name in self.names]

    def __getattr__(self, name):
        plain = self.__dict__.get("plain")
        if plain is None:
            raise AttributeError(name)
        return getattr(plain.value, name)

    def __call__(self, *args, **kwargs):
        plain = self.__dict__["plain"].value
        if not is_traced(*args, *kwargs.values(), *self.parts()):
            return plain(*args, **kwargs)
        try:
            return type(self).values(plain, *self.parts(), *args, **kwargs)
        except MDNotImplementedError:  # no other rule is asked here
            name = type(self).__name__
            raise MissingDerivativeError(
                f"the derivative of a {name} is not implemented for these points and settings, as for points that are "
                "repeated; write what it computes in NumPy, or give a function that does it a rule"
            ) from None


def interpolant(cls, names, build, values, parts_of):
    """Define the rules of a class of interpolants, and the class that stands in for it.

    Parameters
    ----------
    cls : type
        The class of SciPy's.
    names : tuple of str
        What an object holds that may be differentiated.
    build : callable
        ``build(*args)``, with the signature that the rules serve: the object of SciPy's for numbers, and the parts.
    values : callable
        ``values(plain, *parts, points)``, what a call returns, in functions that can be differentiated.
    parts_of : callable
        ``parts_of(plain)``, the parts of an object of SciPy's.

    Returns
    -------
    type
    """
    namespace = {"names": names, "build": staticmethod(build), "values": staticmethod(values), "__doc__": cls.__doc__}
    ours = type(cls.__name__, (Held, cls), {**namespace, "__module__": "rules.scipy.interpolate"})

    def built(*args, **kwargs):
        return object.__new__(ours).hold(*build(*args, **kwargs))

    built.__wrapped__ = build  # whose signature decides which calls are served
    composed(cls)(built)
    of_scipy = not_implemented(
        f"a {cls.__name__} of SciPy's with respect to the object; build the one of rules.scipy.interpolate where what "
        "it is made of is differentiated"
    )

    def opened(held):
        """The object of SciPy's, and the parts."""
        return (held.__dict__["plain"].value, held.parts()) if isinstance(held, ours) else (held, parts_of(held))

    @frule.register(instances_of(cls))
    @pushforward
    @naming_points_as(cls)
    def call_frule(dheld: Struct, dx: Array, held: Struct, x: Array) -> OutputAndTangent:
        plain, parts = opened(held)
        if isinstance(held, ours):
            dparts = [dheld[name] for name in names]
            return with_tangent(lambda *args: values(plain, *args), (*parts, x), (*dparts, dx))
        y, dy = with_tangent(lambda x: values(plain, *parts, x), (x,), (dx,))
        return y, dy + apply_linear(lambda dheld: of_scipy, dheld)

    @rrule.register(instances_of(cls))
    @naming_points_as(cls)
    def call_rrule(held: Struct, x: Array) -> OutputAndPullback:
        plain, parts = opened(held)
        y, cotangents = with_cotangents(lambda *args: values(plain, *args), *parts, x)

        @pullback_wrt(x, function=held)
        def call_pullback(ybar):
            *bars, xbar = cotangents(ybar)
            is_of_scipy = not isinstance(held, ours)
            return of_scipy if is_of_scipy else Tangent(type(held), **dict(zip(names, bars, strict=True))), xbar

        return y, call_pullback

    return ours


def naming_points_as(cls):
    """A decorator of rules: their last argument, the points x, has the name that it has in a call of an object."""
    points = list(inspect.signature(cls.__call__).parameters.values())[1]
    is_unnamed = points.kind is inspect.Parameter.VAR_POSITIONAL
    named = {"x": points.name, "dx": f"d{points.name}"}

    def decorate(rule):
        @functools.wraps(rule)
        def renamed(*args, **kwargs):
            return rule(*args, *kwargs.values())

        own = [p.replace(name=named.get(p.name, p.name)) for p in inspect.signature(rule).parameters.values()]
        every = [p.replace(kind=inspect.Parameter.POSITIONAL_ONLY) for p in own] if is_unnamed else own
        renamed.__signature__ = inspect.Signature(every)
        return renamed

    return decorate
