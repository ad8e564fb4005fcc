"""Functions with rules as functions of MyGrad's tensors: what they answer is compared with MyGrad's own."""

import numpy as np
import pytest

mg = pytest.importorskip("mygrad", reason="MyGrad is not installed")

from rules.operators import rotary_embedding  # noqa: E402
from rulescore import NoTangent, Thunk, rrule  # noqa: E402
from rulescore.ad import vjp  # noqa: E402
from rulescore.backends.mygrad import to_mygrad  # noqa: E402

X, Y = np.array([0.3, 0.7, 1.1]), np.array([0.2, -0.4, 0.5])


def by_numpy(x, y):
    return np.sin(x) * np.exp(y) + x**3


def gradients(f, *arrays):
    tensors = [mg.tensor(x) for x in arrays]
    (f(*tensors) ** 2).sum().backward()
    return [x.grad for x in tensors]


def by_mygrad(x, y):
    return mg.sin(x) * mg.exp(y) + x**3


def test_gradients_are_those_of_mygrad():
    for found, expected in zip(gradients(to_mygrad(by_numpy), X, Y), gradients(by_mygrad, X, Y), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_conventional_calls_with_keywords_and_containers_work():
    x = mg.tensor(X)
    ours = to_mygrad(lambda pair, *, axis: {"sum": np.sum(pair[0] * pair[1], axis=axis), "count": len(pair[0])})
    y = ours((x, Y), axis=0)
    assert y["count"].constant
    y["sum"].backward()
    np.testing.assert_allclose(x.grad, Y)


def test_several_outputs_are_tensors_and_their_gradients_add():
    a = np.array([[2.0, 0.5], [0.5, 1.0]])
    x = mg.tensor(a)
    w, v = to_mygrad(np.linalg.eigh)(x)
    (w.sum() * 2 + (v**3).sum()).backward()
    _, pullback = vjp(lambda a: 2 * np.sum((e := np.linalg.eigh(a))[0]) + np.sum(e[1] ** 3), a)
    np.testing.assert_allclose(x.grad, pullback(1.0)[0], rtol=1e-12)


def test_constants_get_no_gradient_and_cost_nothing():
    computed = []

    def scaled(x, y):
        return x * y

    @rrule.register(scaled)
    def scaled_rrule(x, y):
        def bar(which, value):
            return Thunk(lambda: computed.append(which) or value)

        return x * y, lambda zbar: (NoTangent(), bar("x", zbar * y), bar("y", zbar * x))

    x, y = mg.tensor(X), mg.tensor(Y, constant=True)
    to_mygrad(scaled)(x, y).sum().backward()
    np.testing.assert_allclose(x.grad, Y)
    assert y.grad is None
    assert computed == ["x"]
    assert to_mygrad(scaled)(X, Y).constant


def test_one_cotangent_for_two_arguments_is_not_added_to_twice():
    def difference(x, y):
        return np.sum(x + y)

    @rrule.register(difference)
    def difference_rrule(x, y):
        def pullback(ybar):
            bar = np.full(x.shape, ybar)
            return NoTangent(), bar, bar

        return difference(x, y), pullback

    x, y = mg.tensor(X), mg.tensor(Y)
    (to_mygrad(difference)(x, y) + (x**2).sum()).backward()
    np.testing.assert_allclose(x.grad, 1 + 2 * X)
    np.testing.assert_allclose(y.grad, np.ones(3))


def test_a_tensor_used_twice_and_calls_within_calls():
    ours = to_mygrad(np.sin)
    x, same = mg.tensor(X), mg.tensor(X)
    (ours(ours(x)) * ours(x) + x).sum().backward()
    (mg.sin(mg.sin(same)) * mg.sin(same) + same).sum().backward()
    np.testing.assert_allclose(x.grad, same.grad, rtol=1e-12)


def test_the_value_does_not_share_memory_with_the_argument():
    x = mg.tensor(np.arange(6.0).reshape(2, 3))
    y = to_mygrad(np.transpose)(x)
    assert not np.may_share_memory(x.data, y.data)
    y[0].sum().backward()
    np.testing.assert_array_equal(x.grad, [[1, 0, 0], [1, 0, 0]])


def test_precision_is_kept():
    x = mg.tensor(X.astype(np.float32))
    y = to_mygrad(by_numpy)(x, np.float32(0.5))
    y.sum().backward()
    assert y.dtype == x.grad.dtype == np.float32


def test_an_operator_trains():
    rng = np.random.default_rng(0)
    data, theta = rng.standard_normal((6, 3)), np.array([1.0, 0.3])
    target = rotary_embedding(data @ rng.standard_normal((3, 4)), theta)
    w, losses = mg.tensor(rng.standard_normal((3, 4))), []
    for _ in range(50):
        loss = ((to_mygrad(rotary_embedding)(mg.matmul(data, w), theta) - target) ** 2).mean()
        loss.backward()
        losses.append(loss.item())
        w = mg.tensor(w.data - 0.2 * w.grad)
    assert losses[0] > 10 * losses[-1]


def test_what_is_wrong_is_told():
    with pytest.raises(TypeError, match="got no function"):
        to_mygrad(3)
    with pytest.raises(TypeError, match="neither an array nor hashable"):
        to_mygrad(by_numpy)(mg.tensor(X), {1, 2})
    with pytest.raises(TypeError, match="complex"):
        to_mygrad(np.fft.fft)(mg.tensor(X))
