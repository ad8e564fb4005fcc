"""Other names of functions, and functions that carry some of their arguments: bound methods and partials."""

import functools
import importlib
import operator
import sys

import numpy as np
import pytest

from rulescore import HasReverseMode, NoTangent, Tangent, ZeroTangent, frule, rrule, typeof, unthunk
from rulescore.tables.carriers import function_within


def new_function():
    def f(*args, **kwargs):
        raise AssertionError("no rule of this test runs its function")

    return f


class TestAliases:
    def test_an_alias_is_served_by_the_rules_of_the_function_in_both_tables(self):
        f, g = new_function(), new_function()
        rrule.register(f)(lambda x: "reverse")
        frule.register(f)(lambda tangents, x: "forward")
        assert rrule(g, 1.0) is None
        rrule.alias(g, f)
        assert rrule(g, 1.0) == "reverse"
        assert frule((NoTangent(), 1.0), g, 1.0) == "forward"
        assert rrule.canonical(g) is f
        assert rrule.canonical(f) is f
        assert g in rrule
        assert g not in list(rrule)
        assert rrule.lookup(g, float) is rrule.lookup(f, float)
        assert rrule.records(g) == rrule.records(f)

    def test_the_rules_may_come_later(self):
        f, g = new_function(), new_function()
        frule.alias(g, f)
        assert rrule(g, 1.0) is None
        rrule.register(f)(lambda x: "reverse")
        assert rrule(g, 1.0) == "reverse"
        rrule.register(g)(lambda x, y: "through the alias")
        assert rrule(f, 1.0, 2.0) == "through the alias"

    def test_an_alias_of_an_alias(self):
        f, g, h, k = (new_function() for _ in range(4))
        rrule.register(f)(lambda x: "rule")
        rrule.alias(k, h)
        rrule.alias(h, g)
        rrule.alias(g, f)
        assert [rrule(a, 1.0) for a in (f, g, h, k)] == ["rule"] * 4

    def test_a_function_with_rules_of_its_own_in_either_table_is_no_alias(self):
        f, g, h = new_function(), new_function(), new_function()
        rrule.register(g)(lambda x: "own")
        frule.register(h)(lambda tangents, x: "own")
        assert rrule(g, 1.0) == frule((NoTangent(), 1.0), h, 1.0) == "own"
        for alias in (g, h):
            with pytest.raises(ValueError, match="has rules of its own, which the alias would hide"):
                rrule.alias(alias, f)
        assert rrule(g, 1.0) == frule((NoTangent(), 1.0), h, 1.0) == "own"

    def test_names_of_one_function_are_one_function(self):
        assert rrule.lookup(np.abs, float) is rrule.lookup(np.absolute, float)

    def test_the_operators_of_python_are_those_of_numpy(self):
        y, pullback = rrule(operator.matmul, np.ones((2, 2)), np.ones(2))
        np.testing.assert_array_equal(y, [2.0, 2.0])
        np.testing.assert_array_equal(unthunk(pullback(np.ones(2))[2]), [2.0, 2.0])

    def test_overriding_an_alias_overrides_the_function(self):
        f, g = new_function(), new_function()
        rrule.alias(g, f)
        rrule.register(f)(lambda x: "rule")
        with rrule.override(g, lambda x: "override"):
            assert rrule(f, 1.0) == "override"
        assert rrule(f, 1.0) == rrule(g, 1.0) == "rule"


class TestAliasesByDottedName:
    @pytest.fixture
    def later(self, tmp_path, monkeypatch):
        """A module that nobody has imported yet."""
        source = "def twin(x): pass\n\nclass Array:\n    def norm(self): pass\n\ndef own(x): pass\n"
        (tmp_path / "module_of_later.py").write_text(source)
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()
        yield "module_of_later"
        sys.modules.pop("module_of_later", None)

    def test_they_count_once_their_module_has_been_imported(self, later):
        f = new_function()
        rrule.register(f)(lambda x: "rule")
        rrule.alias(f"{later}.twin", f)
        rrule.alias(f"{later}.Array.norm", f)
        rrule.alias(f"{later}.not_there", f)
        assert rrule(f, 1.0) == "rule"
        assert later not in sys.modules
        module = importlib.import_module(later)
        assert rrule(module.twin, 1.0) == "rule"
        assert rrule(module.Array.norm, 1.0) == "rule"
        assert rrule.canonical(module.twin) is f
        module.not_there = new_function()
        assert rrule(module.not_there, 1.0) == "rule"

    def test_rules_that_the_function_has_by_then_are_not_hidden(self, later):
        f = new_function()
        rrule.register(f)(lambda x: "rule")
        rrule.alias(f"{later}.own", f)
        module = importlib.import_module(later)
        rrule.register(module.own)(lambda x: "own")
        assert rrule(module.own, 1.0) == "own"
        assert rrule(f, 1.0) == "rule"

    def test_a_module_that_imports_what_it_is_asked_for_is_not_made_to(self, monkeypatch):
        package = type(sys)("package_of_later")

        def imports_on_demand(name):
            raise AssertionError(f"asked for {name}")

        package.__getattr__ = imports_on_demand
        monkeypatch.setitem(sys.modules, "package_of_later", package)
        rrule.alias("package_of_later.submodule.f", new_function())
        assert rrule(new_function(), 1.0) is None
        package.submodule = type(sys)("package_of_later.submodule")
        assert rrule(new_function(), 1.0) is None


class Scaler:
    """A class with a method, and rules for it that the tests register for a subclass each."""

    def __init__(self, w):
        self.w = w

    def scale(self, x, factor=2.0):
        return self.w * x * factor


@pytest.fixture
def scaler_class():
    class OwnScaler(Scaler):
        def scale(self, x, factor=2.0):
            return self.w * x * factor

    @rrule.register(OwnScaler.scale)
    def scale_rrule(self, x, factor=2.0):
        w = self.w

        def scale_pullback(ybar):
            return (
                NoTangent(),
                Tangent(OwnScaler, w=x * factor * ybar),
                w * factor * ybar,
                w * x * ybar,
            )

        return w * x * factor, scale_pullback

    @frule.register(OwnScaler.scale)
    def scale_frule(tangents, self, x, factor=2.0):
        _, dself, dx, *rest = tangents
        dfactor = rest[0] if rest else ZeroTangent()
        return self.scale(x, factor), dself.w * x * factor + self.w * dx * factor + self.w * x * dfactor

    return OwnScaler


class TestBoundMethods:
    def test_what_a_method_is_bound_to_gets_its_cotangent_in_the_first_place(self, scaler_class):
        method = scaler_class(3.0).scale
        y, pullback = rrule(method, 5.0)
        assert y == 30.0
        methodbar, xbar = pullback(1.0)
        assert methodbar == Tangent(type(method), __self__=Tangent(scaler_class, w=10.0))
        assert xbar == 6.0

    def test_in_forward_mode_its_tangent_is_given_there(self, scaler_class):
        method = scaler_class(3.0).scale
        dmethod = Tangent(type(method), __self__=Tangent(scaler_class, w=1.0))
        assert frule((dmethod, 0.0), method, 5.0) == (30.0, 10.0)
        for zero in (NoTangent(), ZeroTangent()):
            _, dy = frule((zero, 1.0), method, 5.0)
            assert dy == 6.0

    def test_keywords_reach_the_rule(self, scaler_class):
        method = scaler_class(3.0).scale
        y, pullback = rrule(method, 5.0, factor=1.0)
        assert y == 15.0
        assert pullback(1.0)[1:] == (3.0, 15.0)
        assert rrule(method, 5.0, unknown=1.0) is None
        assert rrule.bind(method, (5.0,), {"factor": 1.0}) == ((5.0, 1.0), {})

    def test_tables_know_the_function_within(self, scaler_class):
        method = scaler_class(3.0).scale
        assert method in rrule
        assert rrule.canonical(method) is scaler_class.scale
        assert rrule.lookup(method, float).function is scaler_class.scale
        assert rrule.lookup(method) is None

    def test_methods_of_arrays_are_functions_of_numpy(self):
        x = np.arange(4.0).reshape(2, 2)
        rrule.alias(np.ndarray.trace, np.trace)
        rule = rrule.override(np.trace, lambda a: (np.trace(a), lambda ybar: (NoTangent(), ybar * np.eye(2))))
        with rule:
            y, pullback = rrule(x.trace)
            fbar, *rest = pullback(2.0)
        assert y == 3.0
        np.testing.assert_array_equal(fbar["__self__"], 2.0 * np.eye(2))
        assert rest == []

    def test_a_function_that_carries_nothing_of_interest_has_no_tangent(self, scaler_class):
        f = new_function()
        rrule.register(f)(lambda a, x: (0.0, lambda ybar: (NoTangent(), NoTangent(), ybar)))
        assert rrule(functools.partial(f, "a"), 1.0)[1](1.0) == (NoTangent(), 1.0)

    def test_functions_of_modules_and_classes_carry_nothing(self):
        import math

        assert function_within(math.sin) is None
        assert function_within(dict.fromkeys) is None
        assert function_within(len) is None
        assert function_within(np.sin) is None
        assert function_within([].append)[1] == ([],)
        assert function_within((1.0).__add__) == (float.__add__, (1.0,), {})

    def test_a_bound_method_without_a_rule_has_none(self):
        assert rrule([1.0].append, 1.0) is None
        assert [1.0].append not in rrule
        assert rrule.bind([1.0].append, (1.0,), {"a": 2}) == ((1.0,), {"a": 2})
        assert frule((NoTangent(), 1.0), [1.0].append, 1.0) is None


@pytest.fixture
def product():
    def product(a, b, c=1.0, *, tag=None):
        return a * b * c

    @rrule.register(product)
    def product_rrule(a: float, b: float, c: float = 1.0, *, tag=None):
        return a * b * c, lambda ybar: (NoTangent(), b * c * ybar, a * c * ybar, a * b * ybar)

    @frule.register(product)
    def product_frule(tangents, a: float, b: float, c: float = 1.0, *, tag=None):
        _, da, db, *rest = tangents
        dc = rest[0] if rest else ZeroTangent()
        return a * b * c, da * b * c + a * db * c + a * b * dc

    return product


def partial_tangent(*args, **keywords):
    return Tangent(functools.partial, func=NoTangent(), args=Tangent(tuple, *args), keywords=Tangent(dict, keywords))


class TestPartials:
    def test_carried_arguments_get_their_cotangents_in_the_first_place(self, product):
        y, pullback = rrule(functools.partial(product, 2.0), 3.0)
        assert y == 6.0
        assert pullback(1.0) == (partial_tangent(3.0), 2.0)

    def test_carried_keywords_too(self, product):
        y, pullback = rrule(functools.partial(product, c=5.0, tag="t"), 2.0, 3.0)
        assert y == 30.0
        assert pullback(1.0) == (partial_tangent(c=6.0, tag=NoTangent()), 15.0, 10.0)

    def test_keywords_of_the_call_get_theirs_in_their_position(self, product):
        f = functools.partial(product, 2.0)
        y, pullback = rrule(f, 3.0, c=5.0)
        assert y == 30.0
        assert pullback(1.0) == (partial_tangent(15.0), 10.0, 6.0)
        assert rrule.bind(f, (3.0,), {"c": 5.0}) == ((3.0, 5.0), {})

    def test_a_keyword_that_the_call_replaces_has_a_zero_tangent(self, product):
        f = functools.partial(product, 2.0, c=5.0)
        y, pullback = rrule(f, 3.0, c=7.0)
        assert y == 42.0
        assert pullback(1.0) == (partial_tangent(21.0, c=ZeroTangent()), 14.0, 6.0)
        df = partial_tangent(0.0, c=1.0)
        assert frule((df, 0.0), f, 3.0, c=7.0) == (42.0, 0.0)

    def test_a_keyword_carried_in_between_keeps_its_place(self, product):
        f = functools.partial(product, b=3.0)
        y, pullback = rrule(f, 2.0, c=5.0)
        assert y == 30.0
        assert pullback(1.0) == (partial_tangent(b=10.0), 15.0, NoTangent(), 6.0)
        assert rrule.bind(f, (2.0,), {"c": 5.0}) == ((2.0,), {"c": 5.0})

    def test_keyword_only_parameters_carried_do_not_hinder_binding(self, product):
        f = functools.partial(product, tag="t")
        assert rrule.bind(f, (2.0, 3.0), {"c": 5.0}) == ((2.0, 3.0, 5.0), {})

    def test_in_forward_mode_the_tangents_are_those_of_the_fields(self, product):
        f = functools.partial(product, 2.0, c=5.0)
        assert frule((NoTangent(), 1.0), f, 3.0) == (30.0, 10.0)
        assert frule((ZeroTangent(), 1.0), f, 3.0) == (30.0, 10.0)
        assert frule((partial_tangent(1.0), 0.0), f, 3.0) == (30.0, 15.0)
        assert frule((partial_tangent(0.0, c=1.0), 0.0), f, 3.0) == (30.0, 6.0)
        assert frule((Tangent(functools.partial), 1.0), f, 3.0) == (30.0, 10.0)
        assert frule((NoTangent(), 1.0), functools.partial(product, 2.0), 3.0, c=5.0) == (30.0, 10.0)

    def test_partials_of_partials_and_of_bound_methods(self, product, scaler_class):
        f = functools.partial(functools.partial(product, 2.0), 3.0)
        assert rrule(f)[1](1.0) == (partial_tangent(3.0, 2.0),)
        g = functools.partial(scaler_class(3.0).scale, factor=1.0)
        y, pullback = rrule(g, 5.0)
        assert y == 15.0
        gbar, xbar = pullback(1.0)
        assert gbar["func"]["__self__"] == Tangent(scaler_class, w=5.0)
        assert gbar["keywords"] == Tangent(dict, {"factor": 15.0})
        assert xbar == 3.0
        assert frule((partial_tangent(factor=1.0), 0.0), g, 5.0) == (15.0, 15.0)
        assert rrule.lookup(g, float).function is scaler_class.scale

    def test_lookup_counts_what_is_carried(self, product):
        assert rrule.lookup(functools.partial(product, 2.0), float).function is product
        assert rrule.lookup(functools.partial(product, "a"), float) is None
        assert rrule.lookup(functools.partial(product, 2.0, c="a"), float) is None
        assert rrule.lookup(functools.partial(product, 2.0), float, keywords={"c": float}) is not None

    def test_a_carried_function_is_known_by_identity(self):
        f = new_function()
        rrule.register(f, typeof(len))(lambda g, x=None: ("len", lambda ybar: (NoTangent(),)))
        assert rrule(functools.partial(f, len), 1.0)[0] == "len"
        assert rrule(functools.partial(f, max), 1.0) is None
        assert rrule.lookup(functools.partial(f, len)).types == (typeof(len), object)

    def test_without_a_rule_for_what_is_carried_there_is_none(self, product):
        assert rrule(functools.partial(product, "a"), 1.0) is None
        assert frule((partial_tangent(NoTangent(), c=1.0), 1.0), functools.partial(product, "a", c=1.0), 1.0) is None

    def test_needs_are_those_of_the_arguments_of_the_call(self):
        f, seen = new_function(), []

        @rrule.register(f)
        def f_rrule(a, b, *, needs=None):
            seen.append(needs)
            return 0.0, lambda ybar: (NoTangent(), 1.0, NoTangent())

        rrule.call(functools.partial(f, 2.0), (3.0,), needs=(False,))
        assert seen == [(True, False)]

    def test_the_config_is_passed_on(self):
        class Reverse(HasReverseMode):
            pass

        f, config = new_function(), Reverse()

        @rrule.register(f, config=HasReverseMode)
        def f_rrule(config, a, b, c=1.0):
            return config, lambda ybar: (NoTangent(), 1.0, 2.0, 3.0)

        y, pullback = rrule(config, functools.partial(f, 2.0, c=4.0), 3.0)
        assert y is config
        assert pullback(1.0) == (partial_tangent(1.0, c=3.0), 2.0)
        assert rrule(functools.partial(f, 2.0), 3.0) is None
        assert rrule.bind(f, (1.0,), {"b": 2.0}, config) == ((1.0, 2.0), {})

    def test_the_tangent_of_a_partial_is_a_tangent(self, product):
        with pytest.raises(TypeError, match=r"tangent of partial.* itself must be a Tangent of its fields"):
            frule((1.0, 1.0), functools.partial(product, 2.0), 3.0)

    def test_the_tangent_of_a_keyword_that_has_no_position_is_refused(self, product):
        df = partial_tangent(tag=1.0)
        with pytest.raises(TypeError, match=r"tangent of its keyword 'tag', which the rule of .* not take by position"):
            frule((df, 1.0, 1.0), functools.partial(product, tag="t"), 2.0, 3.0)
