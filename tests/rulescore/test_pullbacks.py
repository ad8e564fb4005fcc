"""Rules that are only their mathematics: `pullback_wrt` and `pushforward` do what the protocol asks for."""

import traceback
import weakref

import numpy as np
import pytest

from rulescore import (
    NoTangent,
    NotImplementedTangent,
    Selected,
    Tangent,
    Thunk,
    ZeroTangent,
    apply_linear,
    frule,
    instances_of,
    is_differentiable,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.tables.registry import ForwardRuleTable, ReverseRuleTable
from testutils import check_rule

X = np.array([1.0, 2.0, 3.0])


def forced(bars):
    return tuple(map(unthunk, bars))


def test_a_pullback_of_one_primal_begins_with_the_function_s_own_cotangent():
    pullback = pullback_wrt(X)(lambda ybar: 2 * ybar)
    own, xbar = pullback(X)
    assert own is NoTangent()
    np.testing.assert_array_equal(xbar, 2 * X)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_cotangents_arrive_without_thunks_and_zeros_pass_without_a_call(count):
    seen = []

    def bar(ybar):
        seen.append(ybar)
        return ybar

    pullback = pullback_wrt(*[X] * count)(*[bar] * count)
    assert forced(pullback(ZeroTangent())) == (NoTangent(), *[ZeroTangent()] * count)
    assert not seen
    _, *bars = forced(pullback(Thunk(lambda: X)))
    assert all(type(ybar) is np.ndarray for ybar in seen)
    assert len(bars) == len(seen) == count


@pytest.mark.parametrize("count", [2, 3])
def test_no_cotangent_is_computed_that_nobody_asked_for(count):
    calls = []

    def bar_of(i):
        def bar(ybar):
            calls.append(i)
            return ybar

        return bar

    _, *bars = pullback_wrt(*[X] * count)(*map(bar_of, range(count)))(X)
    assert calls == []
    unthunk(bars[1])
    unthunk(bars[1])
    assert calls == [1]


def test_of_what_cotangents_share_the_rest_is_computed_when_it_is_asked_for():
    calls = []

    @pullback_wrt(X, X, X)
    def pullback(ybar):
        calls.append("shared")
        shared = 2 * ybar
        return shared, lambda: calls.append("second") or 3 * shared, lambda: calls.append("third") or 5 * shared

    _, abar, bbar, cbar = pullback(X)
    assert calls == ["shared"]
    np.testing.assert_array_equal(abar, 2 * X)
    np.testing.assert_array_equal(unthunk(cbar), 10 * X)
    assert calls == ["shared", "third"]
    np.testing.assert_array_equal(unthunk(bbar), 6 * X)


def test_an_ellipsis_stands_for_what_has_no_cotangent():
    _, xbar, axis_bar, zbar = forced(pullback_wrt(X, ..., X)(lambda ybar: ybar, lambda ybar: -ybar)(X))
    np.testing.assert_array_equal(xbar, X)
    assert axis_bar is NoTangent()
    np.testing.assert_array_equal(zbar, -X)
    _, xbar, axis_bar, zbar = forced(pullback_wrt(X, ..., X)(lambda ybar: (ybar, lambda: -ybar))(X))
    assert axis_bar is NoTangent()
    np.testing.assert_array_equal(zbar, -X)
    _, axis_bar, zbar = forced(pullback_wrt(..., X)(lambda ybar: -ybar)(X))
    assert axis_bar is NoTangent()
    np.testing.assert_array_equal(zbar, -X)


def test_nothing_is_computed_for_primals_without_a_tangent_space():
    def fails(ybar):
        raise AssertionError("nobody asked")

    integers = np.arange(3)
    for count in (1, 2, 3):
        assert pullback_wrt(*[integers] * count)(*[fails] * count)(X) == (NoTangent(),) * (1 + count)
    assert pullback_wrt(integers, "name", 1)(fails)(X) == (NoTangent(),) * 4
    _, first, second = forced(pullback_wrt(integers, X)(fails, lambda ybar: ybar)(X))
    assert first is NoTangent()
    np.testing.assert_array_equal(second, X)
    _, first, second = forced(pullback_wrt(integers, X)(lambda ybar: (lambda: fails(ybar), ybar))(X))
    assert first is NoTangent()
    assert pullback_wrt(X, integers)(lambda ybar: (ybar, lambda: fails(ybar)))(X)[2] is NoTangent()


def test_a_pullback_ends_before_what_was_not_given():
    for ybar in (X, ZeroTangent()):
        assert len(pullback_wrt(X, ...)(lambda ybar: ybar)(ybar)) == 2
        assert len(pullback_wrt(X, None, np._NoValue)(*[lambda ybar: ybar] * 3)(ybar)) == 2
        assert len(pullback_wrt(X, ..., X, None)(*[lambda ybar: ybar] * 3)(ybar)) == 4
        assert len(pullback_wrt(X, ..., X, None)(lambda ybar: (ybar,) * 3)(ybar)) == 4


def test_cotangents_are_projected_onto_their_primals():
    single = X.astype(np.float32)
    assert pullback_wrt(single)(lambda ybar: ybar * (1 + 2j))(X)[1].dtype == np.float32
    _, abar, bbar = forced(pullback_wrt(single, 2.0)(lambda ybar: ybar * 1j, lambda ybar: np.sum(ybar) * (1 + 1j))(X))
    np.testing.assert_array_equal(abar, np.zeros(3, np.float32), strict=True)
    assert bbar == 6.0
    with pytest.raises(ValueError, match="shape"):
        pullback_wrt(X)(lambda ybar: ybar[:2])(X)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_cotangent_that_does_not_fit_is_named(count):
    def wrong(ybar):
        return ybar[:2]

    match = rf"wrong \(.*test_pullbacks.py:\d+\), of argument {count - 1}: a cotangent of shape \(2,\) does not fit"
    functions = [*[lambda ybar: ybar] * (count - 1), wrong]
    for given in ({}, {"needs": (True,) * count}):
        with pytest.raises(ValueError, match=match):
            forced(pullback_wrt(*[X] * count, **given)(*functions)(X))
    if count > 1:
        with pytest.raises(ValueError, match=f"of argument {count - 1}: a cotangent of shape"):
            pullback_wrt(*[X] * count)(lambda ybar: (*[ybar] * (count - 1), ybar[:2]))(X)


def test_of_several_outputs_it_gets_a_tuple_in_which_some_may_be_zero():
    pullback = pullback_wrt(X)(lambda ybars: ybars[0] + 2 * ybars[1])
    np.testing.assert_array_equal(pullback((X, Thunk(lambda: X)))[1], 3 * X)
    np.testing.assert_array_equal(pullback((ZeroTangent(), X))[1], 2 * X)
    assert pullback((ZeroTangent(), NoTangent()))[1] is ZeroTangent()
    structural = pullback_wrt(X)(lambda ybar: ybar.Q + 0 * ybar.R)
    np.testing.assert_array_equal(structural(Tangent(type(np.linalg.qr(np.eye(2))), X, X))[1], X)
    assert structural(Tangent(type(np.linalg.qr(np.eye(2))), ZeroTangent(), NoTangent()))[1] is ZeroTangent()


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_functions_that_fit_no_number_of_primals_are_refused(count):
    if count == 1:
        with pytest.raises(TypeError, match="returned 2 items for 3 primals"):
            pullback_wrt(X, X, X)(lambda ybar: (ybar, ybar))(X)
        with pytest.raises(TypeError, match="returned a ndarray for 3 primals"):
            pullback_wrt(X, X, X)(lambda ybar: ybar)(X)
        return
    with pytest.raises(TypeError, match=f"pullback_wrt of 3 primals got {count} functions"):
        pullback_wrt(X, X, X)(*[lambda ybar: ybar] * count)


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x

    def applied(self, x):
        return self.factor * x


def scale_rrule(scale, x):
    @pullback_wrt(x, function=scale)
    def pullback(ybar):
        return Tangent(Scale, factor=np.sum(x * ybar)), lambda: scale.factor * ybar

    return scale(x), pullback


def test_callable_objects_have_a_cotangent_of_their_own():
    table = ReverseRuleTable("rrule")
    table.add_rule(instances_of(Scale), scale_rrule)
    y, pullback = table(Scale(3.0), X)
    np.testing.assert_array_equal(y, 3 * X)
    own, xbar = forced(pullback(X))
    assert own.factor == np.sum(X * X)
    np.testing.assert_array_equal(xbar, 3 * X)


def test_methods_are_functions_of_the_instance():
    table = ReverseRuleTable("rrule")

    @table.register(Scale.applied)
    def applied_rrule(scale, x):
        bars = pullback_wrt(scale, x)(
            lambda ybar: Tangent(Scale, factor=np.sum(x * ybar)), lambda ybar: scale.factor * ybar
        )
        return scale.applied(x), bars

    _, pullback = table(Scale.applied, Scale(3.0), X)
    _, own, xbar = forced(pullback(X))
    assert own.factor == np.sum(X * X)
    np.testing.assert_array_equal(xbar, 3 * X)


# ---------------------------------------------------------------- whole rules


def power(x, n=2.0):
    return x**n


@rrule.register(power)
def power_rrule(x, n=2.0):
    y = x**n
    return y, pullback_wrt(x, n)(lambda ybar: n * x ** (n - 1) * ybar, lambda ybar: np.sum(np.log(x) * y * ybar))


@frule.register(power)
@pushforward
def power_frule(dx, dn, x, n=2.0):
    y = x**n
    return y, n * x ** (n - 1) * dx + np.log(x) * y * dn


@pytest.mark.parametrize("n", [2.0, 3.0])
def test_rules_of_the_mathematics_alone_pass_every_check(n):
    assert check_rule(power, X, n).verdict == "pass"
    assert check_rule(power, X, fkwargs={"n": n}).verdict == "pass"


def test_records_and_tracebacks_point_at_the_rule_s_own_line():
    (record,) = frule.records(power)
    assert record.file == __file__
    assert record.line == power_frule.__wrapped__.__code__.co_firstlineno

    def fails(ybar):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        pullback_wrt(X)(fails)(X)
    assert traceback.extract_tb(raised.value.__traceback__)[-1].name == "fails"


def tripled(x):
    return 3 * x


@rrule.register(tripled)
def tripled_rrule(x):
    @pullback_wrt(x)
    def tripled_pullback(ybar):
        return ybar["no such thing"]

    return 3 * x, tripled_pullback


def test_the_tester_s_report_shows_the_rule_s_own_line_and_nothing_of_what_is_around_it():
    text = str(check_rule(tripled, X, modes=("rrule",)))
    assert 'return ybar["no such thing"]' in text
    assert "pullbacks.py:" not in text.replace("test_pullbacks.py:", "")


# ---------------------------------------------------------------- pushforward


def test_a_rule_is_not_called_for_tangents_that_are_all_zero():
    def double(x):
        return 2 * x

    @pushforward
    def rule(dx, x):
        raise AssertionError("nobody asked")

    table = ForwardRuleTable("frule")
    table.add_rule(double, rule)
    y, dy = table((NoTangent(), ZeroTangent()), double, X)
    np.testing.assert_array_equal(y, 2 * X)
    assert dy is ZeroTangent()
    assert table((NoTangent(), NoTangent()), double, 2)[1] is NoTangent()


def test_along_zeros_a_function_gets_by_keyword_what_it_takes_by_keyword_alone():
    def scaled(x, *, factor=2.0):
        return factor * x

    @pushforward
    def rule(dx, dfactor, x, factor=2.0):
        return factor * x, factor * dx + dfactor * x

    table = ForwardRuleTable("frule")
    table.add_rule(scaled, rule)
    y, dy = table((NoTangent(), ZeroTangent(), ZeroTangent()), scaled, X, 3.0)
    np.testing.assert_array_equal(y, 3 * X)
    assert dy is ZeroTangent()


def test_along_zeros_what_stands_behind_a_star_stays_a_keyword():
    def total(*xs, factor=2.0):
        return factor * sum(xs)

    table = ForwardRuleTable("frule")
    table.add_rule(total, pushforward(lambda dxs, *xs, factor=2.0: (factor * sum(xs), factor * sum(dxs))))
    assert table((NoTangent(), ZeroTangent(), ZeroTangent()), total, 1.0, 2.0, factor=3.0) == (9.0, ZeroTangent())


def test_along_zeros_a_function_does_not_get_what_was_not_given():
    def shifted(x, by=1.0, scale=2.0):
        return scale * (x + by)

    given = np._NoValue
    table = ForwardRuleTable("frule")
    table.add_rule(shifted, pushforward(lambda dx, _dby, _dscale, x, by=given, scale=given: (x, dx)))
    for arguments, y in (((1.0,), 4.0), ((1.0, 2.0), 6.0), ((1.0, given, 3.0), 6.0)):
        assert table((NoTangent(),) + (ZeroTangent(),) * len(arguments), shifted, *arguments) == (y, ZeroTangent())


def test_along_zeros_a_scalar_has_its_own_method():
    y, dy = frule((NoTangent(), ZeroTangent(), NoTangent()), np.ndarray.reshape, np.float64(2.0), (1, 1))
    np.testing.assert_array_equal(y, [[2.0]])
    assert dy is ZeroTangent()


def test_a_zero_for_an_output_says_whether_that_has_a_derivative():
    @pushforward
    def rule(dx, x):
        return (x, 1), (NoTangent(), ZeroTangent())

    assert tuple(rule((NoTangent(), X), X)[1]) == (ZeroTangent(), NoTangent())


def test_a_rule_that_is_called_by_itself_computes_the_output_along_zeros():
    y, dy = power_frule((NoTangent(), ZeroTangent(), ZeroTangent()), X, 3.0)
    np.testing.assert_array_equal(y, X**3)
    assert dy is ZeroTangent()
    y, dy = power_frule((NoTangent(), NoTangent(), NoTangent()), np.arange(1, 4), 3)
    np.testing.assert_array_equal(y, [1, 8, 27])
    assert dy is NoTangent()


def test_tangents_arrive_without_thunks_and_results_are_projected():
    @pushforward
    def rule(dx, x):
        assert type(dx) is np.ndarray
        return x * 2, dx * (2 + 1j)

    _y, dy = rule((NoTangent(), Thunk(lambda: X)), X.astype(np.float32))
    np.testing.assert_array_equal(dy, (2 * X).astype(np.float32), strict=True)
    _y, dy = pushforward(lambda dx, x: ((x, 2.0), (dx * 1j, 1 + 1j)))((NoTangent(), X), X)
    np.testing.assert_array_equal(dy[0], 0 * X, strict=True)
    assert dy[1] == 1.0


def test_a_tangent_that_no_parameter_takes_makes_no_silent_zero():
    @pushforward
    def rule(da, a, b):
        return a * b, da * b

    y, dy = rule((NoTangent(), X, ZeroTangent()), X, 2.0)
    np.testing.assert_array_equal(dy, 2 * X)
    y, dy = rule((NoTangent(), X, 1.0), X, 2.0)
    np.testing.assert_array_equal(y, 2 * X)
    assert isinstance(dy, NotImplementedTangent)
    with pytest.raises(NotImplementedError, match="argument 1 of"):
        dy.fail()


def test_a_tangent_with_an_underscore_does_not_matter():
    @pushforward
    def rule(da, _db, a, b=1):
        return a * np.sign(b), da * np.sign(b)

    np.testing.assert_array_equal(rule((NoTangent(), X, 1.0), X, 2.0)[1], X)
    y, dy = rule((NoTangent(), ZeroTangent(), 1.0), X, 2.0)
    np.testing.assert_array_equal(y, X)
    assert dy is ZeroTangent()


def test_instances_of_a_class_have_tangents_of_their_own():
    table = ForwardRuleTable("frule")

    @table.register(instances_of(Scale))
    @pushforward
    def scale_frule(dscale, dx, scale, x):
        y = scale(x)
        return y, (dscale.factor if isinstance(dscale, Tangent) else 0.0) * x + scale.factor * dx

    _, dy = table((Tangent(Scale, factor=1.0), X), Scale(3.0), X)
    np.testing.assert_array_equal(dy, 4 * X)
    y, dy = table((ZeroTangent(), ZeroTangent()), Scale(3.0), X)
    np.testing.assert_array_equal(y, 3 * X)
    assert dy is ZeroTangent()


def test_a_first_parameter_that_is_no_tangent_is_refused():
    with pytest.raises(TypeError, match="its first parameter is no tangent of an argument"):
        pushforward(lambda x: x)


# ---------------------------------------------------------------- what is needed, defaults, stars


def test_of_what_is_not_needed_nothing_is_computed_and_nothing_kept():
    class Saved:
        pass

    saved = Saved()
    gone = weakref.ref(saved)
    calls = []
    pullback = pullback_wrt(X, X, X, needs=(True, False, False))(
        lambda ybar: calls.append("first") or 2 * ybar, lambda ybar, saved=saved: saved, lambda ybar: ybar
    )
    del saved
    assert gone() is None
    own, xbar, *others = pullback(X)
    assert (own, type(xbar), others, calls) == (NoTangent(), np.ndarray, [NoTangent()] * 2, ["first"])
    assert pullback(ZeroTangent()) == (NoTangent(), ZeroTangent(), NoTangent(), NoTangent())
    with pytest.raises(TypeError, match="of 2 primals got 1 functions"):
        pullback_wrt(X, X, needs=(True, True))(lambda ybar: ybar)


@pytest.mark.parametrize("others", [(), (X,)])
def test_for_what_has_no_tangent_space_nothing_is_kept(others):
    class Saved:
        pass

    saved = Saved()
    gone = weakref.ref(saved)
    functions = [lambda ybar, saved=saved: saved, *[lambda ybar: 2 * ybar for _ in others]]
    pullback = pullback_wrt(None, *others)(*functions)
    del saved, functions
    assert gone() is None
    assert len(pullback(X)) == (3 if others else 2)


def test_whether_something_has_a_tangent_space():
    assert all(map(is_differentiable, (1.0, X, [1, 2j], (X,), np.float32(1))))
    assert not any(map(is_differentiable, (1, "name", None, np._NoValue, ..., np.arange(3), [1, 2], True, len)))


def test_a_cotangent_of_a_parameter_left_to_its_default_is_no_mistake():
    assert check_rule(power, X).verdict == "pass"


def test_tangents_of_a_star_come_as_a_tuple():
    @pushforward
    def total_frule(dc, dxs, c, *xs):
        return c * sum(xs), dc * sum(xs) + c * sum(dxs, ZeroTangent())

    _, dy = total_frule((NoTangent(), ZeroTangent(), Thunk(lambda: X), ZeroTangent()), 2.0, X, X)
    np.testing.assert_array_equal(dy, 2 * X)
    assert total_frule((NoTangent(), ZeroTangent(), ZeroTangent()), 2.0, X)[1] is ZeroTangent()

    @pushforward
    def first_frule(dx, x, *others):
        return x, dx

    assert isinstance(first_frule((NoTangent(), X, NoTangent(), X), X, X, X)[1], NotImplementedTangent)


def test_linear_functions_take_zeros_to_zeros():
    def never(*_):
        raise AssertionError

    assert apply_linear(never, ZeroTangent(), NoTangent()) is ZeroTangent()
    np.testing.assert_array_equal(apply_linear(lambda a, b: a + b, ZeroTangent(), X), X)
    for f in (np.triu, np.cumsum, np.diagonal):
        assert f(ZeroTangent()) is ZeroTangent()
    for result in (np.outer(X, ZeroTangent()), np.einsum("i,i", NoTangent(), X), np.tensordot(ZeroTangent(), X, 1)):
        assert isinstance(result, (NoTangent, ZeroTangent))


def test_along_zeros_a_function_that_hands_over_nothing_is_seen_by_tracers():
    def doubled(x):
        return 2 * np.asarray(x, float)

    rule = pushforward(lambda dx, x: (doubled(x), 2 * dx))
    table = ForwardRuleTable("frule")
    table.add_rule(doubled, rule)
    seen = []

    class Tracer:
        __rule_type__ = np.ndarray

        def __array_function__(self, function, types, args, kwargs):
            seen.append(function)
            return "traced"

    record = table.records(doubled)[0].implementation
    assert record((NoTangent(), ZeroTangent()), Tracer())[0] == "traced"
    assert seen == [doubled]


@pytest.mark.parametrize("given", [((True,), {}), ((), {"overwrite_x": True})], ids=["by position", "by keyword"])
def test_along_zeros_no_use_is_made_of_a_permission_to_overwrite(given):
    def doubled(x, overwrite_x=False):
        x = x if overwrite_x else x.copy()
        x *= 2
        return x

    def doubled_frule(dx, x, overwrite_x=False):
        return doubled(x), 2 * dx

    table = ForwardRuleTable("frule")
    table.add_rule(doubled, pushforward(doubled_frule))
    args, kwargs = given
    x = X.copy()
    tangents = (NoTangent(), ZeroTangent(), *[NoTangent()] * len(args))
    y, _ = table(tangents, doubled, x, *args, **kwargs)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, 2 * X)


# ---------------------------------------------------------------- elementwise


def scaled_root(x, a):
    return a * np.sqrt(x)


def scaled_root_pullback(x, a, **options):
    return pullback_wrt(x, a, elementwise=True, **options)(
        lambda ybar: unbroadcast(ybar * (a / 2 / np.sqrt(x)), np.shape(x)),
        lambda ybar: unbroadcast(ybar * np.sqrt(x), np.shape(a)),
    )


@pytest.mark.filterwarnings("ignore")
def test_elementwise_pullbacks_keep_out_what_is_masked():
    x, a = np.array([1.0, np.nan, 4.0, 0.0]), 3.0
    ybar = Selected(lambda: np.array([1.0, 0.0, 2.0, 0.0]), np.array([True, False, True, False]))
    fbar, xbar, abar = scaled_root_pullback(x, a)(ybar)
    assert fbar is NoTangent()
    np.testing.assert_array_equal(unthunk(xbar), [1.5, 0.0, 1.5, 0.0])
    np.testing.assert_array_equal(xbar.condition, [True, False, True, False])
    assert unthunk(abar) == 1.0 + 2.0 * 2.0


def test_elementwise_pullbacks_are_the_same_of_plain_cotangents():
    x, a, ybar = np.array([1.0, 4.0]), np.array([[3.0], [2.0]]), np.arange(4.0).reshape(2, 2)
    fbar, *bars = scaled_root_pullback(x, a)(ybar)
    assert fbar is NoTangent()
    np.testing.assert_array_equal(unthunk(bars[0]), [0.0 * 1.5 + 2 * 1.0, 1 * 0.75 + 3 * 0.5])
    np.testing.assert_array_equal(unthunk(bars[1]), [[2.0], [8.0]])


def test_elementwise_pullbacks_compute_what_is_needed():
    x, a = np.array([1.0, 4.0]), 3.0
    ybar = Selected(lambda: np.array([1.0, 0.0]), np.array([True, False]))
    for given in (ybar, unthunk(ybar)):
        _, xbar, abar = scaled_root_pullback(x, a, needs=(True, False))(given)
        np.testing.assert_array_equal(unthunk(xbar), [1.5, 0.0])
        assert abar is NoTangent()


def test_elementwise_pullbacks_say_what_they_do_not_take():
    with pytest.raises(TypeError, match="of 2 primals got 1 functions: give one for each"):
        pullback_wrt(1.0, 2.0, elementwise=True)(lambda ybar: (ybar, ybar))
    with pytest.raises(TypeError, match="leave function= out"):
        pullback_wrt(1.0, function=len, elementwise=True)
