"""Programs that make arrays of numbers, or write numbers into arrays; for traceable."""

# ruff: noqa: C416 -- as people write

from __future__ import annotations

import copy
import math

import numpy as np
from numpy import array as make_array

from tests.rulescore.ad.traceable_patterns import of_array, of_numbers

# ---------------------------------------------------------------- conversions to arrays


@of_numbers()
def np_array(a, b, c):
    return np.array([a, b * c, 2]) * np.array([[a, 1.0], [c, b]]).sum() + np.array((a, (b))).prod()


@of_numbers()
def np_array_with_options(a, b, c):
    return np.array([a, b], dtype=float, ndmin=2) @ np.array(object=[[c], [a]], copy=True)


@of_numbers()
def np_array_by_another_name(a, b, c):
    return make_array([a, b]) * c


@of_numbers()
def np_array_of_arrays(a, b, c):
    return np.array([np.array([a, b]), np.array([c, a]), [1, 2]]).cumsum()


@of_array
def np_array_is_a_copy(x):
    y = np.array(x)
    y[0] = y[1] * x[0]
    return y * x


@of_array
def np_asarray(x):
    return np.asarray(x, dtype=float) ** 2 + np.asarray(a=x)


@of_numbers()
def np_asarray_of_a_number(a, b, c):
    return np.asarray(a) * np.asarray(b, np.float64)[()] + np.asarray([c])[0]


@of_array
def np_asanyarray(x):
    return np.asanyarray(x, float) * np.asanyarray([x[0], x[2], 1.0])


@of_array
def np_ascontiguousarray(x):
    return np.ascontiguousarray(x[::-1]) * x


@of_array
def np_asfortranarray(x):
    return np.asfortranarray([x, 2 * x]) @ x


@of_array
def np_asarray_chkfinite(x):
    return np.asarray_chkfinite(x) * np.asarray_chkfinite([x[1], x[0], 1.0])


@of_array
def np_require(x):
    return np.require(x, float, ["C", "W"]) * np.require([x[0], x[1], 1.0])


@of_numbers()
def np_atleast(a, b, c):
    return np.atleast_1d(a) * np.atleast_2d([b, a])[0] + np.atleast_3d(c * b)[0, 0]


@of_numbers()
def np_full(a, b, c):
    return np.full(3, a) * np.full((2, 3), fill_value=b) + np.full_like([1.0, 2.0, 3.0], c)


@of_numbers()
def np_full_that_is_written_to(a, b, c):
    y, z = np.full(3, 2.0), np.full(3, a)
    y[0], z[1:] = b, [c, b * c]
    return y * z


@of_array
def np_like(x):
    y, z = np.zeros_like(x), np.ones_like(x)
    y[1:] = x[:2] ** 2
    z[0] = x[2]
    e = np.empty_like(x)
    e[:] = y * z
    return e


@of_numbers()
def np_like_of_a_constant(a, b, c):
    y = np.zeros_like(np.arange(3.0))
    y[:2] = a, b
    z = np.empty_like([1.0, 2.0, 3.0])
    z[:] = c
    return y * z


@of_numbers()
def np_arange(a, b, c):
    return np.arange(a, 4 * a + b / 2, b) * np.arange(3) + np.arange(2.5 + a)[2] + c


@of_numbers()
def np_spaces(a, b, c):
    return np.linspace(a, b, 4) * np.logspace(a, c, num=4) + np.geomspace(b, c, 4)


@of_numbers()
def np_linspace_and_its_step(a, b, c):
    points, step = np.linspace(a, b, 5, endpoint=False, retstep=True)
    return points.sum() * step + np.linspace(0, 1, 3) @ np.linspace(c, [a, b, c], 3)[:, 1]


@of_array
def np_fromiter(x):
    return np.fromiter((v**2 for v in x), float) * np.fromiter(iter(x), dtype=np.float64, count=3)


@of_array
def np_joining(x):
    rows = np.vstack([x, 2 * x, [1.0, 2.0, 3.0]])
    columns = np.hstack((x[0], [x[1], 1.0], x))
    return rows.sum(0)[0] * np.concatenate([columns, np.stack((x, x**2), axis=1).ravel(), [x[0]]])


@of_array
def np_blocks(x):
    return np.block([[np.diag(x), x[:, None]], [x, 1.0]]) @ np.append(x, [x[0] * 2]) + np.column_stack((x, x))[0, 1]


@of_numbers()
def np_r_and_c(a, b, c):
    rows = np.r_[a, [b, c], 0:2, np.array([c])]
    columns = np.c_[[a, b], [c, 1.0]]
    return (rows**2)[:2] @ columns + np.r_["0,2", [a, b], [c, 0.0]].sum()


@of_array
def np_r_of_slices(x):
    return np.r_[x[0] : x[0] + 1 : 3j, -x] * np.r_[x[1:], 1.0, x]


@of_numbers()
def np_numbers(a, b, c):
    return (
        np.float64(a) * np.float64(b) + np.float_power(c, 2) * np.double(a) - np.complex128(b).real * np.cdouble(c).real
    )


@of_array
def np_copies(x):
    y = np.copy(x)
    y *= x[0]
    return y * x.copy() + copy.copy(x)


@of_array
def np_sequences(x):
    selected = np.select([x > 1, x > 0.7], [x**2, 3 * x], default=x[0])
    pieces = np.piecewise(x, [x < 0.7, x >= 0.7], [lambda v: v**3, lambda v: 1 / v])
    return selected * pieces * np.where(x > 0.7, [x[0], x[1], 1.0], 2.0)


@of_array
def np_grids(x):
    u, v = np.meshgrid(x, [x[0], 2.0])
    return u * v + np.mgrid[0:2, 0:3][1] * np.broadcast_to(x, (2, 3)) + np.ogrid[0:3] * np.indices((2, 3))[0]


@of_array
def np_functions_of_functions(x):
    rows = np.apply_along_axis(lambda row: np.array([math.exp(row[0]), row[1]]), 0, np.outer(x, x)[:2])
    table = np.fromfunction(lambda i, j: x[0] * i + x[1] * j, (2, 3))
    return rows * table + np.apply_over_axes(np.sum, np.outer(x, x), [0])


@of_array
def np_loops_over_indices(x):
    y = np.zeros((3, 3))
    for i, v in np.ndenumerate(x):
        for j in np.ndindex(3):
            y[i + j] = v * x[j]
    return y


@of_array
def np_polynomials(x):
    return np.polyval(x, x[0]) + np.poly1d([x[0], x[1], 1.0])(x[2])


@of_array
def np_linear_algebra(x):
    m = np.eye(3) * 4
    m[0] += x
    m[np.diag_indices(3)] += x**2
    return np.linalg.solve(m, [x[0], 1.0, x[2]]) * np.linalg.det(np.identity(3) + np.outer(x, x)) + np.dot(
        [x[0], x[1]], [1.0, 2.0]
    )


@of_array
def np_sums(x):
    return (
        np.sum([x[0], x[1] * x[2]]) * np.mean(list(x))
        + np.max([x[0], x[2]])
        - np.prod((x[0], x[1]))
        + np.einsum("i,i", x, [1, 2, 3])
    )


@of_array
def np_trapezoids(x):
    return (
        np.trapezoid([x[0], x[1], x[2]], dx=x[0])
        + np.interp(0.4, [0.0, 1.0], [x[0], x[1]])
        + np.diff(list(x)) @ np.cumsum([x[0], x[1]])
    )


# ---------------------------------------------------------------- np.vectorize


def _stepwise(a, b=2.0):
    return math.exp(a) * b if a < 0.8 else a**3 - b


@of_array
def np_vectorize(x):
    return np.vectorize(_stepwise)(x) * np.vectorize(_stepwise)(x[:, None], x)


@of_array
def np_vectorize_as_decorator(x):
    @np.vectorize
    def f(v):
        return math.sin(v) if v > 0.7 else v

    return f(x) * f([x[0], x[1], 1.0])


@of_array
def np_vectorize_with_keywords(x):
    return np.vectorize(_stepwise)(x, b=x[0])


@of_array
def np_vectorize_with_types(x):
    return np.vectorize(_stepwise, otypes=[float])(x) * np.vectorize(lambda v: 2, otypes="d")(x)


@of_array
def np_vectorize_with_several_results(x):
    u, v = np.vectorize(lambda v: (v**2, math.log(v)))(x)
    return u * v


@of_array
def np_vectorize_with_excluded(x):
    def f(v, coefficients):
        return sum(p * v**i for i, p in enumerate(coefficients))

    return np.vectorize(f, excluded=[1])(x, [x[0], 2.0, x[1]]) + np.vectorize(f, excluded={"coefficients"})(
        x, coefficients=x
    )


@of_array
def np_vectorize_with_signature(x):
    inner = np.vectorize(lambda u, v: math.fsum(u * v), signature="(n),(n)->()")
    return inner(np.outer(x, x), x)


@of_array
def np_vectorize_with_cache(x):
    return np.vectorize(_stepwise, cache=True)(x)


# ---------------------------------------------------------------- questions and conversions of arrays


@of_array
def questions(x):
    if np.isscalar(x) or not np.isscalar(x[0]) or np.ndim(x) != 1 or np.shape(x) != (3,) or np.size(x) != 3:
        return x
    if not np.iterable(x) or np.iterable(x[0]) or np.iscomplexobj(x) or not np.isrealobj(x):
        return x
    if (
        not np.issubdtype(x.dtype, np.floating)
        or np.result_type(x, 1.0) != np.dtype(float)
        or not np.all(np.isfinite(x))
    ):
        return x
    if np.any(np.isnan(x)) or not np.allclose(x, x) or np.array_equal(x, 2 * x) or np.isclose(x[0], x[1]):
        return x
    return x * x


@of_array
def kinds(x):
    if not isinstance(x, np.ndarray) or type(x) is not np.ndarray or isinstance(x, (list, float)):
        return x
    v = x[0]
    if not isinstance(v, float) or isinstance(v, (int, complex, np.ndarray)) or not isinstance(v, np.floating):
        return x
    return x**3


@of_numbers()
def kinds_of_numbers(a, b, c):
    if not isinstance(a, float) or isinstance(b, int) or type(b) is int or type(c) in (int, list):
        return a
    if isinstance(a, (list, tuple, np.ndarray)) or hasattr(a, "__len__") or callable(a):
        return b
    return a * b * c


@of_array
def conversions_of_arrays(x):
    return x.astype(float) * x.astype("complex128").real + x.reshape(-1).flatten() * np.array(x.tolist()) + x[:1].item()


@of_array
def lists_of_arrays(x):
    values = x.tolist()
    values.append(values[0] * 2)
    return sum(values) * math.prod(list(x)) + [v for v in x][1] * [*x][2]


@of_array
def data_that_is_read(x):
    return x.data[0] * x + x.T @ x.real + x.imag


@of_array
def flat(x):
    m = np.outer(x, x)
    return sum(v for v in m.flat) * m.flat[1] + m.ravel()[3]


@of_array
def methods_of_classes(x):
    return (
        np.ndarray.sum(x) * np.ndarray.reshape(x, (3, 1))
        + np.add.reduce(x) * np.multiply.outer(x, x)
        + np.ndarray.copy(x)
    )


@of_array
def unpacking(x):
    a, b, c = x
    first, *rest = x**2
    return a * b - c + first * rest[1] + max(*x) - min(*[a, b])


# ---------------------------------------------------------------- new arrays that are written to


@of_array
def zeros_that_are_filled(x):
    y = np.zeros(len(x))
    for i in range(len(y)):
        y[i] = math.sin(x[i]) * (y[i - 1] if i else 1.0)
    return y


@of_array
def arrays_of_every_maker(x):
    e, o, z, f = np.empty(3), np.ones((3,)), np.zeros((2, 3)), np.full(3, 0.5)
    e[:] = x
    o[1] = x[0]
    z[0], z[1, 1:] = x, x[1:] ** 2
    f *= x
    i = np.eye(3)
    i[0] = x
    return e * o * f + z.sum(0) + i @ x + i[np.tril_indices(3)][:3]


@of_array
def views_of_new_arrays(x):
    y = np.zeros((2, 3))
    row, column = y[0], y.T[1]
    flat = y.ravel()
    row[:] = x
    column += x[0]
    y[1] *= 2.0
    flat[0] = x[2]
    return y * row + column[:, None] + flat[0]


@of_array
def what_is_computed_of_new_arrays(x):
    y = np.zeros(3)
    before = y + 1
    y[0] = x[0]
    z = y * x
    y[1] = math.exp(x[1])
    y[0] *= x[2]
    return before * y + z


@of_array
def new_arrays_in_places(x):
    table = {"y": np.zeros(3), "z": [np.ones(2), np.zeros((2, 2))]}
    table["y"][0] = x[0]
    table["y"][1:] += x[1:] ** 2
    table["z"][0][1] = x[1]
    table["z"][1][0, :] = x[:2]
    return table["y"] * table["z"][0].sum() + table["z"][1].sum()


@of_array
def new_arrays_of_others(x):
    def fill(y, v, out=None):
        y[...] = v
        if out is not None:
            out += v
        return y

    y, out = np.zeros(3), np.ones(3)
    z = fill(y, x**2, out=out)
    z[0] = x[1]
    return y * out


@of_array
def out(x):
    y = np.zeros(3)
    np.multiply(x, 2.0, out=y)
    np.add(y, x, y)
    z = np.empty(())
    np.sum(y * x, out=z)
    c = np.empty(3)
    np.cumsum(y, out=c)
    return y * z + c


@of_array
def functions_that_write(x):
    y, m = np.zeros(3), np.zeros((3, 3))
    np.add.at(y, [0, 0, 1], x)
    np.fill_diagonal(m, x)
    np.copyto(m[0, 1:], x[1:])
    z = np.zeros(3)
    z.fill(x[0])
    np.put(z, [1], x[1])
    np.putmask(m, m == 0, x[2])
    s = np.zeros(3)
    s[:] = -x
    s.sort()
    return m @ y * z + s


@of_array
def new_arrays_of_integers_and_indices(x):
    count = np.zeros(3, int)
    count[0] = 2
    count[1:] += 1
    mask = np.zeros(3, bool)
    mask[1] = True
    order = np.empty(3, dtype=np.intp)
    order[:] = [2, 0, 1]
    return x[order] * count + np.where(mask, x, x**2)[mask][0]


@of_array
def new_complex_arrays(x):
    z = np.zeros(3, complex)
    z[0] = x[0] + 1j * x[1]
    z[1:] = np.exp(1j * x[1:])
    z.imag[2] = x[2]
    return np.abs(z) ** 2 + (z * z).imag


@of_array
def arrays_that_are_changed(x):
    points = np.array([1.0, 2.0, 3.0])
    points[0] = x[0]
    grid = np.linspace(0.0, 1.0, 3)
    grid *= x
    other = np.arange(6.0).reshape(2, 3)
    other[1] -= x
    return points * grid + other.prod(0)


# ---------------------------------------------------------------- as people write


@of_array
def branches_of_masks(x):
    y = np.zeros(3)
    small = x < 0.7
    y[small] = x[small] ** 2
    y[~small] = -x[~small]
    return y * [1.0, 2.0, 3.0] + np.logical_and(x > 0.7, x < 1.0) * x


@of_array
def lists_that_become_arrays(x):
    total, found, grown = 0, [], np.array([])
    for v in x:
        total += v * v
        found.append(total)
        grown = np.append(grown, v * total)
    return np.array(found) * grown


@of_numbers()
def rotations(a, b, c):
    rotation = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    return rotation @ np.array([b, c])


@of_array
def steps_of_an_integrator(x):
    def slope(y):
        return np.array([y[1], -x[1] * math.sin(y[0])])

    y, h = np.array([x[0], 0.1]), 0.1
    path = np.empty((4, 2))
    for i in range(4):
        path[i] = y
        y = y + h * slope(y + h / 2 * slope(y))
    return path[:, 0] * x[2]


@of_array
def iterations_until_they_stand_still(x):
    y = 1.0
    for _ in range(100):
        following = 0.5 * (y + x[0] / y)
        if abs(following - y) < 1e-14:
            break
        y = following
    return y * x[1]


@of_array
def rows_that_are_swapped_as_views(x):
    y = np.zeros((2, 3))
    y[0], y[1] = x, x**2
    y[0], y[1] = y[1], y[0]
    return y * x


@of_array
def rows_that_are_written_to_as_they_come(x):
    y = np.zeros((3, 2))
    for row, v in zip(y, x, strict=True):
        row[:] = v
        row[1] *= v
    for i, row in enumerate(y):
        row += i
    return y


@of_array
def arrays_that_functions_around_own(x):
    counts = np.zeros(3)

    def add(i):
        counts[i] += x[i] ** 2
        return counts

    return [add(i) for i in (0, 1, 2, 0)][-1] * x


@of_array
def operations_in_place_of_matrices(x):
    m = np.eye(3)
    m @= np.diag(x)
    m *= 2
    m -= x[0]
    m[np.tril_indices(3)] += np.arange(6.0) * x[1]
    return np.linalg.inv(m + 4 * np.eye(3))


@of_array
def results_into_parts(x):
    y = np.ones(3)
    np.log(x, out=y, where=x > 0.7)
    z = np.exp(y, out=np.empty(3))
    return np.add(z, 1, out=z) * y + np.cumsum(x, out=np.zeros(3))


@of_array
def missing_numbers(x):
    y = np.full(3, np.nan)
    y[0] = x[0]
    return np.nansum(y) * np.where(np.isnan(y), x, y) + np.nanmax([x[1], np.nan])


@of_array
def tables_that_are_looked_up(x):
    grid = np.linspace(0, 2, 6)
    i = np.searchsorted(grid, x)
    weights = (x - grid[i - 1]) / (grid[i] - grid[i - 1])
    return weights * np.interp(x, grid, grid**2) + np.histogram(x, bins=[0, 0.7, 1, 2], weights=x**2)[0]


@of_array
def fits(x):
    line = np.polyfit([0, 1, 2.0], x, 1)
    design = np.array([[1, x[0]], [1, x[1]], [1, 2.0]])
    return np.linalg.lstsq(design, [1, 2, x[2]], rcond=None)[0] * line + np.polynomial.Polynomial(x)(x[1])


@of_numbers()
def complex_numbers(a, b, c):
    z = complex(a, b)
    w = np.array([z, z * 2, 1j * c])
    return abs(z) ** 2 * z.real + (z * z.conjugate()).real + (z**2).imag + np.abs(w).sum() * np.angle(z) + w.real[1]


@of_array
def counts_of_what_is_true(x):
    return (x > 0.7).sum() * x + sum(v > 0.7 for v in x) * x[0] + (x[0] > 0.1) * x[1]


# ---------------------------------------------------------------- arrays that go through several hands


def put(values, x, i=0):
    values[i] = x


class Filled:
    def __init__(self):
        self.matrix, self.rows, self.named = np.eye(2), [np.arange(3.0)], {"a": np.ones(2) * 3}

    def update(self, x):
        self.matrix[0, 0], self.rows[0][1] = x, x
        self.named["a"][:] = x

    def put(self, values, x):
        values[1] = x


@of_numbers()
def arrays_that_functions_fill(a, b, c):
    u, v, w = np.multiply(np.ones(3), -1), np.linspace(0, 1, 4), np.array([1.0, 2.0, 3.0])
    put(u, a)
    put(v, b, 2)
    Filled().put(w, c)
    return u.sum() + v.prod() * 0 + (v * v).sum() * w


@of_numbers()
def a_method_of_its_own_that_fills(a, b, c):
    class Inner(Filled):
        def run(self, x):
            values = np.arange(3.0)
            self.put(values, x)
            return values

    return Inner().run(a) * b + c


@of_numbers()
def arrays_held_in_lists_and_dicts(a, b, c):
    held = Filled()
    held.update(a)
    rows = [np.arange(3.0) * i for i in range(1, 3)]
    rows[0][1] = b
    both = np.arange(4.0), np.arange(3.0)
    both[1][1] = c
    return held.matrix.sum() + held.rows[0] * rows[0] + held.named["a"].sum() * both[1] * sum(row.sum() for row in rows)


@of_numbers()
def arrays_by_a_second_name(a, b, c):
    u = np.eye(3)
    v = u
    v[1, 1] = a
    w = np.arange(6.0).reshape(2, 3)
    for row in w:
        row[0] = b
    x = np.concatenate([np.ones(2), np.zeros(2)])
    x.ravel()[1:3] = c
    y = np.tile(np.arange(3.0), (2, 1))
    part = y[0]
    part[1] = a * b
    return u.sum() * w.sum() + x * (y * y).sum()


@of_numbers()
def an_array_that_two_names_share_in_place(a, b, c):
    x = np.arange(4.0) * 2
    y = x
    y -= a
    return x * b + y * c
