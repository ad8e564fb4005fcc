"""Ufuncs with keywords and their methods, on values that are being differentiated."""

import numpy as np
import pytest

from rulescore.ad import NoRuleError, TracerConversionError, grad, jvp, vjp

RNG = np.random.default_rng(0)
X, V = RNG.uniform(0.5, 1.5, (3, 4)), RNG.uniform(0.5, 1.5, 4)
MASK = np.array([[True, False, True, True], [False, False, True, True], [True, True, False, True]])


def expressions(*functions):
    """Parameters named by the source of what they compute."""
    return pytest.mark.parametrize("f", [pytest.param(f, id=name) for name, f in functions])


def written(source):
    return source, eval(f"lambda x, v: {source}", {"np": np, "MASK": MASK})


REDUCTIONS = [
    "np.add.reduce(x * v)",
    "np.add.reduce(x * v, axis=None)",
    "np.add.reduce(x * v, 1)",
    "np.add.reduce(x * v, axis=(0, 1), keepdims=True)",
    "np.add.reduce(x * v, axis=-1, initial=2.0)",
    "np.add.reduce(x * v, axis=1, where=MASK)",
    "np.add.reduce(x * v, axis=())",
    "np.add.reduce(v[0] * x[0, 0])",
    "np.multiply.reduce(x * v, axis=1, where=MASK, initial=3.0)",
    "np.multiply.reduce(x * v, axis=None)",
    "np.maximum.reduce(x * v)",
    "np.maximum.reduce(x * v, axis=1, where=MASK, initial=-1.0)",
    "np.minimum.reduce(x * v, axis=None, keepdims=True)",
    "np.maximum.reduce(x * v, initial=None)",
    "np.subtract.reduce(x * v)",
    "np.subtract.reduce(x * v, axis=1, keepdims=True)",
    "np.subtract.reduce(x * v, axis=1, initial=1.5)",
    "np.subtract.reduce(x * v, axis=1, initial=1.5, where=MASK)",
    "np.subtract.reduce(v * v, initial=1.5, where=MASK[0])",
    "np.subtract.reduce(x * v, axis=1, initial=x[0, 0] * 2)",
    "np.subtract.reduce(x * v, axis=1, initial=x[0, 0] * 2, where=MASK)",
    "np.subtract.reduce((x * v)[:1])",
    "np.subtract.reduce(v[0] * x[0, 0])",
    "np.divide.reduce(x * v)",
    # Along the first axis: along the last one, NumPy 2.4's AVX512 loops of power and arctan2 combine the first and the
    # last element alone.
    "np.power.reduce(x * v, axis=0)",
    "np.logaddexp.reduce(x * v, axis=None)",
    "np.logaddexp.reduce(x * v, axis=(0, 1), keepdims=True, where=MASK)",
    "np.logaddexp.reduce(x * v, axis=0, where=MASK)",
    "np.hypot.reduce(-x * v, axis=1)",
    "np.hypot.reduce(-x[:, :1] * v[0], axis=1)",
    "np.fmax.reduce(x * v, axis=0)",
    "np.arctan2.reduce(x * v, axis=0)",
]


@expressions(*map(written, REDUCTIONS))
def test_reduce_is_numpys_with_derivatives_of_both_modes(check_derivatives, f):
    check_derivatives(f, X, V)


OTHERS = [
    "np.add.accumulate(x * v)",
    "np.add.accumulate(x * v, axis=1)",
    "np.multiply.accumulate(x * v, axis=-1)",
    "np.subtract.accumulate(x * v)",
    "np.maximum.accumulate(x * v, axis=1)",
    "np.logaddexp.accumulate(v * v)",
    "np.divide.accumulate((x * v)[:1])",
    "np.add.outer(x * 2, v * v)",
    "np.multiply.outer(v, x * v)",
    "np.power.outer(v, v)",
    "np.arctan2.outer([1.0, 2.0], v * v)",
    "np.subtract.outer(v * v, 2.0)",
    "np.subtract.outer(2.0, v * v)",
    "np.divide.outer(v[0], v)",
    "np.add.reduceat(v * v, [0, 2])",
    "np.add.reduceat(v * v, [1, 3])",
    "np.add.reduceat(x * v, [0, 1, 3], axis=1)",
    "np.add.reduceat(x * v, [1], 0)",
    "np.add.reduceat(v * v, [0, 3, 1, 1])",
    "np.multiply.reduceat(v * v, [0, 2])",
    "np.maximum.reduceat(x * v, [2, 0, 1], axis=1)",
    "np.subtract.reduceat(x * v, [0, 2], axis=1)",
]


@expressions(*map(written, OTHERS))
def test_accumulate_outer_and_reduceat_are_numpys_with_derivatives(check_derivatives, f):
    check_derivatives(f, X, V)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.subtract, np.logaddexp])
def test_reduce_in_another_dtype_computes_in_that_dtype(ufunc):
    x = V.astype(np.float32)
    y, vjp_fn = vjp(lambda x: ufunc.reduce(x, dtype=np.float64), x)
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, ufunc.reduce(x, dtype=np.float64), rtol=1e-15)
    assert vjp_fn(1.0)[0].dtype == np.float32


@pytest.mark.parametrize("ufunc", [np.logical_and, np.logical_xor, np.logical_or])
def test_reduce_of_a_ufunc_without_derivative_gives_a_plain_value(ufunc):
    seen = []
    grad(lambda x: (seen.append(ufunc.reduce(x > 0.8)), np.sum(x))[1])(X)
    grad(lambda x: (seen.append(ufunc.reduce(x, axis=1)), np.sum(x))[1])(X)
    np.testing.assert_array_equal(seen[0], ufunc.reduce(X > 0.8))
    np.testing.assert_array_equal(seen[1], ufunc.reduce(X, axis=1))
    assert all(type(value) is np.ndarray for value in seen)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: np.subtract.reduce(x, axis=None), ValueError),
        (lambda x: np.subtract.reduce(x, axis=(0, 1)), ValueError),
        (lambda x: np.subtract.reduce(x, where=MASK), ValueError),
        (lambda x: np.subtract.reduce(x[:0]), ValueError),
        (lambda x: np.add.reduce(x, axis=2), np.exceptions.AxisError),
        (lambda x: np.add.accumulate(x[0, 0]), TypeError),
        (lambda x: np.add.accumulate(x, axis=3), np.exceptions.AxisError),
        (lambda x: np.add.reduceat(x, [0, 9]), IndexError),
        (lambda x: np.add.reduceat(x, [-1]), IndexError),
        (lambda x: np.sin.reduce(x), ValueError),
        (lambda x: np.matmul.outer(x, x), TypeError),
        (lambda x: np.matmul.reduce(x), RuntimeError),
        (lambda x: np.divmod.reduce(x), ValueError),
        (lambda x: np.add.reduce(x, out=x.copy()), ValueError),
        (lambda x: np.add(x, np.ones((2, 3, 4)), out=x), ValueError),
        (lambda x: np.add(x, 1j, out=x), TypeError),
        (lambda x: np.sin(x, dtype=int), TypeError),
        (lambda x: np.add(x, 1j, dtype=float), TypeError),
        (lambda x: np.add(x, 1, casting="nonsense"), (ValueError, TypeError)),
        (lambda x: np.add(x.astype(np.float32), x, out=x.astype(np.float32), casting="safe"), TypeError),
    ],
)
def test_what_numpy_refuses_raises_the_same_error(call, error):
    with pytest.raises(error):
        call(X.copy())
    with pytest.raises(error):
        vjp(call, X)


def test_reduce_of_nothing_is_the_identity():
    assert np.logaddexp.reduce(np.ones(0)) == jvp(lambda x: np.logaddexp.reduce(x[:0] * 2), (V,), (V,))[0]
    y = vjp(lambda x: np.hypot.reduce(x[:0]) + x[0] * 0, X)[0]
    np.testing.assert_array_equal(y, np.zeros(4))


# ---------------------------------------------------------------- keywords of calls


def write(f):
    """A function of new arrays to write into, which NumPy has too."""
    return f.__name__.replace("_", " "), f


def out_of_the_same_shape(x, v):
    z = np.zeros_like(x)
    y = np.multiply(x, v, out=z)
    assert y is z
    return z * x


def out_that_is_an_input(x, v):
    y = x * v
    np.multiply(y, x, out=y)
    return y * y


def out_that_is_larger_than_the_inputs(x, v):
    z = np.zeros_like(x)
    np.square(v, z)
    return z * x


def out_of_another_precision(x, v):
    z = np.zeros((3, 4), like=x)
    np.multiply(x, v, out=z, dtype=np.float64)
    return z * x


def out_that_is_a_view(x, v):
    z = np.ones_like(x)
    np.multiply(x[0], v, out=z[1])
    np.multiply(x[:, 1], x[:, 0], out=z.T[2])
    return z * x


def several_outs(x, v):
    whole, rest = np.zeros_like(x), np.zeros_like(x)
    np.divmod(x, v, out=(whole, rest))
    return whole * x + rest * rest


def one_of_several_outs(x, v):
    whole = np.zeros_like(x)
    y, rest = np.divmod(x, v, out=(whole, None))
    assert y is whole
    return whole * x + rest * rest


def out_of_a_comparison(x, v):
    z = np.zeros_like(x)
    np.greater(x, v, out=z)
    return z * x


def out_of_a_reduction(x, v):
    z = np.zeros(4, like=x)
    np.add.reduce(x * v, out=z)
    return z * z


def out_of_an_accumulation(x, v):
    z = np.zeros_like(x)
    np.subtract.accumulate(x * v, axis=1, out=z)
    return z * z


def out_of_reduceat(x, v):
    z = np.zeros((2, 4), like=x)
    np.add.reduceat(x * v, [0, 2], out=z)
    return z * z


def out_of_outer(x, v):
    z = np.zeros((4, 4), like=x)
    np.multiply.outer(v, x[0], out=z)
    return z * z


def out_of_matmul(x, v):
    z = np.zeros((3, 3), like=x)
    np.matmul(x, x.T, out=z)
    return z * z


def where_with_out(x, v):
    z = 3 * x
    np.multiply(x, v, where=MASK, out=z)
    return z * x


def where_that_broadcasts(x, v):
    z = 3 * x
    np.multiply(x, 2.0, where=v > 1, out=z)
    return z * x


def where_of_several_outs(x, v):
    a, b = x * 2, x * 3
    np.divmod(x, v, where=MASK, out=(a, b))
    return a * x + b * b


def where_in_a_part(x, v):
    z = x * 2
    np.exp(x[1], where=MASK[1], out=z[1])
    return z * x


def casting_and_order_at_their_defaults(x, v):
    return np.multiply(x, v, casting="same_kind", order="K", subok=True)


def safe_casting(x, v):
    return np.multiply(x, v, casting="safe")


def dtype_of_the_inputs(x, v):
    return np.multiply(x, v, dtype=np.float64)


def complex_dtype(x, v):
    return np.multiply(x, v, dtype=np.complex128)


def axes_of_matmul(x, v):
    return np.matmul(x, x, axes=[(0, 1), (1, 0), (0, 1)])


def axes_of_vecdot(x, v):
    return np.vecdot(x, x * v, axes=[0, 0])


def axis_of_vecdot(x, v):
    return np.vecdot(x, x * 2, axis=0)


@expressions(
    *map(
        write,
        [
            out_of_the_same_shape,
            out_that_is_an_input,
            out_that_is_larger_than_the_inputs,
            out_of_another_precision,
            out_that_is_a_view,
            several_outs,
            one_of_several_outs,
            out_of_a_comparison,
            out_of_a_reduction,
            out_of_an_accumulation,
            out_of_reduceat,
            out_of_outer,
            out_of_matmul,
            where_with_out,
            where_that_broadcasts,
            where_of_several_outs,
            where_in_a_part,
            casting_and_order_at_their_defaults,
            safe_casting,
            dtype_of_the_inputs,
            complex_dtype,
            axes_of_matmul,
            axes_of_vecdot,
            axis_of_vecdot,
        ],
    )
)
def test_a_call_with_keywords_is_numpys_with_derivatives(check_derivatives, f):
    check_derivatives(f, X, V)


def test_where_keeps_infinite_derivatives_of_what_is_left_out_out():
    x = np.array([0.0, 4.0, -1.0])

    def f(x):
        return np.sum(np.sqrt(x, where=x > 0, out=np.zeros_like(x)))

    np.testing.assert_array_equal(grad(f)(x), [0.0, 0.25, 0.0])
    assert jvp(f, (x,), (np.ones(3),))[1] == 0.25


@pytest.mark.parametrize("ufunc", [np.arccosh, np.arctanh, np.arcsin, np.log])
def test_where_asks_nothing_of_the_elements_left_out(ufunc):
    x = np.array([np.nan, np.inf, -np.inf, -7.0])
    mask = np.zeros(4, bool)
    assert grad(lambda x: np.sum(ufunc(x, where=mask, out=np.zeros_like(x))))(x).tolist() == [0.0] * 4


def test_where_without_out_says_what_to_write():
    with pytest.raises(TypeError, match=r"out=np\.zeros_like\(x\)"):
        vjp(lambda x: np.sin(x, where=MASK), X)


def test_a_mask_that_is_no_mask_is_refused():
    with pytest.raises(TypeError, match="booleans"):
        vjp(lambda x: np.sin(x, where=np.ones((3, 4)), out=np.zeros_like(x)), X)


def test_dtype_computes_in_that_precision():
    y, vjp_fn = vjp(lambda x: np.exp(x, dtype=np.float32), V)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, np.exp(V, dtype=np.float32))
    (xbar,) = vjp_fn(np.ones(4, np.float32))
    assert xbar.dtype == np.float64
    np.testing.assert_allclose(xbar, np.exp(V), rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, dtype: np.subtract(x, V, dtype=dtype),
        lambda x, dtype: np.add.reduce(x, dtype=dtype),
        lambda x, dtype: np.asarray(x, dtype=dtype, like=x),
        lambda x, dtype: np.cov(x, 2 * V, dtype=dtype),
        lambda x, dtype: x.view(dtype),
    ],
)
def test_a_class_of_dtypes_is_a_dtype(f):  # which NumPy 2.5's own histogram gives
    with_class, with_dtype = (grad(lambda x, d=d: np.sum(f(x, d) ** 2))(V) for d in (np.dtypes.Float64DType, float))
    np.testing.assert_array_equal(with_class, with_dtype)


def test_a_python_number_does_not_widen_the_dtype_asked_for():
    assert vjp(lambda x: np.multiply(x, 2.0, dtype=np.float32), V)[0].dtype == np.float32


@pytest.mark.parametrize("keywords", [{"order": "F"}, {"subok": False}])
def test_a_keyword_that_cannot_be_kept_is_named(keywords):
    with pytest.raises(NoRuleError, match=next(iter(keywords))):
        vjp(lambda x: np.add(x, x, **keywords), X)


@pytest.mark.parametrize("signature", ["ff->f", (None, None, np.float32)])
def test_a_signature_says_in_which_precision_a_ufunc_computes(signature):
    y, pullback = vjp(lambda x: np.multiply(x, x, signature=signature, casting="same_kind"), X)
    plain = np.multiply(X, X, signature=signature, casting="same_kind")
    np.testing.assert_array_equal(y, plain)
    assert y.dtype == plain.dtype == np.float32
    np.testing.assert_allclose(pullback(np.ones_like(y))[0], 2 * X, rtol=1e-6)


def test_a_signature_that_no_loop_has_is_numpys_error():
    with pytest.raises(TypeError, match=r"loop|signature"):
        vjp(lambda x: np.add(x, x, signature="dd->i"), X)


def in_place(x):
    a = np.ones(4)
    a += x
    return a


@pytest.mark.parametrize(
    "call",
    [
        in_place,
        lambda x: np.sin(x, out=np.zeros(4)),
        lambda x: np.sin(x, out=np.zeros(4), where=x > 0),
        lambda x: np.add.reduce(x, out=np.zeros(())),
        lambda x: np.add.accumulate(x, out=np.zeros(4)),
        lambda x: np.divmod(x, 2, out=(np.zeros(4), np.zeros(4))),
        lambda x: np.add.at(np.zeros(4), [0], x[0]),
        lambda x: np.multiply.at(np.zeros(4), [0], x[0]),
    ],
)
def test_writing_into_an_ordinary_array_says_how_to_make_one_that_can(call):
    with pytest.raises(TracerConversionError, match=r"np\.zeros\(n, like=x\)"):
        vjp(call, V)


def test_a_result_without_derivative_may_be_written_into_an_ordinary_array():
    mask, sign = np.zeros(4, bool), np.zeros(4)

    def f(x):
        assert np.greater(x, 1, out=mask) is mask
        np.floor(3 * x, out=sign)
        return np.sum(x * mask * sign)

    np.testing.assert_array_equal(grad(f)(V), (V > 1) * np.floor(3 * V))


def test_constants_may_be_written_into_a_traced_array(check_derivatives):
    def f(x, v):
        z = x * v
        np.add(np.ones(4), 2.0, out=z[0])
        return z * z

    check_derivatives(f, X, V)


# ---------------------------------------------------------------- at


def add_at_repeated(x, v):
    z = x[0] * 2
    np.add.at(z, [0, 0, 3, 0], v)
    return z * z


def add_at_a_number(x, v):
    z = np.zeros(4, like=x)
    np.add.at(z, [1, 1, 2], v[0])
    return z * z


def add_at_broadcasts(x, v):
    z = x * 2
    np.add.at(z, ([0, 0, 2], slice(None)), v)
    return z * z


def add_at_a_plain_value(x, v):
    z = x * v
    np.add.at(z, (slice(None), [1, 1]), [1.0, 2.0])
    return z * z


def add_at_a_view(x, v):
    z = np.zeros((2, 4), like=x)
    np.add.at(z[1], [2, 2, 0, 1], v)
    return z[1] * v


def add_at_a_mask(x, v):
    z = x * v
    np.add.at(z, MASK, x[0, 0])
    return z * z


def subtract_at_repeated(x, v):
    z = x * v
    np.subtract.at(z, (np.array([0, 0, 1]), np.array([1, 1, 2])), x[:, 0] * 2)
    return z * z


def multiply_at_different_elements(x, v):
    z = x * v
    np.multiply.at(z, ([0, 2], [1, 1]), v[:2])
    return z * z


def multiply_at_a_slice(x, v):
    z = x * v
    np.multiply.at(z, 1, v)
    return z * z


def exp_at(x, v):
    z = x * v
    np.exp.at(z, ([0, 1], [0, 1]))
    return z * z


@expressions(
    *map(
        write,
        [
            add_at_repeated,
            add_at_a_number,
            add_at_broadcasts,
            add_at_a_plain_value,
            add_at_a_view,
            add_at_a_mask,
            subtract_at_repeated,
            multiply_at_different_elements,
            multiply_at_a_slice,
            exp_at,
        ],
    )
)
def test_at_writes_into_a_traced_array_as_numpy_does(check_derivatives, f):
    check_derivatives(f, X, V)


def test_at_with_an_element_named_twice_is_refused_where_only_a_sum_would_be_right():
    with pytest.raises(NoRuleError, match="named several times"):
        vjp(lambda x: np.multiply.at(x, [0, 0], 2.0), V)


def test_reduce_by_definition_of_several_levels(check_derivatives):
    def f(x, v):
        return grad(lambda w: np.subtract.reduce(np.logaddexp.reduce(x * w * w)))(v)

    def by_hand(x, v):
        # With e = exp(x w²), the derivative of log Σᵢ eᵢⱼ with respect to wⱼ is 2 wⱼ Σᵢ xᵢⱼ eᵢⱼ / Σᵢ eᵢⱼ.
        e = np.exp(x * v * v)
        return np.array([1.0, -1, -1, -1]) * 2 * v * np.sum(x * e, 0) / np.sum(e, 0)

    np.testing.assert_allclose(f(X, V), by_hand(X, V), rtol=1e-12)
    check_derivatives(f, X, V, second_order=False)
