"""The imperative interface, as PyTorch has it: variables, what is computed from them, and going back from a result.

The functional transformations (`grad` and the others) and variables may be mixed: to a function that is being
differentiated by one of them, variables that it uses are constants, and its derivative is a function of those
variables like any other result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulescore.ad.boundary.arguments import check_tangent
from rulescore.ad.boundary.results import finished
from rulescore.ad.graph.graph import Graph, Leaf, Node, add_to_grad, go_back
from rulescore.ad.graph.tracers import leaf_of
from rulescore.ad.messages.errors import UnrelatedOutputError, describe
from rulescore.ad.system.reference_ad import AD
from rulescore.ad.tracing.calls import values_of
from rulescore.ad.tracing.tracers import Tracer
from rulescore.ad.values.trees import flatten, is_integral, path_of, unflatten
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space


def variable(x: Any) -> Any:
    """A variable: what is computed from it can be differentiated with respect to it.

    It stands in the place of an array in any NumPy code. Results know how they were computed, for as long as they
    live: ``y.backward()`` finds the gradient of a number ``y``, and adds it to ``x.grad`` of every variable.

    Parameters
    ----------
    x : float, complex or ndarray of such
        Its value. An array is not copied, and never written to by what is done here; do not write to it yourself
        while there are results that you still want to go back from, since they keep it and not a copy.

    Returns
    -------
    x : variable
        ``x.value`` is the array, ``x.grad`` the gradient, None before the first backward pass, and ``x.is_leaf`` is
        True. Set ``x.grad = None`` before gradients are to be summed anew. Set ``x.value`` to update the variable
        outside of the graph, as an optimiser does; ``x.value -= ...`` writes to the array itself, and afterwards
        results that were computed from it can no longer be gone back from.

    Raises
    ------
    TypeError
        When ``x`` is no number or array, or one of integers, or is itself being differentiated.

    Notes
    -----
    Nothing is recorded of what is computed from ``x.value``, ``x.detach()`` or ``ignore_derivatives(x)``: take these
    where no derivative is wanted. A variable cannot be written to as an array can (``x += 1``, ``x[0] = 2``), what was
    computed from it can.

    For derivatives of derivatives (``create_graph=True``) a node keeps the arguments of its operation. What it can do
    without it does not keep: sums and differences keep nothing, ``np.exp`` its output.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import variable
    >>> x = variable(np.array([1.0, 2.0]))
    >>> y = np.sum(x**2)
    >>> y.backward()
    >>> x.grad
    array([2., 4.])
    >>> x.value = x.value - 0.5 * x.grad
    >>> x
    variable(array([0., 0.]))
    """
    if isinstance(x, Tracer):
        if isinstance(x._trace, Graph):
            raise TypeError("variable() got a variable: write variable(x.detach()) for another one with its value")
        raise TypeError(
            f"variable() got {x._described()}: within a function that grad, jvp and the like differentiate, variables "
            "are constants. Compute with x itself, or write variable(ignore_derivatives(x))"
        )
    if is_integral(x):
        raise TypeError(
            f"variable() got {describe(x)}: integers and booleans have no derivative. Pass a float (1.0, "
            "x.astype(float))"
        )
    if not has_tangent_space(x):
        raise TypeError(
            f"variable() got {describe(x)}: a variable holds a float or an array of floats. Write "
            "variable(np.array(...)), and one variable for each array in a container"
        )
    return leaf_of(_GRAPHS[AD.short_cuts], as_scalar(x))


def backward(y: Any, cotangent: Any = None, retain_graph: bool = False, create_graph: bool = False) -> None:
    """Add the gradient of an output to the ``grad`` of every variable that it was computed from.

    Parameters
    ----------
    y : variable, or sequence of variables
        A real number, or anything else with a cotangent. Of several outputs, the gradients are summed.
    cotangent : array_like, or sequence of array_like, optional
        ∂L/∂y for each output, of its shape, where L is what the gradient is wanted of; None for a real number stands
        for 1, which means L = y.
    retain_graph : bool
        Whether the graph is kept, so that another pass may go through it. Otherwise it is freed on the way.
    create_graph : bool
        Whether the gradients are themselves variables, computed from the same variables, so that they can be
        differentiated in turn. The graph is then kept. Calls that keep no more than their arguments are made again.
        A variable and its gradient then refer to each other: set ``x.grad = None`` when it has been used, or take
        `gradients`, lest only the garbage collector frees the graph.

    Raises
    ------
    TypeError, ValueError
        When an output is no variable, or no real number and has no cotangent, or one of another shape.
    UnrelatedOutputError
        When no output depends on a variable.
    RuntimeError
        When a part of the graph has been freed by an earlier pass, or a variable has been updated in place since.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import backward, variable
    >>> x = variable(2.0)
    >>> backward([x**3, x * np.ones(2)], [1.0, np.array([10.0, 1.0])])
    >>> x.grad
    np.float64(23.0)
    """
    graph, seeds = _seeds("backward", y, cotangent, create_graph)
    for _, seed in seeds:
        if isinstance(seed, Tracer) and not isinstance(seed._trace, Graph):
            raise TypeError(
                f"backward() got the cotangent {seed._described()}: a gradient with it cannot be kept in x.grad. Write "
                "gradients(y, x, cotangent)"
            )
    bars = go_back(graph, seeds, retain_graph or create_graph, create_graph)
    if not bars:
        raise UnrelatedOutputError(
            "backward() was called on something that does not depend on a variable, or only through functions without "
            "a derivative (np.floor, np.argmax, comparisons, int): compute it from variables"
        )
    found = _gradients(graph, list(bars.values()), [leaf.value for leaf in bars], seeds, create_graph)
    for leaf, bar in zip(bars, found, strict=True):
        add_to_grad(leaf, bar)


def gradients(
    outs: Any,
    inputs: Any,
    cotangents: Any = None,
    retain_grads: bool = True,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> Any:
    """The gradient of outputs with respect to variables, or to results on the way; no ``grad`` changes.

    Parameters
    ----------
    outs, cotangents, retain_graph, create_graph
        As for `backward`.
    inputs : variable, or nested lists, tuples, dicts and dataclasses of variables
        Variables, or results that ``outs`` were computed from. Only what lies between is walked through, and freed.
    retain_grads : bool
        Whether the ``grad`` of each input stays what it is; otherwise those of variables are cleared (None), for what
        backward passes had left there is now out of date.

    Returns
    -------
    gradients : ndarray or scalar, in the form of ``inputs``
        Variables with ``create_graph``.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As for `backward`; TypeError also when one of the inputs is no variable.
    UnrelatedOutputError
        When the outputs do not depend on one of the inputs. A gradient that is zero although there is a way from the
        input to the outputs is returned as zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import gradients, variable
    >>> x = variable(np.array([1.0, 2.0]))
    >>> h = x**2
    >>> gradients(np.sum(h * x), [x, h])
    [array([ 3., 12.]), array([1., 2.])]
    >>> slope = gradients(np.sum(x**3), x, create_graph=True)
    >>> gradients(np.sum(slope), x)
    array([ 6., 12.])
    """
    graph, seeds = _seeds("gradients", outs, cotangents, create_graph)
    leaves, structure = flatten(inputs)
    if not leaves:
        raise TypeError("gradients() was asked for with respect to no inputs: give a variable, or several in a list")
    for i, x in enumerate(leaves):
        if not isinstance(x, Tracer) or not isinstance(x._trace, Graph):
            raise TypeError(
                f"gradients() with respect to inputs{path_of(inputs, i)}, which is {_name(x)} and no variable: make it "
                "one with variable(...) before the outputs are computed from it"
            )
    nodes = [x._node for x in leaves]
    reached = go_back(graph, seeds, retain_graph or create_graph, create_graph, targets=nodes)
    for i, node in enumerate(nodes):
        if node not in reached:
            raise UnrelatedOutputError(
                f"gradients() with respect to inputs{path_of(inputs, i)}, which the outputs were not computed from, or "
                "only through functions without a derivative (np.floor, np.argmax, comparisons, int): leave it out. "
                "If zero is what you want, add 0.0 * np.sum(x) to an output"
            )
    found = _gradients(graph, [reached[node] for node in nodes], [x._value for x in leaves], seeds, create_graph)
    if not retain_grads:
        for node in nodes:
            if isinstance(node, Leaf):
                node.grad = None
    return unflatten(structure, found)


def _seeds(what: str, y: Any, cotangents: Any, create: bool) -> tuple[Graph, list[tuple[Node, Any]]]:
    """The graph of some outputs, and their nodes with their cotangents."""
    outputs = list(y) if isinstance(y, (list, tuple)) else [y]
    if not outputs:
        raise TypeError(f"{what}() got no output: give a variable, or several in a list")
    for output in outputs:
        if not isinstance(output, Tracer):
            raise UnrelatedOutputError(
                f"{what}() of {_name(output)}, which was not computed from a variable, or only through functions "
                "without a derivative (np.floor, np.argmax, comparisons, int): compute it from what variable() "
                "returns. If zero is what you want, add 0.0 * np.sum(x)"
            )
        if not isinstance(output._trace, Graph):
            raise TypeError(
                f"{what}() of {output._described()}: within a function that grad, jvp and the like differentiate, "
                "variables are constants. Go back outside of it, or nest grad instead"
            )
    if cotangents is None:
        every = [None] * len(outputs)
    elif not isinstance(y, (list, tuple)):
        every = [cotangents]
    elif isinstance(cotangents, (list, tuple)) and len(cotangents) == len(outputs):
        every = list(cotangents)
    else:
        raise ValueError(
            f"{what}() got {len(outputs)} outputs, and the cotangents {describe(cotangents)}: give a list with one for "
            "each output, None for a real number that counts with weight 1"
        )
    seeds = [(out._node, _seed(what, out, ybar, create)) for out, ybar in zip(outputs, every, strict=True)]
    return outputs[0]._trace, seeds


def _seed(what: str, out: Any, cotangent: Any, create: bool) -> Any:
    y = out._value
    if cotangent is None:
        if y.shape != () or y.dtype.kind == "c":
            kind = f"an array of shape {y.shape}" if y.shape else "a complex number"
            reduced = "np.sum(y)" if y.shape else "np.abs(y) or y.real"
            raise TypeError(
                f"{what}() of {kind} without a cotangent: a gradient is that of a real number. Reduce it to one "
                f"({reduced}), or give a cotangent of its shape"
            )
        return np.ones((), y.dtype)[()]
    check_tangent(f"the cotangent for {what}() of {describe(y)}", cotangent, y)
    if not create:
        cotangent = values_of(out._trace, cotangent)
    return project_to(y)(as_scalar(cotangent))


def _gradients(
    graph: Graph, bars: list[Any], values: list[Any], seeds: list[tuple[Node, Any]], create: bool
) -> list[Any]:
    """Cotangents as they are handed out: of the form of their primals, each in its own memory; variables if wanted."""
    given = [seed for _, seed in seeds]
    if not create:
        # A rule that called back a function that used variables returns variables.
        return finished(values_of(graph, bars), values, given)
    found = finished(bars, values, given)
    return [bar if isinstance(bar, Tracer) else graph.constant(bar) for bar in found]


def _name(x: Any) -> str:
    return describe(x) if not isinstance(x, Sequence) else f"a {type(x).__name__}"


_GRAPHS = {short_cuts: AD.graph(variable, backward, short_cuts) for short_cuts in (False, True)}
