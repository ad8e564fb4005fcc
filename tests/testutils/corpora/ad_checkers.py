"""The checkers of three AD systems on the rules of the corpora: PyTorch's in both modes, JAX's and HIPS autograd's.

They get the function of an entry, its rules and its inputs, as a function of the arrays that carry derivatives; all
else is fixed, as their users fix it by a closure. Each keeps its own steps, directions and tolerances.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import peers  # of tests/benchmarks

from corpora.right.structures import filled
from rulescore import NoTangent, Tangent, structure_of, zero_tangent

NOT_TAKEN = "n/a"
"""The verdict of a checker that cannot be given the function: for its containers, objects or dtypes."""

ERROR = "error"
"""What the verdict of a checker begins with that ended with an error other than its accusation."""


class NotTakenError(TypeError):
    """What a checker cannot be given."""


@dataclass(frozen=True)
class Taken:
    """What a checker can be given. `NamedTuple` stands for all named tuples."""

    dtypes: str
    """The characters of the dtypes that it differentiates."""
    arguments: tuple[Any, ...] = ()
    """The containers that arguments may be."""
    outputs: tuple[Any, ...] = ()
    nested: bool = False
    """Whether containers may hold containers."""
    integers: tuple[str, ...] = ()
    """The modes in which it passes over outputs that are integers."""


# ------------------------------------------------------------------ arrays from arguments, and back


def differentiable(x: Any) -> bool:
    return not isinstance(zero_tangent(x), NoTangent)


def arrays_in(x: Any, taken: Taken, containers: tuple[Any, ...], integers: bool = False) -> Iterator[np.ndarray]:
    """The arrays that carry the derivatives of an argument or output; with ``integers`` those beside them may be."""
    kind = NamedTuple if hasattr(x, "_fields") else type(x)
    if kind in containers:
        for part in structure_of(x).values():
            yield from arrays_in(part, taken, containers if taken.nested else (), integers)
    elif kind is np.ndarray or isinstance(x, np.generic | float | complex | int):
        array = np.array(x)
        if array.dtype.char in taken.dtypes:
            yield array
        elif not (integers and array.dtype.kind in "biu"):
            raise NotTakenError(f"of dtype {array.dtype}")
    else:
        raise NotTakenError(f"a {type(x).__name__}")


def rebuilt(x: Any, arrays: Iterator[np.ndarray]) -> Any:
    """What ``x`` is, with other arrays in it: an argument of which `arrays_in` found everything to be one."""
    fields = structure_of(x)
    if fields is None:
        return as_it_was(x, next(arrays))
    parts = {key: rebuilt(part, arrays) for key, part in fields.items()}
    if isinstance(x, dict):
        return parts
    return type(x)(*parts.values()) if hasattr(x, "_fields") else type(x)(parts.values())


def tangent_of(x: Any, arrays: Iterator[np.ndarray]) -> Any:
    """The tangent of ``x`` with these arrays in it."""
    if not differentiable(x):
        return NoTangent()
    fields = structure_of(x)
    if fields is None:
        return as_it_was(x, next(arrays))
    return Tangent.from_fields(type(x), {key: tangent_of(part, arrays) for key, part in fields.items()})


def as_it_was(x: Any, array: np.ndarray) -> Any:
    """The array as what ``x`` is: a number of Python's or of NumPy's, or an array."""
    if isinstance(x, np.ndarray):
        return array
    return array[()] if isinstance(x, np.generic) else type(x)(array[()])


def arrays_of_tangent(tangent: Any, x: Any) -> list[np.ndarray]:
    """The arrays in a tangent of ``x``, with its zeros written out."""
    return list(_arrays_of_filled(filled(tangent, x)))


def _arrays_of_filled(tangent: Any) -> Iterator[np.ndarray]:
    if isinstance(tangent, Tangent):
        for part in tangent.fields.values():
            yield from _arrays_of_filled(part)
    elif not isinstance(tangent, NoTangent):
        yield np.array(tangent)


# ------------------------------------------------------------------ a function of arrays with its rules


class ArrayFunction:
    """The function of an entry at its arguments, with its rules, as a function of arrays that returns arrays.

    Parameters
    ----------
    entry : WrongRule, RightRule or Differentiable
        The function with its rules.
    args, fkwargs
        Its arguments; what has no derivative stays as it is.
    taken : Taken
        What the checker can be given.
    modes : tuple of str
        The modes to be checked.

    Raises
    ------
    NotTakenError
        For what the checker cannot be given.
    """

    def __init__(
        self, entry: Any, args: tuple[Any, ...], fkwargs: dict[str, Any], taken: Taken, modes: tuple[str, ...]
    ) -> None:
        if differentiable(entry.function):
            raise NotTakenError("a callable object with parameters of its own")
        self.entry, self.args, self.fkwargs, self.taken = entry, args, fkwargs, taken
        self.passes_over_integers = set(modes) <= set(taken.integers)
        self.moving = [differentiable(x) for x in args]
        moving = [x for x, moves in zip(args, self.moving, strict=True) if moves]
        self.arrays = [array for x in moving for array in arrays_in(x, taken, taken.arguments)]
        self.has_one_output = len(self.value(*self.arrays)) == 1

    def value(self, *arrays: np.ndarray) -> list[np.ndarray]:
        y = self.entry.function(*self._args(arrays), **self.fkwargs)
        return list(arrays_in(y, self.taken, self.taken.outputs, self.passes_over_integers))

    def pushforward(self, arrays: Sequence[np.ndarray], tangents: Sequence[np.ndarray]) -> list[np.ndarray]:
        given = iter(tangents)
        down = [tangent_of(x, given) for x in self.args]
        y, dy = self.entry.frule((NoTangent(), *down), *self._args(arrays), **self.fkwargs)
        return arrays_of_tangent(dy, y)

    def pullback(self, arrays: Sequence[np.ndarray], cotangents: Sequence[np.ndarray]) -> list[np.ndarray]:
        y, pull = self.entry.rrule(*self._args(arrays), **self.fkwargs)
        _, *bars = pull(tangent_of(y, iter(cotangents)))
        return [array for x, xbar in zip(self.args, bars, strict=True) for array in arrays_of_tangent(xbar, x)]

    def _args(self, arrays: Iterable[np.ndarray]) -> list[Any]:
        given = iter(arrays)
        return [rebuilt(x, given) if moves else x for x, moves in zip(self.args, self.moving, strict=True)]


# ------------------------------------------------------------------ PyTorch


class Gradcheck(peers.Checker):
    """`gradcheck` without its fast mode, of functions that may have several outputs."""

    name = "torch"
    fast_mode = False

    def __init__(self, rule: peers.Rule) -> None:
        super().__init__(rule)
        self.function = self.counted(_torch_function(rule))

    def check(self, args: tuple[np.ndarray, ...], modes: tuple[str, ...] = peers.BOTH, seed: int = 0) -> str:
        from torch.autograd.gradcheck import GradcheckError, gradcheck

        tensors = tuple(to_torch(x).requires_grad_() for x in args)
        forward, backward = "frule" in modes, "rrule" in modes
        settings = {"check_forward_ad": forward, "check_backward_ad": backward, "fast_mode": self.fast_mode}
        try:
            gradcheck(self.function, tensors, **settings)
        except GradcheckError:
            return peers.FAIL
        return peers.PASS


class FastGradcheck(Gradcheck):
    fast_mode = True


def _torch_function(rule: peers.Rule) -> Callable[..., Any]:
    import torch

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            ctx.save_for_backward(*args)
            ctx.save_for_forward(*args)
            return rule.function(torch, *args)

        @staticmethod
        def backward(ctx: Any, *ybars: Any) -> Any:
            return rule.pullback(torch, ctx.saved_tensors, None, ybars[0] if len(ybars) == 1 else ybars)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            return rule.pushforward(torch, ctx.saved_tensors, None, tangents)

    return Function.apply


def to_torch(x: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(np.array(x))


def from_torch(x: Any) -> np.ndarray:
    return np.array(x.detach().resolve_conj().resolve_neg().numpy())


# ------------------------------------------------------------------ JAX


def to_jax(x: np.ndarray) -> Any:
    import jax

    return jax.numpy.asarray(x)


# ------------------------------------------------------------------ all of them


@dataclass(frozen=True)
class Peer:
    """A checker with what it is given, and how."""

    name: str
    checker: type[peers.Checker]
    taken: Taken
    to_system: Callable[[np.ndarray], Any]
    to_numpy: Callable[[Any], np.ndarray]
    conjugates: bool
    """Whether the cotangents of complex numbers are the conjugates of ours."""

    def verdict(self, entry: Any, args: tuple[Any, ...], fkwargs: dict[str, Any], seed: int = 0) -> str:
        """What the checker says of an entry's rules: "pass", "fail", `NOT_TAKEN`, or `ERROR` with the error's text."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # a step may leave the domain, and PyTorch warns of single precision
            try:
                function = ArrayFunction(entry, args, fkwargs, self.taken, entry.modes)
            except NotTakenError:
                return NOT_TAKEN
            try:
                return self.checker(self.rule(function)).check(tuple(function.arrays), entry.modes, seed)
            except Exception as error:  # whatever a checker may end with
                return f"{ERROR}: {type(error).__name__}: {error}"

    def rule(self, function: ArrayFunction) -> peers.Rule:
        """The function with its rules in the system's arrays."""
        turned = np.conj if self.conjugates else np.asarray

        def given(arrays: Iterable[Any]) -> list[np.ndarray]:
            return [self.to_numpy(x) for x in arrays]

        def returned(arrays: Sequence[np.ndarray]) -> Any:
            return self.to_system(arrays[0]) if function.has_one_output else tuple(map(self.to_system, arrays))

        def value(xp: Any, *args: Any) -> Any:
            return returned(function.value(*given(args)))

        def pushforward(xp: Any, args: Any, y: Any, tangents: Any) -> Any:
            return returned(function.pushforward(given(args), given(tangents)))

        def pullback(xp: Any, args: Any, y: Any, ybar: Any) -> Any:
            ybars = map(turned, given([ybar] if function.has_one_output else ybar))
            return tuple(self.to_system(turned(xbar)) for xbar in function.pullback(given(args), list(ybars)))

        return peers.Rule(value, pushforward, pullback)


TREES = (tuple, list, dict)
FLOATS = "efdFD"  # from half precision to double, and complex

TENSORS = Taken(FLOATS, outputs=(tuple, list, NamedTuple), integers=("frule", "rrule"))
JAX_TREES = Taken(FLOATS, (*TREES, NamedTuple), (*TREES, NamedTuple), nested=True, integers=("rrule",))
VECTOR_SPACES = Taken(FLOATS + "gGO", TREES, TREES, nested=True)

PEERS = {
    peer.name: peer
    for peer in (
        Peer("gradcheck", Gradcheck, TENSORS, to_torch, from_torch, False),
        Peer("gradcheck, fast_mode", FastGradcheck, TENSORS, to_torch, from_torch, False),
        Peer("JAX's check_grads", peers.Jax, JAX_TREES, to_jax, np.array, True),
        Peer("autograd's check_grads", peers.Autograd, VECTOR_SPACES, np.asarray, np.array, True),
    )
    if peer.checker.name not in peers.MISSING
}
"""The checkers that are installed."""
