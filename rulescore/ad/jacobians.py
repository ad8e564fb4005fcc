"""Jacobians, Hessians and Hessian-vector products: the transformations that differentiate in many directions.

All directions are pushed or pulled in one pass, as a batch (`batches`), where everything that meets them can work on
batches; otherwise in one pass each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from rulescore.ad.batches.batch import images_of_unit_vectors
from rulescore.ad.boundary.arguments import Argnums, Arguments, check_differentiated, check_primals, function_of
from rulescore.ad.boundary.results import unrelated_output
from rulescore.ad.forward import jvp
from rulescore.ad.messages.errors import describe
from rulescore.ad.messages.unused_rules import warn_of_unused_rules
from rulescore.ad.reverse import grad, vjp
from rulescore.ad.tracing.tracers import Tracer, belongs_to, top_trace
from rulescore.ad.values.trees import flatten, path_of, tree_map, unflatten
from rulescore.tables.names import name_of
from rulescore.tangents.spaces import as_scalar, has_tangent_space
from rulescore.tangents.zero import AbstractZero, NoTangent

# ---------------------------------------------------------------- the transformations

_P = ParamSpec("_P")


def jacrev(
    f: Callable[_P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[_P, Any]:
    """A function that returns the Jacobian of ``f``, row by row in reverse mode: for more inputs than outputs.

    Parameters
    ----------
    f, argnums, has_aux
        As for `value_and_grad`; ``f`` may return a number, an array, or nested containers of them.
    holomorphic : bool
        Whether ``f`` is a holomorphic function of complex numbers, whose complex derivative is wanted.

    Returns
    -------
    callable
        With the arguments of ``f``; returns the Jacobian, or ``(jacobian, aux)``. The Jacobian has the form of the
        output; in the place of each number or array ``y`` in it stands something of the form of the argument (a tuple
        of such for several argnums), in which an array of shape ``y.shape + x.shape`` stands in the place of each
        ``x``. For a real output and complex ``x`` it is ∂y/∂Re x + i ∂y/∂Im x, as in `grad`.

    Raises
    ------
    TypeError
        (From the returned function.) When an argument or an output is an integer, when an output is complex and
        ``holomorphic`` is False, or when one is real and ``holomorphic`` is True.
    UnrelatedOutputError
        When no output depends on the arguments. An output that does not has a Jacobian of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import jacrev
    >>> jacrev(lambda x: x[1:] * x[0])(np.array([2.0, 3.0, 5.0]))
    array([[3., 2., 0.],
           [5., 0., 2.]])
    >>> jacrev(lambda p: {"y": p["a"] ** 2})({"a": 3.0})
    {'y': {'a': np.float64(6.0)}}
    """
    return _jacobian("jacrev", f, argnums, has_aux, holomorphic)


def jacfwd(
    f: Callable[_P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[_P, Any]:
    """A function that returns the Jacobian of ``f``, column by column in forward mode: for more outputs than inputs.

    It calls ``f`` once for every batch of directions, of which there is one for not too large arguments.

    Parameters
    ----------
    f, argnums, has_aux, holomorphic
        As for `jacrev`.

    Returns
    -------
    callable
        As for `jacrev`. A complex output of real arguments has a complex Jacobian.

    Raises
    ------
    TypeError, UnrelatedOutputError
        As for `jacrev`; but without ``holomorphic`` the arguments have to be real, and not the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import jacfwd
    >>> jacfwd(lambda t: np.stack([np.cos(t), np.sin(t)]))(0.0)
    array([-0.,  1.])
    >>> jacfwd(lambda z: z**2, holomorphic=True)(1 + 2j)
    np.complex128(2+4j)
    """
    return _jacobian("jacfwd", f, argnums, has_aux, holomorphic)


def hessian(
    f: Callable[_P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[_P, Any]:
    """A function that returns the second derivatives of ``f``, by forward over reverse mode.

    Parameters
    ----------
    f, argnums, has_aux, holomorphic
        As for `jacrev`. Most often ``f`` returns one real number.

    Returns
    -------
    callable
        With the arguments of ``f``; returns the Hessian, or ``(hessian, aux)``: the Jacobian of `jacrev` with something
        of the form of the argument in the place of each array in it, as `jacfwd` gives it. For one array ``x`` and an
        output ``y`` it is an array of shape ``y.shape + x.shape + x.shape``. Its product with a vector is had for no
        more than a few gradients, by `hvp`.

    Raises
    ------
    TypeError, UnrelatedOutputError
        As for `jacrev`; with respect to complex arguments only with ``holomorphic=True``.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import hessian
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 5.0]))
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    check_differentiated("hessian", f)
    return jacfwd(jacrev(f, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """The product of the Hessian of ``f`` with a vector, without the Hessian: the derivative of the gradient along it.

    Parameters
    ----------
    f : callable
        A function of ``primals`` that returns a real number, as for `value_and_grad`.
    primals, tangents : tuple
        The arguments, ``(x,)`` for one, and the vector, of the same form.

    Returns
    -------
    tuple
        The product, of the form of ``primals``.

    Raises
    ------
    TypeError, ValueError, UnrelatedOutputError
        As for `value_and_grad`; ValueError when a tangent has another shape than its primal.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import hvp
    >>> hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 10.0]),))
    (array([  6., 120.]),)
    """
    check_differentiated("hvp", f)
    check_primals("hvp", f, primals, tangents)
    _, product = jvp(grad(f, range(len(primals))), primals, tangents)
    # The gradient has no derivative where the primal has none.
    return tree_map(lambda leaf: NoTangent() if isinstance(leaf, AbstractZero) else leaf, product)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- a Jacobian, by rows or by columns


def _jacobian(what: str, f: Any, argnums: Argnums, has_aux: bool, holomorphic: bool) -> Callable[..., Any]:
    check_differentiated(what, f, argnums)
    by_rows = what == "jacrev"

    @functools.wraps(f)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        arguments = Arguments(f"{what} of {name_of(f)}", args, argnums)
        inputs = arguments.leaves
        _check_inputs(what, f, inputs, holomorphic)
        warn_of_unused_rules(f)
        is_related = False

        @functools.wraps(f)
        def of_leaves(*leaves: Any) -> Any:
            """A pair, the output and what is handed through, of the differentiated numbers and arrays alone."""
            nonlocal is_related
            result = f(*arguments.with_leaves(leaves), **kwargs)
            if not has_aux:
                result = result, None
            elif not isinstance(result, tuple) or not result:
                return result  # for others to complain about
            trace = top_trace(leaves)
            is_related |= any(belongs_to(y, trace) for y in flatten(result[0])[0])
            return result

        checked = functools.partial(_outputs, what, f, holomorphic)
        outputs, structure, aux, parts = (_rows if by_rows else _columns)(of_leaves, inputs, checked)
        if not is_related:
            raise unrelated_output(f"{what} of {name_of(f)}", "zeros are")
        trees = []
        for y, of_output in zip(outputs, parts, strict=True):
            if by_rows and holomorphic:  # a pullback multiplies with the conjugate of the derivative
                of_output = [np.conjugate(part) for part in of_output]
            pairs = zip(of_output, inputs, strict=True)
            placed = [_placed(part, y.shape + x.shape, x if by_rows else y) for part, x in pairs]
            trees.append(arguments.tangents(placed))
        found = unflatten(structure, trees)
        return (found, aux) if has_aux else found

    return jacobian


def _rows(f: Any, inputs: list[Any], checked: Any) -> tuple[list[Any], Any, Any, list[list[Any]]]:
    """The outputs of a function, their structure, what it hands through, and the rows of each output's Jacobians."""
    y, vjp_fn, aux = vjp(f, *inputs, has_aux=True)
    outputs, structure = checked(y)
    rows = images_of_unit_vectors(lambda cotangents: vjp_fn(unflatten(structure, cotangents)), outputs)
    return outputs, structure, aux, rows


def _columns(f: Any, inputs: list[Any], checked: Any) -> tuple[list[Any], Any, Any, list[list[Any]]]:
    """The same by columns."""
    results = []

    def pushforward(tangents: list[Any]) -> list[Any]:
        # What has no elements does not move, and is traced all the same: the function may ask it for its kind.
        given = [dx if x.size else np.zeros_like(x) for x, dx in zip(inputs, tangents, strict=True)]
        moving = [i for i, dx in enumerate(given) if not isinstance(dx, AbstractZero)]
        of_moving = functools.wraps(f)(function_of(f, inputs, moving))
        y, dy, aux = jvp(of_moving, [inputs[i] for i in moving], [given[i] for i in moving], has_aux=True)
        results.append((*checked(y), aux))
        return flatten(dy)[0]

    columns = images_of_unit_vectors(pushforward, inputs)
    outputs, structure, aux = results[0]
    parts = [[np.moveaxis(part, 0, -1) for part in of_output] for of_output in zip(*columns, strict=True)]
    return outputs, structure, aux, parts


def _check_inputs(what: str, f: Any, inputs: list[Any], holomorphic: bool) -> None:
    for x in inputs:
        if holomorphic and x.dtype.kind != "c":
            raise TypeError(
                f"{what} of {name_of(f)} with holomorphic=True with respect to {describe(x)}: a holomorphic function "
                "is one of complex numbers. Pass complex arguments, or leave holomorphic=True out"
            )
        if what == "jacfwd" and not holomorphic and x.dtype.kind == "c":
            raise TypeError(
                f"jacfwd of {name_of(f)} with respect to {describe(x)}: the derivative with respect to a complex "
                "number is one number only for holomorphic functions. If this is one, pass holomorphic=True; else ask "
                "for jacrev(f) if the result is real, for jvp(f, primals, tangents), or split x into its real and "
                "imaginary parts"
            )


def _outputs(what: str, f: Any, holomorphic: bool, y: Any) -> tuple[list[Any], Any]:
    """The numbers and arrays in an output and its structure, after a check that they have the derivative asked for."""
    outputs, structure = flatten(y)
    if not outputs:
        raise TypeError(f"{what} of {name_of(f)} was asked for, which returned {describe(y)}: return a number or array")
    outputs = [as_scalar(output) for output in outputs]
    for i, output in enumerate(outputs):
        if not has_tangent_space(output):
            problem = (
                ", which has no derivative: return floats, and with has_aux=True hand out other things in a second "
                "result"
            )
        elif holomorphic and output.dtype.kind != "c":
            problem = " with holomorphic=True: return complex numbers, or leave holomorphic=True out"
        elif what == "jacrev" and output.dtype.kind == "c" and not holomorphic:
            problem = (
                ": the derivative of a complex number is one row only for holomorphic functions. If this is one, pass "
                "complex arguments and holomorphic=True; else return its real and imaginary parts, ask for vjp(f, x), "
                "or for jacfwd(f) if the arguments are real"
            )
        else:
            continue
        where = f"result{path_of(y, i)} is {describe(output)}"
        raise TypeError(f"{what} of {name_of(f)} was asked for, whose {where}{problem}")
    return outputs, structure


def _placed(values: Any, shape: tuple[int, ...], like: Any) -> Any:
    """A part of a Jacobian in its shape and its own memory, with the dtype of what it belongs to and traced as that."""
    values = np.reshape(values, shape)
    is_traced = isinstance(values, Tracer)
    if not is_traced or values.dtype != like.dtype:
        values = values.astype(like.dtype, order="C")
    values = values if shape else values[()]
    if isinstance(like, Tracer) and not is_traced:
        return top_trace((like,)).constant(values)  # constant derivatives of a derivative are derivatives too
    return values
