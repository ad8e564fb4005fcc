"""The backends as `testutils.conformance` asks an AD system: vjp and jvp of functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import optree


class System(NamedTuple):
    """What `conformance` needs of a system."""

    vjp: Callable[..., Any]
    jvp: Callable[..., Any]
    conjugate: bool


def jax_system() -> System:
    import jax

    from rulescore.backends.jax import to_jax

    def vjp(f: Any, *primals: Any) -> Any:
        refuse_objects(primals)
        y, pull = jax.vjp(to_jax(f), *primals)
        return as_numpy(y), lambda ybar: as_numpy(pull(optree.tree_map(np.asarray, ybar)))

    def jvp(f: Any, primals: Any, tangents: Any) -> Any:
        refuse_objects(primals)
        return as_numpy(jax.jvp(to_jax(f), primals, tangents))

    return System(vjp, jvp, conjugate=True)


def torch_system() -> System:
    import torch

    from rulescore.backends.torch import to_torch

    def tensors(tree: Any) -> Any:
        return optree.tree_map(lambda x: torch.from_numpy(np.array(x)) if is_array(x) else x, tree)

    def differentiable(f: Any) -> Any:
        """The outputs that have a derivative, which is all that `torch.func` takes; and all, beside them."""

        def outputs(*primals: Any) -> Any:
            y = to_torch(f)(*primals)
            return [part for part in optree.tree_leaves(y) if part.is_floating_point() or part.is_complex()], y

        return outputs

    def vjp(f: Any, *primals: Any) -> Any:
        refuse_objects(primals)
        _, pull, y = torch.func.vjp(differentiable(f), *tensors(primals), has_aux=True)

        def pullback(ybar: Any) -> Any:
            parts = [part for part in map(np.asarray, optree.tree_leaves(ybar)) if part.dtype.kind in "fc"]
            return as_numpy(pull(tensors(parts)))

        return as_numpy(y), pullback

    def jvp(f: Any, primals: Any, tangents: Any) -> Any:
        refuse_objects(primals)
        _, dys, y = torch.func.jvp(differentiable(f), tensors(tuple(primals)), tensors(tuple(tangents)), has_aux=True)
        parts = iter(dys)
        leaves, structure = optree.tree_flatten(y)
        moved = [next(parts) if x.is_floating_point() or x.is_complex() else torch.zeros_like(x) for x in leaves]
        return as_numpy(y), as_numpy(optree.tree_unflatten(structure, moved))

    return System(vjp, jvp, conjugate=False)


def autograd_system() -> System:
    from autograd.builtins import tuple as boxed_tuple
    from autograd.core import make_jvp, make_vjp

    from rulescore.backends.autograd import to_autograd

    def of_tuple(f: Any, count: int, structures: list[Any]) -> Any:
        """The leaves of the outputs, of a tuple: what autograd takes several of."""

        def outputs(primals: Any) -> Any:
            leaves, structure = optree.tree_flatten(to_autograd(f)(*[primals[i] for i in range(count)]))
            structures[:] = [structure]
            return boxed_tuple([np.asarray(y) if isinstance(y, np.generic) else y for y in leaves])

        return outputs

    def vjp(f: Any, *primals: Any) -> Any:
        refuse_objects(primals)
        structures: list[Any] = []
        pull, y = make_vjp(of_tuple(f, len(primals), structures), boxed_tuple(primals))
        value = optree.tree_unflatten(structures[0], [np.asarray(part)[()] for part in y])
        return value, lambda ybar: tuple(pull(boxed_tuple(optree.tree_leaves(ybar))))

    def jvp(f: Any, primals: Any, tangents: Any) -> Any:
        refuse_objects(primals)
        structures: list[Any] = []
        both = make_jvp(of_tuple(f, len(primals), structures), boxed_tuple(primals))(boxed_tuple(tangents))
        y, dy = (optree.tree_unflatten(structures[0], [np.asarray(part)[()] for part in parts]) for parts in both)
        return y, dy

    return System(vjp, jvp, conjugate=True)


def refuse_objects(primals: Any) -> None:
    """Strings in lists, and objects with parameters, are no arguments to these systems."""
    if not all(is_array(leaf) for leaf in optree.tree_leaves(primals)):
        raise NotImplementedError("an argument that is no array, and no container of arrays")


def is_array(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic, float, complex))


def as_numpy(tree: Any) -> Any:
    def convert(x: Any) -> Any:
        if hasattr(x, "resolve_conj"):
            x = x.detach().resolve_conj()
        return np.asarray(x)[()] if hasattr(x, "dtype") else x

    return optree.tree_map(convert, tree)


SYSTEMS = {"jax": jax_system, "torch": torch_system, "autograd": autograd_system}
