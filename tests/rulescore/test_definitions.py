"""The short ways to define rules, and what the rules made by them do."""

import functools
import gc
import math
import weakref

import numpy as np
import pytest

from rulescore import (
    MissingDerivativeError,
    NoTangent,
    NotImplementedTangent,
    OneOver,
    Selected,
    Tangent,
    Thunk,
    ZeroTangent,
    derivatives_given_output,
    frule,
    ignore_derivatives,
    linear_rule,
    no_tangent_pullback,
    not_implemented,
    opt_out,
    rrule,
    scalar_rule,
    static_rule,
    unthunk,
)


def pullback_of(f, *args, **kwargs):
    """The unthunked cotangents of the arguments, as a function of the output's."""
    _, pullback = rrule(f, *args, **kwargs)
    return lambda ybar: tuple(unthunk(bar) for bar in pullback(ybar)[1:])


def define_square():
    def square(x):
        return x * x

    scalar_rule(square, lambda y, x: 2 * x)
    return square


def define_product():
    def product(a, b):
        return a * b

    scalar_rule(product, lambda y, a, b: b, lambda y, a, b: a)
    return product


def fma(a, b, c):
    return a * b + c


def sine(x):
    return np.sin(x)


def named_y(y, n):
    return y + n


class Kept:
    """Stands for an array, and tells by a weak reference whether somebody keeps it."""

    class Array(np.ndarray):
        pass

    def __new__(cls, values):
        return np.asarray(values).view(cls.Array)


class TestScalarRule:
    def test_one_argument(self):
        square = define_square()
        assert rrule(square, 3.0)[0] == 9.0
        assert pullback_of(square, 3.0)(10.0) == (60.0,)
        assert frule((NoTangent(), 10.0), square, 3.0) == (9.0, 60.0)

    def test_two_arguments(self):
        product = define_product()
        assert pullback_of(product, 3.0, 5.0)(10.0) == (50.0, 30.0)
        assert frule((NoTangent(), 1.0, 10.0), product, 3.0, 5.0) == (15.0, 35.0)

    def test_three_arguments(self):
        def fma(a, b, c):
            return a * b + c

        scalar_rule(fma, lambda y, a, b, c: b, lambda y, a, b, c: a, lambda y, a, b, c: 1)
        assert pullback_of(fma, 3.0, 5.0, 1.0)(10.0) == (50.0, 30.0, 10.0)
        assert frule((NoTangent(), 1.0, 0.0, 10.0), fma, 3.0, 5.0, 1.0) == (16.0, 15.0)

    def test_the_first_cotangent_is_the_functions_own(self):
        assert rrule(define_square(), 3.0)[1](1.0)[0] is NoTangent()

    @pytest.mark.parametrize(("a", "b"), [((3,), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((1,), (4, 1)), ((), ())])
    def test_broadcasting_is_summed_back(self, a, b):
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal(a), rng.standard_normal(b)
        out, pullback = rrule(define_product(), x, y)
        outbar = rng.standard_normal(np.shape(out))
        _, xbar, ybar = map(unthunk, pullback(outbar))
        assert np.shape(xbar) == a
        assert np.shape(ybar) == b
        np.testing.assert_allclose(np.sum(xbar * x), np.sum(outbar * out))
        np.testing.assert_allclose(np.sum(ybar * y), np.sum(outbar * out))

    def test_a_tangent_of_one_argument_alone_has_the_shape_of_the_output(self):
        y, dy = frule((NoTangent(), 1.0, ZeroTangent()), define_product(), 2.0, np.ones(3))
        np.testing.assert_array_equal(dy, [1.0, 1.0, 1.0])

        def total(a, b):
            return a + b

        scalar_rule(total, lambda y, a, b: 1, lambda y, a, b: 1)
        y, dy = frule((NoTangent(), 1.0, NoTangent()), total, 2.0, np.ones(3, np.float32))
        assert dy.shape == y.shape
        assert dy.dtype == y.dtype
        dy += 1.0  # it is no view of one number

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.complex64])
    def test_precision_is_kept(self, dtype):
        square = define_square()
        x = np.array([1.0, 2.0], dtype)
        (xbar,) = pullback_of(square, x)(np.ones(2))
        assert xbar.dtype == dtype
        _, dy = frule((NoTangent(), np.ones(2, dtype)), square, x)
        assert dy.dtype == dtype
        (sbar,) = pullback_of(square, x[0])(np.float64(1.0))
        assert type(sbar) is dtype

    def test_the_pullback_conjugates_the_partial(self):
        square = define_square()
        assert pullback_of(square, 1.0 + 2j)(1.0) == (np.conj(2 * (1.0 + 2j)),)
        x = np.array([1.0 + 2j, 3j])
        np.testing.assert_array_equal(pullback_of(square, x)(np.ones(2))[0], np.conj(2 * x))
        assert frule((NoTangent(), 1.0), square, 1.0 + 2j)[1] == 2 * (1.0 + 2j)

    def test_a_real_argument_beside_a_complex_one_gets_a_real_cotangent(self):
        abar, bbar = pullback_of(define_product(), 2.0, 1.0 + 3j)(1.0 + 1j)
        assert abar == ((1.0 - 3j) * (1.0 + 1j)).real
        assert isinstance(abar, float)
        assert bbar == 2.0 * (1.0 + 1j)

    @pytest.mark.parametrize("x", [3, True, np.arange(3), "a"])
    def test_what_has_no_derivative_has_no_tangent(self, x):
        def same(x):
            return x

        scalar_rule(same, lambda y, x: 1)
        assert rrule(same, x)[1](1.0) == (NoTangent(),)

    def test_an_integer_beside_a_float(self):
        abar, bbar = pullback_of(define_product(), 2, 3.0)(10.0)
        assert abar is NoTangent()
        assert bbar == 20.0
        assert frule((NoTangent(), NoTangent(), 1.0), define_product(), 2, 3.0) == (6.0, 2.0)

    @pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()], ids=repr)
    def test_a_zero_cotangent_gives_zero_cotangents(self, zero):
        assert pullback_of(define_square(), np.ones(1))(zero) == (zero,)
        assert pullback_of(define_product(), np.ones((2, 1)), np.ones(1))(zero) == (zero, zero)
        assert frule((NoTangent(), zero), define_square(), 2.0) == (4.0, ZeroTangent())

    def test_a_thunk_for_a_cotangent_is_forced_with_the_result(self):
        xbar, _ = pullback_of(define_product(), 2.0, 3.0)(Thunk(lambda: 10.0))
        assert xbar == 30.0

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_a_masked_cotangent_stays_masked(self):
        a, b = np.array([[np.inf, 2.0], [3.0, 4.0]]), np.array([5.0, np.inf])
        _, pullback = rrule(define_product(), a, b)
        ybar = Selected(lambda: np.array([[0.0, 2.0], [1.0, 0.0]]), np.array([[False, True], [True, False]]))
        assert pullback.is_elementwise
        _, abar, bbar = pullback(ybar)
        assert type(abar) is type(bbar) is Selected
        np.testing.assert_array_equal(unthunk(abar), [[0, np.inf], [5, 0]])
        np.testing.assert_array_equal(unthunk(bbar), [3, 4])

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_sums_over_broadcast_axes_are_masked_where_nothing_was_selected(self):
        a, b = np.ones((2, 2)), np.array([5.0, np.inf])
        _, pullback = rrule(define_product(), a, b)
        bbar = pullback(Selected(lambda: np.array([[0.0, 2.0], [0.0, 1.0]]), np.array([False, True])))[2]
        np.testing.assert_array_equal(bbar.condition, [False, True])
        np.testing.assert_array_equal(unthunk(bbar * np.array([np.inf, 10.0])), [0, 30])

    def test_argument_lists_are_read_as_arrays(self):
        def total(x):
            return np.asarray(x) * 2

        scalar_rule(total, lambda y, x: 2)
        assert pullback_of(total, [1.0, 2.0])(np.ones(2)) == (Tangent(list, 2.0, 2.0),)

    def test_none_for_an_argument_without_derivative(self):
        def power(x, n):
            return x**n

        scalar_rule(power, lambda y, x, n: n * x ** (n - 1), None)
        assert pullback_of(power, 3.0, 2.0)(1.0) == (6.0, NoTangent())
        assert frule((NoTangent(), 1.0, 5.0), power, 3.0, 2.0) == (9.0, 6.0)

    def test_not_implemented_raises_where_it_is_used_and_nowhere_else(self):
        def bessel(order, x):
            return order * x

        scalar_rule(bessel, not_implemented("the order"), lambda y, order, x: order)
        orderbar, xbar = pullback_of(bessel, 2.0, 3.0)(1.0)
        assert xbar == 2.0
        assert isinstance(orderbar, NotImplementedTangent)
        with pytest.raises(MissingDerivativeError, match="the order"):
            orderbar - 1.0
        assert pullback_of(bessel, 2, 3.0)(1.0) == (NoTangent(), 2.0)
        assert frule((NoTangent(), ZeroTangent(), 1.0), bessel, 2.0, 3.0) == (6.0, 2.0)
        _, dy = frule((NoTangent(), 1.0, 1.0), bessel, 2.0, 3.0)
        assert isinstance(dy, NotImplementedTangent)
        assert rrule.lookup(bessel, float, float).static is None

    def test_only_not_implemented(self):
        def f(x):
            return x

        scalar_rule(f, not_implemented("all of it"))
        assert isinstance(pullback_of(f, 1.0)(1.0)[0], NotImplementedTangent)
        assert isinstance(frule((NoTangent(), 1.0), f, 1.0)[1], NotImplementedTangent)

    def test_types_restrict_both_rules(self):
        def f(x):
            return x

        scalar_rule(f, lambda y, x: 1, types=(float,))
        assert rrule(f, "a") is None
        assert frule((NoTangent(), 1.0), f, "a") is None
        assert rrule(f, 1.0) is not None

    def test_it_needs_a_partial(self):
        with pytest.raises(TypeError, match=r"scalar_rule\(len\) got no partial derivative: give one per argument"):
            scalar_rule(len)

    @pytest.mark.parametrize(
        ("f", "partials", "message"),
        [
            (
                fma,
                [lambda y, a, b, c: b],
                r"got 1 partial derivative, but fma takes \(a, b, c\): give one per argument",
            ),
            (fma, [None] * 4, r"got 4 partial derivatives, but fma takes \(a, b, c\)"),
            (functools.cache(fma), [None], r"takes \(a, b, c\)"),
            (np.multiply, [lambda y, a: a], "got 1 partial derivative, but multiply takes 2 arguments"),
            (math.pow, [None], r"got 1 partial derivative, but pow takes \(x, y, /\)"),
            (sine, [lambda x: np.cos(x)], r"partial 1 takes \(x\), but is called .*: write lambda y, x: \.\.\."),
            (sine, [OneOver(lambda x: x)], r"partial 1 takes \(x\)"),
            (sine, [np.cos], "partial 1 takes 1 argument, but"),
            (math.frexp, [lambda y, x, n: x], r"partial 1 takes \(y, x, n\)"),
            (named_y, [None, lambda y, n: 1], r"partial 2 takes \(y, n\), .*: write lambda out, y, n: \.\.\."),
            (sine, [1.0], "partial 1 is 1.0 and no function: write lambda y, x"),
        ],
    )
    def test_partials_that_cannot_be_those_of_the_function_are_refused(self, f, partials, message):
        generation = rrule.generation
        with pytest.raises(TypeError, match=message):
            scalar_rule(f, *partials)
        assert rrule.generation == generation

    @pytest.mark.parametrize(
        ("f", "partials"),
        [
            (lambda x, scale=2.0: scale * x, [lambda y, x: 2.0]),
            (lambda *args: args[0] * args[1], [lambda y, *args: args[1], lambda y, *args: args[0]]),
            (functools.wraps(fma)(lambda *args: fma(1.0, *args)), [lambda y, b, c: 1.0, lambda y, b, c: 1.0]),
            (np.frompyfunc(fma, 3, 1), [None, lambda y, a, b, c, factor=1: factor * a, ZeroTangent()]),
            (lambda x: x, [functools.partial(lambda c, y, x: c, 1.0)]),
        ],
    )
    def test_partials_that_may_be_those_of_the_function_are_not(self, f, partials):
        scalar_rule(f, *partials)
        assert f in rrule

    def test_the_rules_are_named_after_the_function(self):
        square = define_square()
        assert rrule.lookup(square, float).implementation.__name__.endswith("square_rrule")
        assert frule.lookup(square, float).implementation.__name__.endswith("square_frule")


class TestSeveralOutputs:
    @staticmethod
    def define():
        def sum_and_product(a, b):
            return a + b, a * b

        scalar_rule(sum_and_product, lambda y, a, b: (1, b), lambda y, a, b: (1, a))
        return sum_and_product

    def test_the_cotangents_of_all_outputs_are_summed(self):
        f = self.define()
        assert rrule(f, 3.0, 5.0)[0] == (8.0, 15.0)
        assert pullback_of(f, 3.0, 5.0)((1.0, 10.0)) == (51.0, 31.0)
        assert pullback_of(f, 3.0, 5.0)(Tangent(tuple, 1.0, ZeroTangent())) == (1.0, 1.0)
        assert pullback_of(f, 3.0, 5.0)(ZeroTangent()) == (ZeroTangent(), ZeroTangent())
        assert pullback_of(f, np.ones(1), np.ones((2, 1)))(ZeroTangent()) == (ZeroTangent(), ZeroTangent())

    def test_each_output_has_its_tangent(self):
        f = self.define()
        assert frule((NoTangent(), 1.0, 10.0), f, 3.0, 5.0) == ((8.0, 15.0), (11.0, 35.0))
        assert frule((NoTangent(), ZeroTangent(), NoTangent()), f, 3.0, 5.0)[1] is ZeroTangent()
        _, (dsum, dproduct) = frule((NoTangent(), 1.0, ZeroTangent()), f, 3.0, np.ones(2))
        np.testing.assert_array_equal(dsum, [1.0, 1.0])
        np.testing.assert_array_equal(dproduct, [1.0, 1.0])

    def test_none_for_an_output_without_derivative(self):
        def split(x):
            return np.modf(x)[0], int(x)

        scalar_rule(split, lambda y, x: (1, None))
        assert pullback_of(split, 2.5)((10.0, NoTangent())) == (10.0,)
        assert frule((NoTangent(), 1.0), split, 2.5) == ((0.5, 2), (1.0, NoTangent()))
        assert derivatives_given_output(split, (0.5, 2), 2.5) == ((1,), (NoTangent(),))

    def test_a_missing_derivative_beside_another(self):
        def f(a, b):
            return a, b

        for partials in (
            (not_implemented("a"), lambda y, a, b: (0, 1)),
            (lambda y, a, b: (1, 0), not_implemented("b")),
        ):
            scalar_rule(f, *partials)
            _, dy = frule((NoTangent(), 1.0, 1.0), f, 1.0, 2.0)
            assert isinstance(dy, NotImplementedTangent)
            missing = not_implemented("output")
            bars = pullback_of(f, 1.0, 2.0)((missing, missing))
            assert all(isinstance(bar, NotImplementedTangent) for bar in bars)


class TestKeywordsAndDefaults:
    @staticmethod
    def define():
        def line(x, slope=2.0, offset=1.0):
            return slope * x + offset

        scalar_rule(line, lambda y, x, a, b: a, lambda y, x, a, b: x, lambda y, x, a, b: 1)
        return line

    def test_python_functions_take_their_arguments_by_keyword(self):
        f = self.define()
        assert rrule(f, 3.0, slope=5.0)[0] == 16.0
        assert pullback_of(f, 3.0, slope=5.0)(1.0) == (5.0, 3.0)
        assert pullback_of(f, slope=5.0, x=3.0)(1.0) == (5.0, 3.0)
        assert pullback_of(f, 3.0, offset=5.0)(1.0) == (2.0, 3.0, 1.0)
        assert rrule(f, 3.0, unknown=5.0) is None
        assert frule((NoTangent(), 1.0), f, 3.0, slope=5.0) == (16.0, 5.0)
        assert frule((NoTangent(), 1.0, 10.0), f, 3.0, slope=5.0) == (16.0, 35.0)

    def test_what_is_left_out_has_its_default_and_no_cotangent(self):
        f = self.define()
        assert rrule(f, 3.0)[0] == 7.0
        assert pullback_of(f, 3.0)(1.0) == (2.0,)
        assert pullback_of(f, 3.0, 4.0)(1.0) == (4.0, 3.0)
        assert frule((NoTangent(), 1.0), f, 3.0) == (7.0, 2.0)

    def test_positions_are_those_that_bind_gives(self):
        f = self.define()
        args, kwargs = rrule.bind(f, (3.0,), {"offset": 5.0})
        assert (args, kwargs) == ((3.0, 2.0, 5.0), {})
        assert pullback_of(f, *args)(1.0) == pullback_of(f, 3.0, offset=5.0)(1.0)

    def test_needs_go_by_position(self):
        f = self.define()
        _, pullback = rrule.call(f, (3.0,), {"slope": 5.0}, needs=(False,))
        assert pullback(1.0) == (NoTangent(), NoTangent(), 3.0)
        _, pullback = rrule.call(f, (3.0, 5.0), needs=(True, False))
        assert pullback(1.0) == (NoTangent(), 5.0, NoTangent())

    def test_ufuncs_take_their_arguments_by_position_alone(self):
        assert rrule(np.multiply, 2.0, x2=3.0) is None

    def test_a_function_with_other_parameters_than_partials(self):
        def f(x, *rest):
            return x

        scalar_rule(f, lambda y, *args: 1, lambda y, *args: 0)
        assert pullback_of(f, 1.0, 2.0)(1.0) == (1.0, 0.0)
        assert rrule(f, 1.0) is None


class TestNeedsAndMemory:
    def test_what_nobody_needs_is_neither_computed_nor_kept(self):
        def product(a, b):
            return np.asarray(a) * np.asarray(b)

        scalar_rule(product, lambda y, a, b: b, lambda y, a, b: 1 / 0)
        a, b = Kept([1.0, 2.0]), Kept([3.0, 4.0])
        refs = weakref.ref(a), weakref.ref(b)
        _, pullback = rrule.call(product, (a, b), needs=(True, False))
        del a, b
        gc.collect()
        assert refs[0]() is None
        assert refs[1]() is not None
        _, abar, bbar = pullback(np.ones(2))
        np.testing.assert_array_equal(abar, [3.0, 4.0])
        assert bbar is NoTangent()

    @pytest.mark.parametrize(
        ("partial", "keeps_input", "keeps_output"),
        [
            (lambda y, x: 2, False, False),
            (lambda y, x: y, False, True),
            (lambda y, x: 2 * x, True, False),
            (lambda y, x: y * x, True, True),
            (lambda y, x: next(x for _ in range(1)), True, False),
            (lambda y, x: (lambda: y)(), False, True),
            (lambda *args: 2, True, True),
            (functools.partial(lambda y, x: 2), True, True),
        ],
    )
    def test_the_pullback_keeps_alive_what_the_partial_reads(self, partial, keeps_input, keeps_output):
        def f(x):
            return Kept(np.asarray(x) * 2)

        scalar_rule(f, partial)
        x = Kept([1.0, 2.0])
        y, pullback = rrule(f, x)
        refs = weakref.ref(x), weakref.ref(y)
        del x, y
        gc.collect()
        assert (refs[0]() is not None) == keeps_input
        assert (refs[1]() is not None) == keeps_output
        pullback(np.ones(2))

    def test_a_bound_method_as_a_partial_is_taken_to_read_everything(self):
        class Derivatives:
            def of_square(self, y, x):
                return 2 * x

        def square(x):
            return x * x

        scalar_rule(square, Derivatives().of_square)
        assert pullback_of(square, 3.0)(1.0) == (6.0,)

    def test_with_one_argument_and_no_need_nothing_is_kept(self):
        square = define_square()
        _, pullback = rrule.call(square, (3.0,), needs=(False,))
        assert pullback(1.0) == (NoTangent(),)

    def test_with_several_arguments_and_no_need_neither(self):
        _, pullback = rrule.call(define_product(), (2.0, 3.0), needs=(False, False))
        assert pullback is no_tangent_pullback
        assert pullback(1.0) == (NoTangent(),)

    def test_two_needed_cotangents_are_thunks_one_alone_is_not(self):
        product = define_product()
        assert all(isinstance(bar, Thunk) for bar in rrule(product, 2.0, 3.0)[1](1.0)[1:])
        assert rrule(product, 2, 3.0)[1](1.0) == (NoTangent(), NoTangent(), 2.0)


class TestStaticForm:
    def test_a_scalar_rule_has_one(self):
        product = define_product()
        form = rrule.lookup(product, float, float).static
        assert form.primal is product
        assert form.uses_output == (False, False)
        assert form.uses_arguments == ((False, True), (True, False))
        assert [vjp(10.0, 6.0, 2.0, 3.0) for vjp in form.vjps] == [30.0, 20.0]
        wide = form.vjps[0](np.ones(3), np.ones(3), 2.0, np.ones(3, np.float32))
        assert wide == 3.0
        assert isinstance(wide, float)

    def test_an_argument_without_derivative_has_no_vjp(self):
        def f(x, n):
            return x**n

        scalar_rule(f, lambda y, x, n: n * y / x, None)
        form = rrule.lookup(f, float, int).static
        assert form.vjps[1] is None
        assert form.uses_output == (True, False)
        assert form.uses_arguments == ((True, True), (False, False))


class TestStaticRule:
    @staticmethod
    def define(reads=None):
        def scale(x, c, *, sign=1):
            return np.asarray(x) * c * sign

        static_rule(
            scale,
            lambda ybar, y, x, c, *, sign=1: c * ybar * sign,
            lambda ybar, y, x, c, *, sign=1: np.sum(x * ybar) * sign,
        )
        return scale

    def test_the_reverse_rule_is_derived_from_it(self):
        f = self.define()
        y, pullback = rrule(f, np.array([1.0, 2.0]), 3.0)
        np.testing.assert_array_equal(y, [3.0, 6.0])
        _, xbar, cbar = map(unthunk, pullback(np.array([1.0, 10.0])))
        np.testing.assert_array_equal(xbar, [3.0, 30.0])
        assert cbar == 21.0
        form = rrule.lookup(f, np.ndarray, float).static
        assert form.primal is f
        assert form.uses_arguments == ((False, True), (True, False))
        assert f not in frule

    def test_keywords_are_those_of_the_first_vjp(self):
        f = self.define()
        y, pullback = rrule(f, np.array([1.0, 2.0]), 3.0, sign=-1)
        np.testing.assert_array_equal(y, [-3.0, -6.0])
        np.testing.assert_array_equal(unthunk(pullback(np.ones(2))[1]), [-3.0, -3.0])
        assert rrule(f, np.ones(2), 3.0, axis=0) is None

    def test_an_argument_by_keyword_has_its_cotangent_too(self):
        _, xbar, cbar = map(unthunk, rrule(self.define(), np.array([1.0, 2.0]), c=3.0)[1](np.ones(2)))
        np.testing.assert_array_equal(xbar, [3.0, 3.0])
        assert cbar == 3.0

    def test_needs(self):
        x = Kept([1.0, 2.0])
        ref = weakref.ref(x)
        _, pullback = rrule.call(self.define(), (x, 3.0), needs=(True, False))
        del x
        gc.collect()
        assert ref() is None
        _, xbar, cbar = pullback(np.ones(2))
        np.testing.assert_array_equal(xbar, [3.0, 3.0])
        assert cbar is NoTangent()
        bars = rrule.call(self.define(), (np.ones(2),), {"c": 3.0}, needs=(False,))[1](np.ones(2))
        assert bars == (NoTangent(), NoTangent(), 2.0)

    def test_an_argument_without_derivative(self):
        def f(x, n):
            return x * n

        static_rule(f, lambda ybar, y, x, n: n * ybar, None)
        assert rrule(f, 2.0, 3)[1](10.0) == (NoTangent(), 30.0, NoTangent())
        assert rrule(f, 2, 3)[1](10.0) == (NoTangent(), NoTangent(), NoTangent())

    def test_arguments_left_out_have_no_place_in_the_result(self):
        def f(x, n=2.0):
            return x * n

        static_rule(f, lambda ybar, y, x, n=2.0: n * ybar, lambda ybar, y, x, n=2.0: x * ybar)
        assert rrule(f, 3.0)[1](10.0) == (NoTangent(), 20.0)

    def test_what_each_vjp_reads_is_known(self):
        def root(x, c):
            return c * np.sqrt(np.asarray(x))

        static_rule(root, lambda ybar, y, x, c: ybar * c**2 / (2 * y), lambda ybar, y, x, c: np.sum(ybar * y) / c)
        form = rrule.lookup(root, np.ndarray, float).static
        assert form.uses_output == (True, True)
        assert form.uses_arguments == ((False, True), (False, True))
        x = Kept([4.0, 9.0])
        ref = weakref.ref(x)
        y, pullback = rrule(root, x, 2.0)
        del x
        gc.collect()
        assert ref() is None
        _, xbar, cbar = map(unthunk, pullback(np.ones(2)))
        np.testing.assert_allclose(xbar, [2 / 4, 2 / 6])
        np.testing.assert_allclose(cbar, np.sum(y) / 2)

    def test_a_vjp_with_star_star_takes_every_keyword(self):
        def f(x, **options):
            return x

        static_rule(f, lambda ybar, y, x, **options: ybar * options["k"])
        assert rrule(f, 2.0, k=3.0)[1](10.0) == (NoTangent(), 30.0)

    def test_it_needs_a_vjp(self):
        for vjps in ((), (None,)):
            with pytest.raises(TypeError, match=r"static_rule\(len\) got no vjp: give one per argument"):
                static_rule(len, *vjps)

    def test_vjps_that_cannot_be_those_of_the_function_are_refused(self):
        with pytest.raises(TypeError, match=r"static_rule\(fma\) got 1 vjp, but fma takes \(a, b, c\)"):
            static_rule(fma, lambda ybar, y, a: ybar)
        with pytest.raises(TypeError, match=r"vjp 3 takes \(ybar, y, a\), but is called as vjp\(ybar, y, \*args\)"):
            static_rule(fma, None, None, lambda ybar, y, a: ybar)
        assert fma not in rrule


class TestLinearRule:
    def test_a_transpose_needs_the_argument(self):
        with pytest.raises(TypeError, match=r"transpose takes \(ybar\), but is called as transpose\(ybar, a, \*rest\)"):
            linear_rule(sine, transpose=lambda ybar: ybar)

    @staticmethod
    def define():
        def shift(a, by, *, scale=1):
            return np.roll(a, by) * scale

        linear_rule(shift, lambda ybar, a, by, *, scale=1: np.roll(ybar, -by) * scale)
        return shift

    def test_both_modes(self):
        f = self.define()
        x = np.array([1.0, 2.0, 3.0])
        y, pullback = rrule(f, x, 1)
        np.testing.assert_array_equal(y, [3.0, 1.0, 2.0])
        fbar, xbar, bybar = pullback(np.array([10.0, 20.0, 30.0]))
        np.testing.assert_array_equal(xbar, [20.0, 30.0, 10.0])
        assert fbar is NoTangent()
        assert bybar is NoTangent()
        y, dy = frule((NoTangent(), np.array([1.0, 0.0, 0.0]), NoTangent()), f, x, 1)
        np.testing.assert_array_equal(dy, [0.0, 1.0, 0.0])
        assert rrule.lookup(f, np.ndarray, int).tags == {"linear"}

    def test_keywords_in_both_modes(self):
        f = self.define()
        x = np.array([1.0, 2.0, 3.0])
        _, xbar, bybar = rrule(f, x, by=1, scale=2)[1](np.array([10.0, 20.0, 30.0]))
        np.testing.assert_array_equal(xbar, [40.0, 60.0, 20.0])
        assert bybar is NoTangent()
        _, dy = frule((NoTangent(), np.ones(3)), f, x, by=1, scale=2)
        np.testing.assert_array_equal(dy, [2.0, 2.0, 2.0])
        _, xbar, _ = rrule(f, a=x, by=1)[1](np.array([10.0, 20.0, 30.0]))
        np.testing.assert_array_equal(xbar, [20.0, 30.0, 10.0])
        assert rrule(f, x, 1, out=None) is None
        assert rrule(f, x) is None

    def test_the_first_argument_may_have_another_name(self):
        def double(matrix):
            return 2 * matrix

        linear_rule(double, transpose=lambda ybar, matrix: 2 * ybar)
        assert rrule(double, matrix=3.0)[1](1.0) == (NoTangent(), 2.0)
        assert frule((NoTangent(), 1.0), double, 3.0) == (6.0, 2.0)
        assert frule((NoTangent(),), double, matrix=3.0) == (6.0, ZeroTangent())
        assert frule((NoTangent(), 1.0), double, matrix=3.0) == (6.0, 2.0)

    def test_precision_and_realness_of_the_argument_are_kept(self):
        f = self.define()
        for x in (np.ones(3, np.float32), np.ones(3, np.complex64)):
            assert rrule(f, x, 1)[1](np.ones(3) * 1j)[1].dtype == x.dtype

    def test_the_transpose_sees_shape_and_dtype_and_no_values(self):
        seen = []

        def total(a):
            return np.sum(a)

        def total_transpose(ybar, a):
            seen.append((a.shape, a.dtype, a.ndim, a.size))
            return np.broadcast_to(ybar, a.shape)

        linear_rule(total, total_transpose)
        x = Kept(np.ones((2, 3), np.float32))
        ref = weakref.ref(x)
        _, pullback = rrule(total, x)
        del x
        gc.collect()
        assert ref() is None
        np.testing.assert_array_equal(pullback(2.0)[1], np.full((2, 3), 2.0))
        rrule(total, 1.0)[1](2.0)
        assert seen == [((2, 3), np.float32, 2, 6), ((), np.float64, 0, 1)]
        assert "def total_transpose" in rrule.source(total)

    def test_a_container_is_passed_to_the_transpose_as_it_is(self):
        def join(arrays):
            return np.concatenate(arrays)

        linear_rule(join, lambda ybar, arrays: np.split(ybar, len(arrays)))
        _, pullback = rrule(join, [np.ones(2), np.ones(2)])
        bar = pullback(np.arange(4.0))[1]
        assert bar == Tangent(list, np.array([0.0, 1.0]), np.array([2.0, 3.0]))

    def test_another_argument_is_never_silently_constant(self):
        def scaled(a, c):
            return a * c

        linear_rule(scaled, lambda ybar, a, c: ybar * c)
        for call in (lambda: rrule(scaled, 2.0, 3.0), lambda: rrule(scaled, 2.0, c=3.0)):
            _, abar, cbar = call()[1](1.0)
            assert abar == 3.0
            assert isinstance(cbar, NotImplementedTangent)
            with pytest.raises(MissingDerivativeError, match=rf"argument of .*scaled other than .*{__file__}:"):
                float(cbar)
        assert frule((NoTangent(), 1.0, ZeroTangent()), scaled, 2.0, 3.0) == (6.0, 3.0)
        assert isinstance(frule((NoTangent(), 1.0, 1.0), scaled, 2.0, 3.0)[1], NotImplementedTangent)
        assert isinstance(frule((NoTangent(), 1.0, 1.0), scaled, 2.0, c=3.0)[1], NotImplementedTangent)

    def test_zeros_and_missing_derivatives_pass_through(self):
        f, x = self.define(), np.ones(3)
        missing = not_implemented("x")
        for ybar in (ZeroTangent(), NoTangent(), missing):
            assert rrule(f, x, 1)[1](ybar)[1] is ybar
            assert rrule(f, x, 1)[1](Thunk(lambda: ybar))[1] is ybar  # noqa: B023
        assert frule((NoTangent(), ZeroTangent(), NoTangent()), f, x, 1)[1] is ZeroTangent()

    def test_an_integer_array_has_no_tangent(self):
        assert rrule(self.define(), np.arange(3), 1)[1](np.ones(3)) == (NoTangent(),)


class TestDerivativesGivenOutput:
    def test_they_are_the_raw_partials(self):
        product = define_product()
        assert derivatives_given_output(product, 6.0, 2.0, 3.0) == ((3.0, 2.0),)
        x = np.array([1.0, 2.0])
        ((d,),) = derivatives_given_output(define_square(), x * x, x)
        np.testing.assert_array_equal(d, 2 * x)

    def test_missing_and_absent_partials(self):
        def f(a, b):
            return a * b

        missing = not_implemented("a")
        scalar_rule(f, missing, None)
        assert derivatives_given_output(f, 6.0, 2.0, 3.0) == ((missing, NoTangent()),)

    def test_one_row_per_output(self):
        f = TestSeveralOutputs.define()
        assert derivatives_given_output(f, (8.0, 15.0), 3.0, 5.0) == ((1, 1), (5.0, 3.0))

    @pytest.mark.parametrize("args", [(), (np.ones(2),)])
    def test_other_functions_have_none(self, args):
        with pytest.raises(TypeError, match="is not defined by scalar_rule, so its partial derivatives are not known"):
            derivatives_given_output(np.sort, None, *args)


class TestIgnoreDerivatives:
    def test_it_returns_its_argument_and_lets_no_derivative_through(self):
        x = np.ones(2)
        assert ignore_derivatives(x) is x
        y, pullback = rrule(ignore_derivatives, x)
        assert y is x
        assert pullback(np.ones(2)) == (NoTangent(),)
        y, dy = frule((NoTangent(), np.ones(2)), ignore_derivatives, x)
        assert y is x
        assert dy is NoTangent()


def test_not_implemented_says_where_it_was_declared():
    missing = not_implemented("x")
    assert missing.where.startswith(f"{__file__}:")
    assert missing * ZeroTangent() is ZeroTangent()


def test_an_opted_out_type_has_no_scalar_rule():
    class Money(float):
        pass

    square = define_square()
    opt_out(rrule, square, Money)
    assert rrule(square, Money(3.0)) is None
    assert rrule(square, 3.0) is not None
    assert frule((NoTangent(), 1.0), square, Money(3.0)) == (9.0, 6.0)
