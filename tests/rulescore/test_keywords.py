"""Keywords: those that name a parameter of the rule are bound to its position, those it does not know have no rule."""

import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule, typeof


class A:
    pass


@pytest.fixture
def f():
    """A function of its own for each test."""

    def average(x, axis=None, weights=None, *, keepdims=False):
        raise AssertionError("no rule of this test runs its function")

    return average


class TestKeywords:
    def test_a_keyword_the_rule_does_not_know_has_no_rule(self, serving, f):
        serving.rule(f)(lambda x, axis=None, *, keepdims=False: (axis, keepdims))
        for _ in range(2):
            assert serving.call(f, 1.0, out=None) is None
            assert serving.call(f, 1.0, axis=0, where=True) is None
            assert serving.call(f, 1.0, axis=0, keepdims=True) == (0, True)
            assert serving.call(f, 1.0, keepdims=True) == (None, True)

    def test_a_rule_with_star_star_takes_every_keyword(self, serving, f):
        serving.rule(f)(lambda x, **kwargs: kwargs)
        assert serving.call(f, 1.0, out=3, f=4, self=5) == {"out": 3, "f": 4, "self": 5}

    def test_keywords_of_positional_parameters_take_part_in_dispatch(self, serving, f):
        serving.rule(f, object, object, A)(lambda x, axis, weights: "A")
        serving.rule(f, object, object, float)(lambda x, axis, weights: "float")
        for _ in range(2):
            assert serving.call(f, 1.0, None, weights=A()) == "A"
            assert serving.call(f, 1.0, weights=1.0, axis=None) == "float"
            assert serving.call(f, weights=A(), axis=0, x=1.0) == "A"
            assert serving.call(f, 1.0, None, weights="a") is None

    def test_keyword_only_parameters_do_not(self, serving, f):
        serving.rule(f)(lambda x, *, keepdims: keepdims)
        assert serving.call(f, 1.0, keepdims="anything") == "anything"

    def test_a_required_parameter_that_is_missing_has_no_rule(self, serving, f):
        serving.rule(f)(lambda x, axis, weights=None: "rule")
        assert serving.call(f, 1.0, weights=A()) is None
        assert serving.call(f, axis=0) is None
        assert serving.call(f, 1.0, weights=A(), axis=0) == "rule"

    def test_a_required_keyword_that_is_missing_has_no_rule(self, serving, f):
        serving.rule(f)(lambda x, *, axis: axis)
        assert serving.call(f, 1.0) is None
        assert serving.call(f, 1.0, axis=3) == 3

    def test_an_argument_given_twice_has_no_rule(self, serving, f):
        serving.rule(f)(lambda x, axis=None: "rule")
        assert serving.call(f, 1.0, 0, axis=1) is None
        assert serving.call(f, 1.0, x=1.0) is None

    def test_a_parameter_left_out_before_a_keyword_keeps_its_default_whatever_its_annotation(self, serving, f):
        @serving.rule(f)
        def rule(x: float, axis: int = None, weights: A = None):  # noqa: RUF013
            return (axis, weights)

        weights = A()
        assert serving.call(f, 1.0, weights=weights) == (None, weights)
        assert serving.call(f, 1.0, weights=1.0) is None
        assert serving.call(f, 1.0, axis="a", weights=weights) is None

    def test_a_function_is_known_by_identity_also_as_a_keyword(self, serving, f):
        serving.rule(f, object, typeof(len))(lambda x, axis: "len")
        serving.rule(f, object)(lambda x, axis=None: "any")
        assert serving.call(f, 1.0, axis=len) == "len"
        assert serving.call(f, 1.0, axis=max) == "any"
        record = serving.table.lookup(f, float, keywords={"axis": typeof(len)})
        assert record.types == (object, typeof(len))

    def test_a_rule_with_a_star_takes_keywords_after_it(self, serving, f):
        serving.rule(f)(lambda x, *rest, axis=None: (rest, axis))
        assert serving.call(f, 1.0, 2.0, 3.0, axis=1) == ((2.0, 3.0), 1)
        assert serving.call(f, 1.0, rest=1) is None

    def test_types_of_keywords_have_their_own_place_in_the_cache(self, serving, f):
        serving.rule(f, object, int)(lambda x, axis: "int")
        assert serving.call(f, 1.0, axis=1) == "int"
        assert serving.call(f, 1.0, axis=1.0) is None
        assert serving.call(f, 1.0, weights=1) is None
        assert serving.call(f, 1.0, axis=1) == "int"


class TestTangentsOfKeywords:
    """An frule gets a tangent for each argument in its position, whichever way the caller gave the argument."""

    @pytest.fixture
    def f(self, f):
        frule.register(f)(lambda tangents, x, axis=None, weights=None, *, keepdims=False: tangents)
        return f

    def test_arguments_by_keyword_have_no_tangent_unless_one_is_given(self, f):
        one = NoTangent()
        for _ in range(2):
            assert frule((one, 1.0), f, 1.0) == (one, 1.0)
            assert frule((one, 1.0), f, 1.0, keepdims=True) == (one, 1.0)
            assert frule((one, 1.0), f, 1.0, axis=0) == (one, 1.0, one)
            assert frule((one, 1.0), f, 1.0, weights=A()) == (one, 1.0, one, one)
            assert frule((one,), f, x=1.0) == (one, one)
            assert frule((one, 1.0, 2.0), f, 1.0, axis=0) == (one, 1.0, 2.0)

    def test_also_where_the_call_is_not_cached(self, f):
        one = NoTangent()
        frule.register(f, object, typeof(len))(lambda tangents, x, axis: tangents)
        assert frule((one, 1.0), f, 1.0, axis=len) == (one, 1.0, one)
        assert frule.call(f, (1.0,), {"axis": 0}, tangents=(one, 1.0)) == (one, 1.0, one)


class TestBind:
    def test_keywords_move_to_their_position(self, f):
        rrule.register(f)(lambda x, axis=None, weights=None, *, keepdims=False: None)
        x, w = np.ones(2), np.ones(2)
        assert rrule.bind(f, (x,), {"axis": 0}) == ((x, 0), {})
        assert rrule.bind(f, (x,), {"weights": w, "keepdims": True}) == ((x, None, w), {"keepdims": True})
        assert rrule.bind(f, (), {"x": x}) == ((x,), {})
        assert rrule.bind(f, (x, 0), {}) == ((x, 0), {})

    def test_what_the_pullback_returns_belongs_to_these_positions(self, f):
        @rrule.register(f)
        def f_rrule(x, axis=None, weights=None):
            return 0.0, lambda ybar: (NoTangent(), "xbar", NoTangent(), "wbar")

        args, _ = rrule.bind(f, (1.0,), {"weights": 2.0})
        _, pullback = rrule(f, 1.0, weights=2.0)
        assert dict(zip(args, pullback(1.0)[1:], strict=True)) == {1.0: "xbar", None: NoTangent(), 2.0: "wbar"}

    def test_without_a_rule_nothing_moves(self, f):
        assert rrule.bind(f, (1.0,), {"axis": 0}) == ((1.0,), {"axis": 0})
        rrule.register(f)(lambda x: None)
        assert rrule.bind(f, (1.0,), {"axis": 0}) == ((1.0,), {"axis": 0})

    def test_the_rule_that_serves_the_values_counts(self, f):
        rrule.register(f, object, typeof(len))(lambda x, g, a=1, b=2: "len")
        rrule.register(f, object, object)(lambda x, g, b=2, a=1: "any")
        assert rrule.bind(f, (1.0, len), {"b": 5}) == ((1.0, len, 1, 5), {})
        assert rrule.bind(f, (1.0, max), {"b": 5}) == ((1.0, max, 5), {})

    def test_both_tables_bind_alike(self, f):
        frule.register(f)(lambda tangents, x, axis=None: None)
        assert frule.bind(f, (1.0,), {"axis": 0}) == ((1.0, 0), {})
