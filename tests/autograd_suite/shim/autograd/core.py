"""Derivatives by `rulescore.ad`, and primitives, whose derivatives are rules there.

Autograd's cotangents of complex numbers are the conjugates of ours.
"""

import functools
import itertools
import warnings

import numpy as np

from rulescore import NoTangent, ad, frule, rrule, unthunk
from rulescore.ad.values.trees import tree_map
from rulescore.tangents.zero import AbstractZero

from .vector_spaces import vspace


def conj(tree):
    return tree_map(lambda x: np.conj(x) if np.iscomplexobj(x) else x, tree)


# ---------------------------------------------------------------- derivatives


def make_vjp(fun, x):
    if vspace(x).size == 0:
        return (lambda g: x), fun(x)
    y, pull = ad.vjp(fun, x)
    return (lambda g: conj(pull(conj(g))[0])), y


def make_jvp(fun, x):
    return lambda v: ad.jvp(fun, (x,), (v,))


# ---------------------------------------------------------------- primitives


primitive_vjps = {}
primitive_jvps = {}


def primitive(f):
    @functools.wraps(f)
    def without_rules_of_f(*args, **kwargs):
        return f(*args, **kwargs)

    fun = ad.primitive(without_rules_of_f)

    @rrule.register(without_rules_of_f)
    def primitive_rrule(*args, needs=None, **kwargs):
        argnums = [i for i in range(len(args)) if needs is None or needs[i]]
        if fun not in primitive_vjps:
            raise NotImplementedError(f"VJP of {fun.__name__} wrt argnums {argnums} not defined")
        y = fun(*args, **kwargs)
        vjp = primitive_vjps[fun](argnums, y, args, kwargs)

        def primitive_pullback(ybar):
            bars = dict(zip(argnums, vjp(conj(unthunk(ybar))), strict=True))
            return NoTangent(), *[conj(bars[i]) if i in bars else NoTangent() for i in range(len(args))]

        return y, primitive_pullback

    @frule.register(without_rules_of_f)
    def primitive_frule(tangents, *args, **kwargs):
        moving = {i: unthunk(dx) for i, dx in enumerate(tangents[1:]) if not isinstance(dx, AbstractZero)}
        if fun not in primitive_jvps:
            raise NotImplementedError(f"JVP of {fun.__name__} wrt argnums {list(moving)} not defined")
        y = fun(*args, **kwargs)
        return y, primitive_jvps[fun](list(moving), list(moving.values()), y, args, kwargs)

    fun.defgrad, fun.defvjp, fun.defvjp_is_zero = _deprecated(fun)
    return fun


defvjp_argnums = primitive_vjps.__setitem__
defjvp_argnums = primitive_jvps.__setitem__


def defvjp_argnum(fun, vjpmaker):
    def vjps(argnums, *call):
        pulls = [vjpmaker(argnum, *call) for argnum in argnums]
        return lambda g: [pull(g) for pull in pulls]

    defvjp_argnums(fun, vjps)


def defvjp(fun, *vjpmakers, argnums=None):
    makers = dict(zip(itertools.count() if argnums is None else argnums, vjpmakers, strict=False))

    def vjp(argnum, ans, args, kwargs):
        if argnum not in makers:
            raise NotImplementedError(f"VJP of {fun.__name__} wrt argnum {argnum} not defined")
        if makers[argnum] is None:
            return lambda g: vspace(args[argnum]).zeros()
        return makers[argnum](ans, *args, **kwargs)

    defvjp_argnum(fun, vjp)


def defjvp_argnum(fun, jvp):
    def jvps(argnums, gs, ans, args, kwargs):
        parts = [jvp(argnum, g, ans, args, kwargs) for argnum, g in zip(argnums, gs, strict=True)]
        return functools.reduce(vspace(ans).add, parts)

    defjvp_argnums(fun, jvps)


def defjvp(fun, *jvpfuns, argnums=None):
    functions = dict(zip(itertools.count() if argnums is None else argnums, jvpfuns, strict=False))

    def jvp(argnum, g, ans, args, kwargs):
        function = functions[argnum]
        if function is None:
            return vspace(ans).zeros()
        return _in_place_of(fun, argnum, g, args, kwargs) if function == "same" else function(g, ans, *args, **kwargs)

    defjvp_argnum(fun, jvp)


def def_linear(fun):
    defjvp_argnum(fun, lambda argnum, g, ans, args, kwargs: _in_place_of(fun, argnum, g, args, kwargs))


def _in_place_of(fun, argnum, g, args, kwargs):
    return fun(*args[:argnum], g, *args[argnum + 1 :], **kwargs)


def _deprecated(fun):
    """How primitives got their derivatives before 1.2: `defgrad`, `defvjp` and `defvjp_is_zero`, methods of theirs."""
    makers = {}

    def add(argnum, maker):
        warnings.warn("defvjp(fun, ...) is what autograd has now", DeprecationWarning, stacklevel=3)
        makers[argnum] = maker
        defvjp(fun, *makers.values(), argnums=list(makers))

    def defgrad(maker, argnum=0):
        add(argnum, maker)

    def defvjp_of_spaces(vjp, argnum=0):
        add(argnum, lambda ans, *args, **kw: lambda g: vjp(g, ans, vspace(args[argnum]), vspace(g), *args, **kw))

    def defvjp_is_zero(argnums=(0,)):
        for argnum in argnums:
            add(argnum, None)

    return defgrad, defvjp_of_spaces, defvjp_is_zero
