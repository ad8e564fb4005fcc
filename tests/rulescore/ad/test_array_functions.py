"""NumPy functions that make arrays or write to them, called with values that are being differentiated."""

import io

import numpy as np
import pytest

from rulescore.ad import NoRuleError, TracerConversionError, grad, jvp, vjp
from rulescore.ad.tracing.tracers import Tracer

RNG = np.random.default_rng(1)
X, V = RNG.uniform(0.5, 1.5, (3, 4)), RNG.uniform(0.5, 1.5, 4)
MASK = np.array([[True, False, True, True], [False, False, True, True], [True, True, False, True]])


def written(source):
    return pytest.param(eval(f"lambda x, v: {source}", {"np": np, "MASK": MASK}), id=source)


# ---------------------------------------------------------------- making arrays


MAKERS = [
    "np.full_like(x, v) * x",
    "np.full_like(x, v[0]) * x",
    "np.full_like(x, [v[0], 1.0, v[1], 2]) * x",
    "np.full_like(x, 3.0) * x",
    "np.full_like(x, v[0], shape=(2, 4)) * v",
    "np.full((2, 4), v * v, like=x) * v",
    "np.full(3, v[0] * v[1], like=x)",
    "np.full(3, [v[0], 2 * v[1], 1.0], like=x)",
    "np.full((), v[0] ** 2, like=x)",
    "np.zeros_like(x) + x * x",
    "np.ones_like(x, shape=4) * v * v",
    "np.array([[x[0, 0] * v[0], 1.0], [2, x[1, 1] ** 2]], like=x)",
    "np.array([x * v, x * x], like=x)",
    "np.array((v[0] * v[1], 2), like=x)",
    "np.array([[1.0, 2.0], (v[0] * v[1], 3)], like=x)",
    "np.array([v * v, [1, 2, 3, v[0]]], like=x)",
    "np.array(v * v, like=x)",
    "np.array(v * v, ndmin=3, like=x)",
    "np.array(v[0] * v[1], like=x)",
    "np.array([v[0] * v[1]], dtype=complex, like=x)",
    "np.array(v * v, order='F', copy=None, like=x)",
    "np.array([1.0, 2.0, 3.0, 4.0], like=x) * v * v",
    "np.asarray(x * x, like=x)",
    "np.asarray([v[0] * v[1], v[1] ** 2], like=x)",
    "np.asarray(x * x, dtype=complex, like=x)",
    "np.asarray(x * x, order='F', like=x)",
    "np.asarray([[1.0, 2.0]], like=x) * x[0, 0] * x[1, 1]",
    "np.asanyarray(x * x, like=x)",
    "np.ascontiguousarray((x * x).T, like=x)",
    "np.ascontiguousarray(v[0] * v[1], like=x)",
    "np.asfortranarray(x * x, like=x)",
    "np.require(x * x, requirements=['F', 'W'], like=x)",
    "np.require(x * x, requirements='C', like=x)",
    "np.copy(x * x)",
    "np.copy(v[0] * v[1])",
    "np.astype(x * x, complex)",
    "np.eye(3, 4, like=x) * x * x",
    "np.identity(4, like=x) @ (v * v)",
    "np.arange(4.0, like=x) * v * v",
    "np.arange(4, like=x) * v * v",
    "np.tri(3, 4, like=x) * x * x",
    "np.zeros((3, 4), like=x) + x * x",
    "np.ones(4, dtype=np.float64, like=x) * v * v",
    "np.fromfunction(lambda i, j: i + j * v[0] * v[1], (2, 3), like=x)",
    "np.fromfunction(lambda i, j: i + j, (3, 4), like=x) * x * x",
    "np.fromiter((a * a for a in v), float, like=x)",
    "np.fromiter((a * a for a in v), float, count=2, like=x)",
    "np.fromiter(range(4), float, like=x) * v * v",
    "np.frombuffer(np.arange(4.0).tobytes(), like=x) * v * v",
    "np.linspace(v[0] * v[1], 2.0, 5)",
    "np.linspace(1, v[0] * v[1], 4, endpoint=False)",
    "np.linspace(v * v, x * x, 3, axis=-1)",
    "np.linspace(v * v, [1, 2, 3, 4.0], 1)",
    "np.linspace(v[0] * v[1], 2.0, 5, retstep=True)",
    "np.linspace(v[0] * 1j, 2.0, 3)",
    "np.logspace(v[0] * v[1], 2.0, 3)",
    "np.logspace(0.0, 2.0, 3, base=v[0] * v[1])",
]


@pytest.mark.parametrize("f", [written(source) for source in MAKERS])
def test_what_makes_an_array_is_numpys_with_derivatives_of_both_modes(check_derivatives, f):
    check_derivatives(f, X, V)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.zeros_like(x),
        lambda x: np.ones_like(x),
        lambda x: np.empty_like(x),
        lambda x: np.full_like(x, 2.0),
        lambda x: np.zeros((3, 4), like=x),
        lambda x: np.empty((3, 4), like=x),
        lambda x: np.full((3, 4), 2.0, like=x),
        lambda x: np.eye(3, 4, like=x),
        lambda x: np.tri(3, 4, like=x),
        lambda x: np.array(np.ones((3, 4)), like=x),
        lambda x: np.asarray([[0.0] * 4] * 3, like=x),
        lambda x: np.arange(12.0, like=x).reshape(3, 4),
        lambda x: np.loadtxt(io.StringIO("1 2 3 4\n5 6 7 8\n9 10 11 12"), like=x),
        lambda x: np.genfromtxt(io.StringIO("1 2 3 4\n5 6 7 8\n9 10 11 12"), like=x),
        lambda x: np.fromstring("1 2 3 4 5 6 7 8 9 10 11 12", sep=" ", like=x).reshape(3, 4),
    ],
)
def test_elements_of_what_was_made_like_a_traced_array_can_be_assigned(check_derivatives, make):
    def f(x):
        z = make(x)
        z[...] = 2 * x
        z[1] = x[0] ** 2
        return z * z

    check_derivatives(f, X)


def test_an_array_of_integers_made_like_a_traced_one_is_an_ordinary_array():
    def f(x):
        assert type(np.zeros_like(x, dtype=int)) is np.ndarray
        assert type(np.ones(3, bool, like=x)) is np.ndarray
        assert type(np.array([1, 2], like=x)) is np.ndarray
        assert type(np.arange(3, like=x)) is np.ndarray
        return np.sum(x)

    np.testing.assert_array_equal(grad(f)(V), np.ones(4))


def test_dtype_and_shape_of_what_is_made_like_a_traced_array():
    def f(x):
        z = np.zeros_like(x, dtype=np.float32, shape=(2, 2))
        assert isinstance(z, Tracer)
        assert z.dtype == np.float32
        z[0, 0] = x[0] * x[0]
        return z[0, 0] * x[1]

    np.testing.assert_allclose(grad(f)(V), [2 * V[0] * V[1], V[0] ** 2, 0, 0], rtol=1e-6)


def test_what_is_made_like_an_inner_traced_array_takes_outer_values():
    def f(a):
        def g(b):
            z = np.zeros(2, like=b)
            z[0] = a * b
            z[1] = b * b * a
            return z[0] * z[1]

        return grad(g)(2.0)

    # g = a² b³, hence g' = 3 a² b², and its derivative by a is 6 a b².
    assert grad(f)(5.0) == pytest.approx(6 * 5.0 * 4.0)


def test_what_is_made_like_an_outer_traced_array_takes_inner_values():
    def f(a):
        return grad(lambda b: np.array([a * b, b * b], like=a)[0] * np.full(1, b * a, like=a)[0])(3.0)

    assert grad(f)(5.0) == pytest.approx(2 * 2 * 5.0 * 3.0)


def test_a_copy_is_not_changed_with_its_original(check_derivatives):
    def f(x):
        y = np.copy(x)
        z = np.array(x, like=x)
        w = np.asarray(x, like=x)
        x[0] = 7.0
        return y * z * w

    check_derivatives(f, X)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.arange(0.0, x[0], like=x),
        lambda x: np.eye(x[0], like=x),
        lambda x: np.full_like(x, x[0], dtype=int),
        lambda x: np.full(3, x[0], dtype=int, like=x),
        lambda x: np.full_like(x, 1j * x[0]),
        lambda x: np.array([x, [1.0]], like=x),
        lambda x: np.array([x[0]], like=x, copy=False),
        lambda x: np.asarray(x, dtype=np.float32, copy=False, like=x),
        lambda x: np.fromiter(x, float, count=9, like=x),
        lambda x: np.linspace(x[0], 1.0, -1),
    ],
)
def test_what_cannot_be_made_raises(call):
    with pytest.raises((TypeError, ValueError)):
        vjp(call, V)


def test_an_arange_to_a_traced_end_says_what_to_write():
    with pytest.raises(NoRuleError, match=r"start \+ step \* np\.arange"):
        vjp(lambda x: np.arange(0.0, x[0], like=x), V)


# ---------------------------------------------------------------- writing


def copyto(x, v):
    z = np.zeros_like(x)
    np.copyto(z, v)
    return z * x


def copyto_where(x, v):
    z = x * v
    np.copyto(z, v * v, where=MASK)
    return z * x


def copyto_of_a_list(x, v):
    z = x * v
    np.copyto(z, [v[0], 1, 2, v[1]], where=v > 0.9)
    return z * x


def put(x, v):
    z = x * v
    np.put(z, [0, 5, -1, 3], v * v)
    return z * x


def put_fewer_values(x, v):
    z = x * v
    np.put(z, [0, 5, 7, 3, 2], v[:2] * v[1:3])
    return z * x


def put_clips(x, v):
    z = x * v
    np.put(z, [0, 50], [v[0] * v[1], 2.0], mode="clip")
    return z * x


def put_twice_into_one_element(x, v):
    z = x * v
    np.put(z, [1, 1, 2], v[:3] * v[1:])
    return z * x


def place(x, v):
    z = x * v
    np.place(z, MASK, v * v)
    return z * x


def place_nothing(x, v):
    z = x * v
    np.place(z, np.zeros((3, 4), bool), v * v)
    return z * x


def putmask(x, v):
    z = x * v
    np.putmask(z, MASK, v * v)
    return z * x


def putmask_of_one_value(x, v):
    z = x * v
    np.putmask(z, MASK, v[0] * v[1])
    return z * x


def fill_diagonal(x, v):
    z = x * v
    np.fill_diagonal(z, v[0] * v[1])
    return z * x


def fill_diagonal_with_an_array(x, v):
    z = np.zeros((4, 4), like=x)
    np.fill_diagonal(z, v * v)
    return z * v


def fill_diagonal_wrapped(x, v):
    z = np.ones((7, 2), like=x)
    np.fill_diagonal(z, v[:3] * v[1:], wrap=True)
    return z * z


def fill_diagonal_of_a_cube(x, v):
    z = np.ones((3, 3, 3), like=x)
    np.fill_diagonal(z, v[0] * v[1])
    return z * z


def put_along_axis(x, v):
    z = x * v
    np.put_along_axis(z, np.array([[1], [0], [3]]), x[:, :1] ** 2, axis=1)
    return z * x


def put_along_the_first_axis(x, v):
    z = x * v
    np.put_along_axis(z, np.array([[2, 0, 1, 1]]), v * v, axis=0)
    return z * x


def put_along_no_axis(x, v):
    z = x * v
    np.put_along_axis(z, np.array([2, 7]), v[:2] ** 2, axis=None)
    return z * x


def write_into_a_view(x, v):
    z = x * v
    np.copyto(z[1], v * v)
    np.put(z.T, [0, 1], v[:2] ** 2)
    np.fill_diagonal(z[:2, 2:], v[0] * v[1])
    return z * x


WRITERS = [
    copyto,
    copyto_where,
    copyto_of_a_list,
    put,
    put_fewer_values,
    put_clips,
    put_twice_into_one_element,
    place,
    place_nothing,
    putmask,
    putmask_of_one_value,
    fill_diagonal,
    fill_diagonal_with_an_array,
    fill_diagonal_wrapped,
    fill_diagonal_of_a_cube,
    put_along_axis,
    put_along_the_first_axis,
    put_along_no_axis,
    write_into_a_view,
]


@pytest.mark.parametrize("f", WRITERS, ids=lambda f: f.__name__)
def test_what_writes_to_a_traced_array_is_numpys_with_derivatives(check_derivatives, f):
    check_derivatives(f, X, V)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.copyto(np.zeros(4), x),
        lambda x: np.full_like(np.zeros(4), x),
        lambda x: np.put(np.zeros(4), [0], x[0]),
        lambda x: np.place(np.zeros(4), x > 1, x),
        lambda x: np.putmask(np.zeros(4), x > 1, x),
        lambda x: np.fill_diagonal(np.zeros((2, 2)), x[0]),
        lambda x: np.put_along_axis(np.zeros(4), np.array([1]), x[:1], axis=0),
        lambda x: np.sum(x, out=np.zeros(())),
        lambda x: np.sum(x, None, None, np.zeros(())),
        lambda x: np.concatenate([x, x], out=np.zeros(8)),
        lambda x: np.dot(x, x, out=np.zeros(())),
        lambda x: x.sum(out=np.zeros(())),
        lambda x: x.sum(0, None, np.zeros(())),
        lambda x: x.cumsum(out=np.zeros(4)),
    ],
)
def test_writing_into_an_ordinary_array_says_how_to_make_one_that_can(call):
    with pytest.raises(TracerConversionError, match=r"np\.zeros\(n, like=x\)"):
        vjp(call, V)
    with pytest.raises(TracerConversionError, match=r"np\.zeros\(n, like=x\)"):
        jvp(call, (V,), (V,))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: np.copyto(x, 1j), TypeError),
        (lambda x: np.copyto(x, np.ones(3)), ValueError),
        (lambda x: np.place(x, x > 0, []), ValueError),
        (lambda x: np.put(x, [9], 1.0), IndexError),
        (lambda x: np.fill_diagonal(x, 1.0), ValueError),
        (lambda x: np.put_along_axis(x, np.array([[0]]), 1.0, axis=0), ValueError),
        (lambda x: np.put_along_axis(x, np.array([0]), 1.0, axis=1), np.exceptions.AxisError),
        (lambda x: np.mean(x, out=x), ValueError),
    ],
)
def test_what_numpy_refuses_raises_the_same_error(call, error):
    with pytest.raises(error):
        call(V.copy())
    with pytest.raises(error):
        vjp(call, V)


# ---------------------------------------------------------------- out=


def into(shape, f):
    def write(x, v):
        z = np.zeros(shape, like=x)
        y = f(x, v, z)
        assert y is z
        return z * z

    return write


@pytest.mark.parametrize(
    "f",
    [
        into((4,), lambda x, v, z: np.sum(x * v, axis=0, out=z)),
        into((4,), lambda x, v, z: np.sum(x * v, 0, None, z)),
        into((4,), lambda x, v, z: np.sum(x * v, 0, None, z, False, 2.0)),
        into((3,), lambda x, v, z: np.mean(x * v, 1, out=z)),
        into((4,), lambda x, v, z: np.max(x * v, 0, z)),
        into((3,), lambda x, v, z: np.dot(x, v, z)),
        into((3, 4), lambda x, v, z: np.clip(x, 0.7, 1.2, out=z)),
        into((3, 4), lambda x, v, z: np.clip(x, 0.7, 1.2, z)),
        into((6, 4), lambda x, v, z: np.concatenate([x, x * v], out=z)),
        into((6, 4), lambda x, v, z: np.concatenate([x, x * v], 0, z)),
        into((2, 4), lambda x, v, z: np.stack([v * v, v], out=z)),
        into((3, 4), lambda x, v, z: np.cumsum(x * v, 1, out=z)),
        into((3,), lambda x, v, z: np.einsum("ij,j->i", x, v, out=z)),
        into((), lambda x, v, z: np.var(x * v, out=z)),
        into((4,), lambda x, v, z: (x * v).sum(0, out=z)),
        into((4,), lambda x, v, z: (x * v).sum(0, None, z)),
        into((3,), lambda x, v, z: x.dot(v, z)),
        into((3,), lambda x, v, z: (x * v).mean(axis=1, out=z)),
        into((3, 4), lambda x, v, z: x.clip(0.7, 1.2, out=z)),
        into((2, 4), lambda x, v, z: (x * v).take([0, 0], axis=0, out=z)),
        into((2, 4), lambda x, v, z: (x * v).compress([True, False, True], axis=0, out=z)),
    ],
)
def test_out_writes_into_a_traced_array(check_derivatives, f):
    check_derivatives(f, X, V)


def test_indices_may_be_written_into_an_ordinary_array():
    where = np.zeros(3, int)

    def f(x):
        assert np.argmax(x, axis=1, out=where) is where
        return np.sum(x[np.arange(3), where])

    np.testing.assert_array_equal(grad(f)(X), X.max(axis=1, keepdims=True) == X)


# ---------------------------------------------------------------- facts, text and files


@pytest.mark.parametrize(
    "ask",
    [
        np.shape,
        np.ndim,
        np.size,
        np.isrealobj,
        np.iscomplexobj,
        np.result_type,
        np.array2string,
        np.array_repr,
        np.array_str,
        lambda x: np.array2string(x, precision=2),
        str,
        lambda x: f"{x[0]:.2f}",
        lambda x: f"{x}",
    ],
)
def test_facts_and_text_are_those_of_the_value(ask):
    seen = []
    jvp(lambda x: (seen.append(ask(x)), x)[1], (V,), (V,))
    grad(grad(lambda x: (seen.append(ask(np.stack([x, x]))), x)[1]))(0.25)
    assert seen[0] == ask(V)
    assert seen[1] == ask(np.full(2, 0.25))


@pytest.mark.parametrize(
    "save",
    [
        lambda x: np.save(io.BytesIO(), x),
        lambda x: np.savez(io.BytesIO(), x),
        lambda x: np.savez(io.BytesIO(), x=x),
        lambda x: np.savetxt(io.StringIO(), x),
    ],
)
def test_saving_says_what_to_write(save):
    with pytest.raises(TracerConversionError, match="ignore_derivatives"):
        vjp(save, V)
