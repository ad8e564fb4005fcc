"""What is computed: three operators of several sizes, each by our rule, by a naive loop and by operations on arrays.

The loops are what people write first, the other formulations what they write when the loop is too slow. These are made
for segments of one length, where our rules take any.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.benchmarks.operators.systems import Function, Jax, JaxCompiled, Ours, System, Torch

LOOP = "loop"


@dataclass(frozen=True)
class Formulation:
    """An operator in the functions of AD systems.

    Attributes
    ----------
    prepare : callable
        From a system to a function of a system and an array, with its constants made.
    systems : tuple of type, optional
        Those that have what it takes; by default all.
    """

    prepare: Callable[[System], Function]
    systems: tuple[type[System], ...] = (System,)


@dataclass(frozen=True)
class Workload:
    """An operator at a point, with a cotangent to pull back.

    Attributes
    ----------
    name : str
        As it is asked for.
    title : str
    x : ndarray
    operator : callable
        A function with a rule.
    args : tuple
        Its arguments after `x`.
    formulations : mapping
        By name, what AD systems differentiate instead; `LOOP` is one of them.
    steps : str
        How many steps the loop has, in words.
    left_out : mapping
        By a system, why it does not differentiate the loop.
    measures_memory : bool
    only_by_name : bool
        Whether it takes so long that it takes part only where it is asked for.
    """

    name: str
    title: str
    x: np.ndarray
    operator: Callable[..., Any]
    args: tuple[Any, ...]
    formulations: Mapping[str, Formulation]
    steps: str
    left_out: Mapping[type[System], str] = field(default_factory=dict)
    measures_memory: bool = False
    only_by_name: bool = False

    @functools.cached_property
    def ybar(self) -> np.ndarray:
        """A cotangent without zeros or symmetries."""
        y = self.operator(self.x, *self.args)
        return np.asarray(np.random.default_rng(1).standard_normal(np.shape(y)))


def loop(step_by_step: Function) -> Formulation:
    return Formulation(lambda system: step_by_step)


# ---------------------------------------------------------------- pooling


@dataclass(frozen=True)
class Grid:
    """Blocks of ``height`` x ``width`` of a matrix; at its lower and right edge they may be smaller."""

    shape: tuple[int, int]
    height: int
    width: int

    @property
    def counts(self) -> tuple[int, int]:
        """Of the rows of blocks, and of the columns of blocks."""
        (n, m) = self.shape
        return -(-n // self.height), -(-m // self.width)

    def slices(self) -> tuple[list[slice], list[slice]]:
        (n, m), h, w = self.shape, self.height, self.width
        return [slice(i, min(i + h, n)) for i in range(0, n, h)], [slice(j, min(j + w, m)) for j in range(0, m, w)]

    def loop(self, of_block: Function) -> Formulation:
        """The blocks one after the other."""

        def prepare(system: System) -> Function:
            rows, cols = self.slices()
            return lambda s, x: s.xp.reshape(s.stack([of_block(s, x[r, c]) for r in rows for c in cols]), self.counts)

        return Formulation(prepare)

    def cut(self, system: System, x: Any, fill: Callable[[Any], Any]) -> Any:
        """An array with four axes, of which the second and the last are those of a block.

        What is missing from the last blocks is filled with what ``fill`` makes of the last row, or column.
        """
        (n, m), (R, C) = self.shape, self.counts
        if missing := R * self.height - n:
            x = system.xp.concatenate([x] + missing * [fill(x[-1:, :])])
        if missing := C * self.width - m:
            x = system.xp.concatenate([x] + missing * [fill(x[:, -1:])], 1)
        return system.xp.reshape(x, (R, self.height, C, self.width))

    def workload(
        self,
        name: str,
        title: str,
        operator: Callable[..., Any],
        args: tuple[Any, ...],
        formulations: Mapping[str, Formulation],
        **others: Any,
    ) -> Workload:
        """Pooling a random matrix, whose elements are not negative, as distances are."""
        from rules.operators import segments

        (n, m), (R, C) = self.shape, self.counts
        x = np.random.default_rng(0).random(self.shape)
        args = (segments(n, self.height), segments(m, self.width), *args)
        title = f"{title}, {n} x {m} in {self.height} x {self.width}"
        return Workload(name, title, x, operator, args, formulations, f"{R * C} blocks", **others)

    def indicators(self) -> tuple[np.ndarray, np.ndarray]:
        """To which block a row belongs, and to which a column, as matrices of ones and zeros."""
        (n, m), (R, C) = self.shape, self.counts
        is_row = np.arange(R)[:, None] == np.arange(n) // self.height
        is_col = np.arange(C)[:, None] == np.arange(m) // self.width
        return is_row.astype(np.float64), is_col.astype(np.float64)


def sum_of_block(system: System, block: Any) -> Any:
    return system.xp.sum(block)


def sum_by_reshaping(grid: Grid) -> Formulation:
    def prepare(system: System) -> Function:
        return lambda s, x: s.xp.sum(grid.cut(s, x, lambda edge: 0 * edge), (1, 3))

    return Formulation(prepare)


def sum_by_matmul(grid: Grid) -> Formulation:
    def prepare(system: System) -> Function:
        of_rows, of_cols = map(system.array, grid.indicators())
        return lambda s, x: s.xp.matmul(s.xp.matmul(of_rows, x), of_cols.T)

    return Formulation(prepare)


def sum_by_index_add(grid: Grid) -> Formulation:
    """What PyTorch has for segments."""

    def prepare(system: System) -> Function:
        (n, m), (R, C) = grid.shape, grid.counts
        of_rows, of_cols = system.array(np.arange(n) // grid.height), system.array(np.arange(m) // grid.width)
        no_rows, no_cols = system.array(np.zeros((R, m))), system.array(np.zeros((R, C)))
        return lambda s, x: no_cols.index_add(1, of_cols, no_rows.index_add(0, of_rows, x))

    return Formulation(prepare, (Torch,))


def sum_by_segment_sum(grid: Grid) -> Formulation:
    """What JAX has for segments."""

    def prepare(system: System) -> Function:
        from jax.ops import segment_sum

        (n, m), (R, C) = grid.shape, grid.counts
        of_rows, of_cols = system.array(np.arange(n) // grid.height), system.array(np.arange(m) // grid.width)

        def pooled(system: System, x: Any) -> Any:
            y = segment_sum(x, of_rows, R, indices_are_sorted=True)
            return segment_sum(y.T, of_cols, C, indices_are_sorted=True).T

        return pooled

    return Formulation(prepare, (JaxCompiled,))


def sum_by_reduceat(grid: Grid) -> Formulation:
    """What NumPy has for segments, of which HIPS autograd and MyGrad know nothing."""

    def prepare(system: System) -> Function:
        (n, m) = grid.shape
        rows, cols = np.arange(0, n, grid.height), np.arange(0, m, grid.width)
        return lambda s, x: np.add.reduceat(np.add.reduceat(x, rows, 0), cols, 1)

    return Formulation(prepare, (Ours,))


def hausdorff_of_block(system: System, block: Any) -> Any:
    to_cols = system.max(system.min(block, 1), 0)
    to_rows = system.max(system.min(block, 0), 0)
    return system.xp.maximum(to_cols, to_rows)


def hausdorff_by_reshaping(grid: Grid) -> Formulation:
    """A row or column that is there twice changes no maximum or minimum."""

    def pooled(system: System, x: Any) -> Any:
        blocks = grid.cut(system, x, lambda edge: edge)
        to_cols = system.max(system.min(blocks, 3), 1)
        to_rows = system.max(system.min(blocks, 1), 2)
        return system.xp.maximum(to_cols, to_rows)

    return Formulation(lambda system: pooled)


def sum_pooling(name: str, grid: Grid, **others: Any) -> Workload:
    from rules.operators import pool_sum

    formulations = {
        LOOP: grid.loop(sum_of_block),
        "reshape": sum_by_reshaping(grid),
        "matmul": sum_by_matmul(grid),
        "index_add": sum_by_index_add(grid),
        "segment_sum": sum_by_segment_sum(grid),
        "reduceat": sum_by_reduceat(grid),
    }
    return grid.workload(name, "Sum pooling", pool_sum, (), formulations, **others)


def hausdorff_pooling(name: str, grid: Grid, **others: Any) -> Workload:
    from rules.operators import pool

    formulations = {LOOP: grid.loop(hausdorff_of_block), "reshape": hausdorff_by_reshaping(grid)}
    return grid.workload(name, "Hausdorff pooling", pool, ("hausdorff",), formulations, **others)


# ---------------------------------------------------------------- rotary embedding


def angles(shape: tuple[int, int]) -> np.ndarray:
    n, d = shape
    return np.asarray(np.arange(n)[:, None] * frequencies(d))


def frequencies(d: int) -> np.ndarray:
    return np.asarray(10000.0 ** -(2 * np.arange(d // 2) / d))


def rotary_pair_by_pair(system: System, x: Any) -> Any:
    n, d = x.shape
    theta = frequencies(d)
    turned = []
    for m in range(n):
        for i in range(d // 2):
            cos, sin = math.cos(m * theta[i]), math.sin(m * theta[i])
            a, b = x[m, 2 * i], x[m, 2 * i + 1]
            turned += [cos * a - sin * b, sin * a + cos * b]
    return system.xp.reshape(system.stack(turned), (n, d))


def rotary_row_by_row(system: System, x: Any) -> Any:
    n, d = x.shape
    theta = frequencies(d)
    turned = []
    for m in range(n):
        cos, sin = system.array(np.cos(m * theta)), system.array(np.sin(m * theta))
        a, b = x[m, 0::2], x[m, 1::2]
        turned.append(system.xp.reshape(system.xp.stack([cos * a - sin * b, sin * a + cos * b], -1), (d,)))
    return system.stack(turned)


def rotary_by_slices(shape: tuple[int, int]) -> Formulation:
    """The even columns and the odd ones; sines and cosines are constants."""

    def prepare(system: System) -> Function:
        cos, sin = system.array(np.cos(angles(shape))), system.array(np.sin(angles(shape)))

        def turned(system: System, x: Any) -> Any:
            a, b = x[:, 0::2], x[:, 1::2]
            return system.xp.reshape(system.xp.stack([cos * a - sin * b, sin * a + cos * b], -1), shape)

        return turned

    return Formulation(prepare)


def rotary_by_einsum(shape: tuple[int, int]) -> Formulation:
    """Pairs as the last of three axes, times matrices of two rows."""

    def prepare(system: System) -> Function:
        cos, sin = np.cos(angles(shape)), np.sin(angles(shape))
        turns = system.array(np.stack([np.stack([cos, sin], -1), np.stack([-sin, cos], -1)], -2))

        def turned(system: System, x: Any) -> Any:
            pairs = system.xp.reshape(x, (*shape[:1], shape[1] // 2, 2))
            return system.xp.reshape(system.xp.einsum("mia,miab->mib", pairs, turns), shape)

        return turned

    return Formulation(prepare)


def rotary_by_complex_numbers(shape: tuple[int, int]) -> Formulation:
    """What PyTorch has to see pairs of real numbers as complex ones."""

    def prepare(system: System) -> Function:
        turns = system.array(np.exp(1j * angles(shape)))

        def turned(system: System, x: Any) -> Any:
            pairs = system.xp.view_as_complex(x.reshape(shape[0], -1, 2))
            return system.xp.view_as_real(pairs * turns).reshape(shape)

        return turned

    return Formulation(prepare, (Torch,))


def rotary(name: str, shape: tuple[int, int], step: str = "pair", **others: Any) -> Workload:
    from rules.operators import rotary_embedding

    n, d = shape
    x = np.random.default_rng(0).standard_normal(shape)
    formulations = {
        LOOP: {"pair": loop(rotary_pair_by_pair), "row": loop(rotary_row_by_row)}[step],
        "slices": rotary_by_slices(shape),
        "einsum": rotary_by_einsum(shape),
        "complex": rotary_by_complex_numbers(shape),
    }
    steps = f"{n * d // 2} pairs" if step == "pair" else f"{n} rows"
    title = f"Rotary embedding, {n} x {d}"
    return Workload(name, title, x, rotary_embedding, (frequencies(d),), formulations, steps, **others)


# ---------------------------------------------------------------- all of them

SLOW_TO_COMPILE: dict[type[System], str] = {
    Jax: "left out beyond 100 steps, as it compiles each of them by itself",
    JaxCompiled: "left out beyond 100 steps, as it compiles the unrolled loop for a minute or without end",
}
SLOW_LOOPS: dict[type[System], str] = {
    **SLOW_TO_COMPILE,
    Torch: "left out, as it makes an array of zeros as large as the matrix for each step",
}


def workloads() -> dict[str, Workload]:
    """All of them, by name."""
    small, many, few = Grid((12, 12), 3, 2), Grid((100, 100), 3, 2), Grid((100, 100), 50, 34)
    large, fine = Grid((1000, 1000), 30, 20), Grid((1000, 1000), 3, 2)
    found = [
        workload
        for name, pooling in (("sum", sum_pooling), ("hausdorff", hausdorff_pooling))
        for workload in (
            pooling(f"{name}-small", small),
            pooling(f"{name}-100", many, left_out=SLOW_TO_COMPILE),
            pooling(f"{name}-few", few),
            pooling(f"{name}-1000", large, left_out=SLOW_TO_COMPILE, measures_memory=True),
            pooling(f"{name}-1000-fine", fine, left_out=SLOW_LOOPS, only_by_name=True),
        )
    ]
    found += [
        rotary("rotary-small", (8, 8)),
        rotary("rotary-100", (100, 100), left_out=SLOW_TO_COMPILE),
        rotary("rotary-1000", (1000, 1000), step="row", left_out=SLOW_TO_COMPILE, measures_memory=True),
    ]
    return {workload.name: workload for workload in found}
