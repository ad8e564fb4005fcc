"""Registering rules, and what is known about them afterwards, without running any."""

import functools
import types

import numpy as np
import pytest

from rulescore import (
    HasReverseMode,
    NoTangent,
    RuleTable,
    frule,
    instances_of,
    non_differentiable,
    opt_out,
    rrule,
    scalar_rule,
    typeof,
)
from rulescore.tables.names import name_of, place_of


def new_function(name="f"):
    def f(*args, **kwargs):
        raise AssertionError("no rule of this test runs its function")

    f.__name__ = f.__qualname__ = name
    return f


class TestRegister:
    def test_it_returns_the_rule_unchanged(self):
        f = new_function()

        def f_rrule(x):
            return x, lambda ybar: (NoTangent(), ybar)

        assert rrule.register(f)(f_rrule) is f_rrule
        assert rrule(f, 1.0)[0] == 1.0

    def test_the_two_tables_are_separate(self):
        f = new_function()
        rrule.register(f)(lambda x: "reverse")
        assert f in rrule
        assert f not in frule
        assert frule((NoTangent(), 1.0), f, 1.0) is None

    @pytest.mark.parametrize("f", [3, "numpy.sin", None])
    def test_a_rule_is_for_something_that_can_be_called(self, f):
        with pytest.raises(TypeError, match=r"rrule.register\(.*\): a rule is for a function; got a"):
            rrule.register(f)

    def test_an_unhashable_object_is_registered_by_its_class(self):
        class Layer:
            __hash__ = None

            def __call__(self):
                pass

        with pytest.raises(TypeError, match=r"not hashable and would not be found again: register instances_of\(Layer"):
            rrule.register(Layer())(lambda: None)

    def test_a_rule_may_be_a_partial_or_an_object(self):
        f, g = new_function(), new_function()

        def scaled(factor, x: float):
            return factor * x

        class Rule:
            def __call__(self, x: "float"):
                return -x

        rrule.register(f)(functools.partial(scaled, 3.0))
        rrule.register(g)(Rule())
        assert rrule(f, 2.0) == 6.0
        assert rrule(f, "a") is None
        assert rrule(g, 2.0) == -2.0
        assert rrule(g, "a") is None
        assert rrule.source(g) == f"# the source of {__file__}:{rrule.lookup(g, float).line} is not available\n"

    def test_a_rule_of_a_partial_or_bound_method_is_its_own(self):
        g = new_function()
        special = functools.partial(g, 1.0)
        rrule.register(special)(lambda x: "special")
        assert rrule(special, 2.0) == "special"
        assert g not in rrule
        assert functools.partial(g, 1.0) not in rrule

    def test_add_rule_is_the_form_for_programs(self):
        f = new_function()
        where = ("mypkg", "mypkg/rules.py", 7)
        record = rrule.add_rule(f, lambda x: "added", (float,), tags={"linear"}, where=where)
        assert rrule(f, 1.0) == "added"
        assert (record.module, record.file, record.line) == where
        assert record.tags == {"linear"}
        assert rrule.lookup(f, float) is record

    def test_tags_may_be_added_to_the_rules_of_a_function_and_its_aliases(self):
        f, g = new_function(), new_function()
        rrule.register(f, tags=("linear",))(lambda x: "served")
        rrule.alias(g, f)
        rrule.add_tags(g, "onnx:Identity")
        assert rrule.lookup(f, float).tags == {"linear", "onnx:Identity"}
        assert rrule(f, 1.0) == "served"
        with pytest.raises(ValueError, match=r"there is no rule; register one first"):
            rrule.add_tags(new_function(), "onnx:Identity")

    def test_two_tables_of_ones_own_share_aliases(self):
        class Table(RuleTable):
            _leading = 0

        one = Table("one")
        other = Table("other", twin=one)
        f, g = new_function(), new_function()
        one.alias(g, f)
        assert other.canonical(g) is f
        assert rrule.canonical(g) is g

    def test_a_table_says_how_it_serves_functions_that_carry_arguments(self):
        class Table(RuleTable):
            _leading = 0

        with pytest.raises(NotImplementedError):
            Table("mine").call([].append, (1.0,))


class TestLookup:
    def test_it_answers_without_running_anything(self, serving):
        f = new_function()

        @serving.rule(f)
        def rule(x: float):
            raise AssertionError("lookup ran the rule")

        record = serving.table.lookup(f, float)
        assert record.types == (float,)
        assert record.function is f
        assert not record.opted_out
        assert serving.table.lookup(f, str) is None
        assert serving.table.lookup(new_function(), float) is None

    def test_a_function_argument_is_given_by_its_typeof(self, serving):
        f = new_function()
        serving.rule(f, typeof(len))(lambda g: None)
        assert serving.table.lookup(f, typeof(len)).types == (typeof(len),)
        assert serving.table.lookup(f, type(len)) is None

    def test_keywords_count(self, serving):
        f = new_function()
        serving.rule(f)(lambda x, axis: None)
        assert serving.table.lookup(f, float, keywords={"axis": int}) is not None
        assert serving.table.lookup(f, float, keywords={"out": int}) is None
        assert serving.table.lookup(f, float) is None

    def test_the_rules_of_numpy_are_found_by_themselves(self):
        assert rrule.lookup(np.sin, np.ndarray).entry == "numpy"
        assert frule.lookup(np.sin, np.ndarray).entry == "numpy"
        assert np.sin in rrule


class TestRecords:
    def test_a_record_says_where_its_rule_is(self):
        f = new_function("myfunction")

        @rrule.register(f, tags=["mine"])
        def f_rrule(x: float, y: int | str, axis=None, *rest, keepdims=False):
            pass

        (record,) = rrule.records(f)
        assert record.file == __file__
        assert record.module == __name__
        assert record.line == f_rrule.__code__.co_firstlineno
        assert record.signature == "myfunction(x: float, y: int | str, *object, keepdims=)"
        assert record.tags == {"mine"}
        assert record.entry is None
        assert record.config == ()
        assert "def f_rrule" in record.source
        assert record.source == rrule.source(f)
        assert "myfunction" in repr(record) or "f_rrule" in repr(record)

    def test_the_names_of_positional_only_parameters_are_shown(self):
        f = new_function()
        rrule.register(f, float)(lambda x, /, y=1: None)
        assert rrule.records(f)[0].signature == "f(x: float, y: object)"

    def test_the_record_of_a_frule_leaves_out_the_tangents(self):
        f = new_function()
        frule.register(f)(lambda tangents, x: None)
        assert frule.records(f)[0].signature == "f(x: object)"

    def test_the_record_of_a_callable_object_leaves_out_the_object(self):
        class Layer:
            pass

        rrule.register(instances_of(Layer), config=HasReverseMode)(lambda config, layer, x: None)
        (record,) = rrule.records(instances_of(Layer))
        assert record.signature.endswith("Layer)(x: object)")
        assert record.function == instances_of(Layer)
        assert record.config == (HasReverseMode,)

    def test_all_rules_of_a_function(self, serving):
        f = new_function()
        serving.rule(f, float)(lambda x: None)
        serving.rule(f, str)(lambda x: None)
        opt_out(serving.table, f, int)
        assert {record.types[0] for record in serving.table.records(f)} == {float, str, int}
        lines = [line.strip() for line in serving.table.source(f).splitlines() if line]
        assert lines == [
            "serving.rule(f, float)(lambda x: None)",
            "serving.rule(f, str)(lambda x: None)",
            "opt_out(serving.table, f, int)",
        ]
        assert serving.table.records(new_function()) == []

    @pytest.mark.parametrize(
        ("f", "name"),
        [
            (np.sin, "sin"),
            (len, "len"),
            (functools.partial(len), "partial(len)"),
            (instances_of(int), "instances_of(int)"),
            (type("Layer", (), {})(), "Layer object"),
        ],
    )
    def test_names_as_a_person_would_write_them(self, f, name):
        assert name_of(f) == name

    def test_the_place_of_something_without_code_is_unknown(self):
        assert place_of(len) == ("builtins", "?", 0)

    def test_a_type_that_a_signature_holds_a_stand_in_for_is_shown_as_written(self):
        f = new_function()
        rrule.register(f, np.ufunc)(lambda x: None)
        assert rrule.records(f)[0].types == (np.ufunc,)
        assert rrule.records(f)[0].signature == "f(x: ufunc)"


class TestTables:
    def test_iteration_and_in_list_the_functions(self, serving):
        f, g = new_function(), new_function()

        class Layer:
            pass

        count = len(serving.table)
        serving.rule(f)(lambda x: None)
        serving.rule(f, float)(lambda x: None)
        serving.rule(instances_of(Layer))(lambda layer, x: None)
        assert f in serving.table
        assert g not in serving.table
        assert [] not in serving.table
        functions = list(serving.table)
        assert functions.count(f) == 1
        assert functions.count(instances_of(Layer)) == 1
        assert len(serving.table) == count + 2

    def test_repr_says_how_much_there_is(self):
        assert repr(rrule).startswith("<rrule: rules for ")

    def test_functions_of_a_module_are_those_its_entry_brought_and_those_defined_in_it(self):
        f = new_function()
        rrule.register(f)(lambda x: None)
        module = types.ModuleType("mypackage.rules")
        exec("def rule(x): return x", vars(module))
        g = new_function()
        rrule.register(g)(module.rule)
        assert np.sin in rrule.functions_of("numpy")
        assert f not in rrule.functions_of("numpy")
        assert f in rrule.functions_of(__name__)
        assert rrule.functions_of("mypackage") == [g]
        assert rrule.functions_of("mypackage.rules") == [g]
        assert rrule.functions_of("mypack") == []


class TestGenerationAndHooks:
    def test_the_generation_grows_with_every_change(self, serving):
        f, g = new_function(), new_function()
        seen = [serving.table.generation]

        def has_grown():
            seen.append(serving.table.generation)
            return seen[-1] > seen[-2]

        serving.rule(f)(lambda x: None)
        assert has_grown()
        serving.table.alias(g, f)
        assert has_grown()
        with serving.table.override(f, None):
            assert has_grown()
        assert has_grown()
        serving.call(f, 1.0)
        assert not has_grown()

    def test_an_alias_changes_the_generation_of_the_twin_too(self):
        before = frule.generation
        rrule.alias(new_function(), new_function())
        assert frule.generation > before

    def test_a_callback_sees_the_rules_there_are_and_those_to_come_once_each(self, serving):
        f = new_function()
        serving.rule(f, float)(lambda x: None)
        seen = []
        unsubscribe = serving.table.on_new_rule(seen.append)
        assert [record.types for record in seen if record.function is f] == [(float,)]
        assert np.sin in {record.function for record in seen if not record.config}
        serving.rule(f, str)(lambda x: None)
        assert seen[-1].types == (str,)
        assert len(set(seen)) == len(seen)
        unsubscribe()
        unsubscribe()
        serving.rule(f, int)(lambda x: None)
        assert seen[-1].types == (str,)

    def test_a_callback_may_ask_the_table(self, serving):
        f, answers = new_function(), []
        unsubscribe = serving.table.on_new_rule(lambda record: answers.append(record.function in serving.table))
        serving.rule(f)(lambda x: None)
        unsubscribe()
        assert answers
        assert all(answers)


class TestOverride:
    def test_within_the_block_the_override_serves_alone(self, serving):
        f = new_function()
        serving.rule(f, float)(lambda x: "rule")
        implementation = (lambda x: "other") if serving.table is rrule else (lambda tangents, x: "other")
        assert serving.call(f, 1.0) == "rule"
        with serving.table.override(f, implementation):
            assert serving.call(f, 1.0) == "other"
            assert serving.call(f, "a") == "other"
            with serving.table.override(f, None):
                assert serving.call(f, 1.0) is None
                assert f not in serving.table
                assert f not in list(serving.table)
            assert serving.call(f, 1.0) == "other"
        assert serving.call(f, 1.0) == "rule"
        assert serving.call(f, "a") is None

    def test_a_function_without_rules_has_none_afterwards(self, serving):
        f = new_function()
        with serving.table.override(f, lambda *args: "other"):
            assert serving.call(f, 1.0) == "other"
        assert f not in serving.table
        assert serving.call(f, 1.0) is None

    def test_an_error_in_the_block_restores_the_rules(self, serving):
        f = new_function()
        serving.rule(f)(lambda x: "rule")
        with pytest.raises(ZeroDivisionError), serving.table.override(f, None):
            1 / 0  # noqa: B018
        assert serving.call(f, 1.0) == "rule"

    def test_an_override_that_is_no_rule_changes_nothing(self, serving):
        f = new_function()
        serving.rule(f)(lambda x: "rule")
        with pytest.raises(TypeError), serving.table.override(f, lambda tangents, x, *, needs: None):
            pass
        assert serving.call(f, 1.0) == "rule"

    def test_the_instances_of_a_class_are_overridden_too(self, serving):
        class Layer:
            pass

        serving.rule(instances_of(Layer))(lambda layer, x: "rule")
        with serving.table.override(instances_of(Layer), None):
            assert serving.call(Layer(), 1.0) is None
        with serving.table.override(instances_of(Layer), lambda *args: "other"):
            assert serving.call(Layer(), 1.0) == "other"
            assert instances_of(Layer) in list(serving.table)
        assert serving.call(Layer(), 1.0) == "rule"
        assert len(serving.table.records(instances_of(Layer))) == 1

    def test_the_rules_of_numpy_can_be_overridden_for_a_test(self):
        with rrule.override(np.sin, lambda x: "override"):
            assert rrule(np.sin, 1.0) == "override"
        assert rrule(np.sin, 1.0)[0] == np.sin(1.0)


class TestTags:
    def test_the_short_definitions_tag_their_rules(self):
        f, g = new_function(), new_function()
        scalar_rule(f, lambda y, x: 1, tags=("mine",))
        non_differentiable(g)
        for table in (rrule, frule):
            assert table.lookup(f, float).tags == {"elementwise", "mine"}
            assert table.lookup(g, float).tags == {"non-differentiable"}
            assert table.lookup(f, float).file == __file__
            assert table.lookup(g, float).file == __file__
            assert table.source(f).strip() == 'scalar_rule(f, lambda y, x: 1, tags=("mine",))'
            assert table.source(g).strip() == "non_differentiable(g)"

    def test_the_source_of_a_definition_is_its_whole_statement(self):
        f = new_function()
        scalar_rule(
            f,
            lambda y, a, b: b,
            lambda y, a, b: a,
        )
        lines = [line.strip() for line in rrule.source(f).splitlines()]
        assert lines == ["scalar_rule(", "f,", "lambda y, a, b: b,", "lambda y, a, b: a,", ")"]

    def test_a_definition_typed_in_has_no_source(self):
        f = new_function()
        exec("non_differentiable(f)", {"non_differentiable": non_differentiable, "f": f, "__name__": "__main__"})
        assert rrule.source(f) == "# the source of <string>:1 is not available\n"


class TestCaching:
    """A call is resolved once for its function and types."""

    @pytest.mark.parametrize("args", [(), (1.0,), (1.0, "a"), (1.0, "a", None), (1.0, 2.0, 3.0, 4.0)], ids=len)
    @pytest.mark.parametrize("kwargs", [{}, {"flag": True}], ids=["", "keyword"])
    def test_the_second_call_is_served_from_the_flat_cache(self, serving, monkeypatch, args, kwargs):
        f = new_function()
        serving.rule(f)(lambda *args, flag=False: (args, flag))
        expected = (args, bool(kwargs))
        assert serving.call(f, *args, **kwargs) == expected
        monkeypatch.setattr(type(serving.table), "_call_slowly", None)
        assert serving.call(f, *args, **kwargs) == expected

    def test_also_that_there_is_no_rule(self, serving, monkeypatch):
        f = new_function()
        serving.rule(f, float)(lambda x: "float")
        opt_out(serving.table, f, int)
        assert serving.call(f, "a") is serving.call(f, 1) is None
        monkeypatch.setattr(type(serving.table), "_call_slowly", None)
        assert serving.call(f, "a") is serving.call(f, 1) is None

    def test_calls_with_needs_or_a_config_are_resolved_once_too(self, serving, monkeypatch):
        class Reverse(HasReverseMode):
            pass

        f, config = new_function(), Reverse()
        serving.rule(f, float)(lambda x: "plain")
        serving.rule(f, float, config=HasReverseMode)(lambda config, x: "config")
        assert serving.call(f, 1.0, needs=(True,)) == "plain"
        assert serving.call(f, 1.0, config=config) == "config"
        monkeypatch.setattr(type(serving.table), "_tables_of", None)
        assert serving.call(f, 1.0, needs=(True,)) == "plain"
        assert serving.call(f, 1.0, config=config) == "config"

    def test_a_function_known_by_identity_is_looked_at_each_time(self, serving):
        f = new_function()
        serving.rule(f, typeof(len))(lambda g: "len")
        serving.rule(f, object)(lambda g: "any")
        for g, answer in ((len, "len"), (max, "any"), (len, "len")):
            assert serving.call(f, g) == answer
            assert serving.call(f, g, needs=(True,)) == answer


@pytest.mark.parametrize("use", ["called", "checked", "differentiated", "differentiated within another function"])
def test_a_bare_decorator_says_what_to_write_where_what_it_left_is_used(use):
    from rulescore.ad import grad
    from rulescore.testing import check_rule

    @rrule.register
    def cube_rrule(x):
        return x**3, lambda ybar: (NoTangent(), 3 * x**2 * ybar)

    ways = {
        "called": lambda: cube_rrule(2.0),
        "checked": lambda: check_rule(cube_rrule, 2.0),
        "differentiated": lambda: grad(cube_rrule)(2.0),
        "differentiated within another function": lambda: grad(lambda x: 2 * cube_rrule(x))(2.0),
    }
    with pytest.raises(Exception, match=r"Write the function that the rule is for in parentheses: @rrule\.register\("):
        ways[use]()
