"""Autograd's transformations, by those of `rulescore.ad`."""

import inspect

import numpy as np

from rulescore import ad

from . import core
from .core import conj
from .vector_spaces import vspace
from .wrap_util import traceable, unary_to_nary

make_vjp = unary_to_nary(core.make_vjp)
make_jvp = unary_to_nary(core.make_jvp)


@unary_to_nary
def value_and_grad(fun, x):
    """Returns a function which computes a value and its gradient; zeros for what does not depend on the argument."""

    def single(x):
        y = fun(x)
        return (np.reshape(y, ()) if np.shape(y) and np.size(y) == 1 else y), y

    if vspace(x).size == 0:
        return fun(x), x
    try:
        (_, y), bar = ad.value_and_grad(single, has_aux=True)(x)
    except ad.UnrelatedOutputError:
        return fun(x), vspace(x).zeros()
    return y, conj(bar)


@unary_to_nary
def grad(fun, x):
    """
    Returns a function which computes the gradient with respect to an argument."""
    return value_and_grad(fun)(x)[1]


@unary_to_nary
def grad_and_aux(fun, x):
    bar, aux = ad.grad(fun, has_aux=True)(x)
    return conj(bar), aux


@unary_to_nary
def elementwise_grad(fun, x):
    vjp, y = core.make_vjp(fun, x)
    return vjp(vspace(y).ones())


@unary_to_nary
def deriv(fun, x):
    return core.make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun, x):
    return conj(ad.jacrev(fun)(x))


@unary_to_nary
def hessian(fun, x):
    return ad.hessian(fun)(x)


@unary_to_nary
def holomorphic_grad(fun, x):
    return grad(lambda x: np.real(fun(x)))(x)


@unary_to_nary
def make_hvp(fun, x):
    return (lambda v: ad.hvp(fun, (x,), (v,))[0]), grad(fun)(x)


def hessian_tensor_product(fun, argnum=0):
    return grad(_dotted_with_last(grad(fun, argnum)), argnum)


def tensor_jacobian_product(fun, argnum=0):
    return jacobian(_dotted_with_last(fun), argnum)


def _dotted_with_last(fun):
    def dotted(*args, **kwargs):
        *args, tensor = args
        return np.tensordot(tensor, fun(*args, **kwargs), np.ndim(tensor))

    return dotted


hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product


def make_ggnvp(f, g=lambda y: np.sum(y**2, axis=-1) / 2, f_argnum=0):
    @unary_to_nary
    def of_unary(f, x):
        y, pushforward = ad.linearize(f, x)
        _, pullback = ad.vjp(f, x)
        return lambda v: pullback(ad.hvp(traceable(g), (y,), (pushforward(v),))[0])[0]

    return of_unary(f, f_argnum)


def checkpoint(fun):
    return ad.checkpoint(traceable(fun))


def grad_named(fun, argname):
    return grad(fun, inspect.getfullargspec(fun).args.index(argname))


def multigrad_dict(fun):
    signature = inspect.signature(fun)

    def gradients(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_arguments(arguments):
            return fun(*(again := inspect.BoundArguments(signature, arguments)).args, **again.kwargs)

        return grad(of_arguments)(dict(bound.arguments))

    return gradients
