"""Which rule a call reaches, in both tables: by types, identity, class of the function, and by declining."""

import collections.abc
import functools
import typing
from typing import Annotated, Any, Literal, NewType, Optional, TypeVar, Union

import numpy as np
import numpy.typing as npt
import pytest
from multipledispatch import MDNotImplementedError
from multipledispatch.conflict import AmbiguityWarning
from multipledispatch.variadic import Variadic

from rulescore import (
    HasForwardMode,
    HasReverseMode,
    NoTangent,
    RuleConfig,
    Tangent,
    frule,
    instances_of,
    opt_out,
    rrule,
    typeof,
)


class A:
    pass


class B:
    pass


class AB(A, B):
    pass


class BA(B, A):
    pass


class ChildOfA(A):
    pass


def new_function():
    def f(*args, **kwargs):
        raise AssertionError("no rule of this test runs its function")

    return f


class TestTypes:
    def test_a_call_without_a_rule_answers_none(self, serving):
        f = new_function()
        assert serving.call(f) is None
        assert serving.call(f, 1.0) is None

        @serving.rule(f)
        def rule(x: float):
            return "float"

        assert serving.call(f, "a") is None
        assert serving.call(f) is None
        assert serving.call(f, 1.0, 2.0) is None
        assert serving.call(f, 1.0) == "float"
        assert serving.call(f, "a") is None  # from the flat cache

    def test_types_may_be_given_instead_of_annotated(self, serving):
        f = new_function()

        @serving.rule(f, A, float)
        def rule(x, y: "not evaluated", z=None):  # noqa: F821
            return "given"

        assert serving.call(f, A(), 1.0) == "given"
        assert serving.call(f, A(), 1.0, "passed through") == "given"
        assert serving.call(f, 1.0, 1.0) is None
        assert serving.call(f, A()) is None

    def test_the_most_specific_rule_counts_whatever_the_order_of_registration(self, serving):
        for order in ([object, A, ChildOfA], [ChildOfA, A, object]):
            f = new_function()
            for cls in order:
                serving.rule(f, cls)(lambda x, cls=cls: cls)
            assert serving.call(f, ChildOfA()) is ChildOfA
            assert serving.call(f, A()) is A
            assert serving.call(f, 1.0) is object

    def test_arguments_without_annotation_may_be_anything(self, serving):
        f = new_function()

        @serving.rule(f)
        def rule(x, y: float, z):
            return "rule"

        assert serving.call(f, "a", 1.0, None) == "rule"
        assert serving.call(f, "a", "b", None) is None

    def test_arguments_with_a_default_may_be_left_out(self, serving):
        f = new_function()

        @serving.rule(f)
        def rule(x: float, axis: int = 0, flag=False):
            return (x, axis, flag)

        assert serving.call(f, 1.0) == (1.0, 0, False)
        assert serving.call(f, 1.0, 2) == (1.0, 2, False)
        assert serving.call(f, 1.0, 2, True) == (1.0, 2, True)
        assert serving.call(f, 1.0, "2") is None

    def test_a_function_without_arguments(self, serving):
        f = new_function()

        @serving.rule(f)
        def rule():
            return "nothing"

        assert serving.call(f) == "nothing"
        assert serving.call(f) == "nothing"

    def test_more_than_three_arguments(self, serving):
        f = new_function()

        @serving.rule(f)
        def rule(a, b, c, d, e: float):
            return "five"

        for _ in range(2):
            assert serving.call(f, 1, 2, 3, 4, 5.0) == "five"
            assert serving.call(f, 1, 2, 3, 4, 5) is None

    def test_positional_only_parameters(self, serving):
        f = new_function()

        @serving.rule(f)
        def rule(x: float, y=2, /):
            return (x, y)

        assert serving.call(f, 1.0) == (1.0, 2)
        assert serving.call(f, 1.0, 3) == (1.0, 3)
        assert serving.call(f, 1.0, y=3) is None

    def test_the_last_of_two_rules_for_one_signature_counts(self, serving):
        f = new_function()
        serving.rule(f, float)(lambda x: "first")
        assert serving.call(f, 1.0) == "first"
        serving.rule(f, float)(lambda x: "second")
        assert serving.call(f, 1.0) == "second"
        assert len(serving.table.records(f)) == 1

    def test_a_rule_for_one_type_of_a_union_takes_only_that_type_over(self, serving):
        f = new_function()
        serving.rule(f, (float, int))(lambda x: "both")
        serving.rule(f, float)(lambda x: "float")
        assert serving.call(f, 1.0) == "float"
        assert serving.call(f, 1) == "both"
        serving.rule(f, (float, int))(lambda x: "both again")
        assert serving.call(f, 1.0) == "both again"
        assert len(serving.table.records(f)) == 1


T = TypeVar("T", bound=A)
Constrained = TypeVar("Constrained", float, int)
Free = TypeVar("Free")
Metres = NewType("Metres", float)


class TestAnnotations:
    @pytest.mark.parametrize(
        ("annotation", "inside", "outside"),
        [
            (float | int, [1.0, 1], ["a"]),
            (Union[float, int], [1.0, 1], ["a"]),  # noqa: UP007
            ((float, int), [1.0, 1], ["a"]),
            ((float, (int, str)), [1.0, 1, "a"], [None]),
            (Optional[float], [1.0, None], ["a"]),  # noqa: UP045
            (float | None, [1.0, None], ["a"]),
            (None, [None], [1.0]),
            (Any, [1.0, None], []),
            (Annotated[float, "metres"], [1.0], [1]),
            (Literal["a", "b", 3], ["c", 4], [1.0]),
            (T, [A(), ChildOfA()], [B()]),
            (Constrained, [1.0, 1], ["a"]),
            (Free, [1.0, "a"], []),
            (Metres, [1.0], [1]),
            (list[float], [[1.0]], [(1.0,)]),
            (type[A], [A, B], [1.0]),
            (npt.NDArray[np.float64], [np.ones(2)], [1.0]),
            (collections.abc.Callable, [len, np.sum, A, lambda: 1], [1.0]),
            (typing.Callable, [len, np.sum], [1.0]),
            (typing.Callable[[float], float], [len], [1.0]),
            (collections.abc.Sequence, [[1.0], (1.0,), "a"], [1.0]),
            ("float | None", [1.0, None], ["a"]),
            ("np.ndarray", [np.ones(2)], [1.0]),
        ],
        ids=lambda x: type(x).__name__ if isinstance(x, list) else str(x),  # objects print their addresses
    )
    def test_what_people_write_as_an_annotation(self, serving, annotation, inside, outside):
        f = new_function()

        def rule(x):
            return "rule"

        rule.__annotations__["x"] = annotation
        serving.rule(f)(rule)
        for x in inside:
            assert serving.call(f, x) == "rule"
        for x in outside:
            assert serving.call(f, x) is None

    def test_string_annotations_see_classes_local_to_the_caller_of_register(self):
        class Local:
            pass

        f = new_function()

        @rrule.register(f)
        def f_rrule(x: "Local"):
            return "local"

        @frule.register(f)
        def f_frule(tangents, x: "Local | float"):
            return "local"

        assert rrule(f, Local()) == "local"
        assert rrule(f, 1.0) is None
        assert frule((NoTangent(), NoTangent()), f, Local()) == "local"

    def test_annotations_of_tangents_and_config_are_not_the_functions(self):
        f = new_function()

        @frule.register(f, config=HasForwardMode)
        def f_frule(config: "not evaluated", tangents: tuple, x: float):  # noqa: F821
            return "rule"

        class Forward(HasForwardMode):
            pass

        assert frule(Forward(), (NoTangent(), 1.0), f, 1.0) == "rule"

    @pytest.mark.parametrize("annotation", ["NotImported", "np.not_there", "1 +", "None.x"])
    def test_an_annotation_that_cannot_be_evaluated_is_an_error_that_says_what_to_do(self, serving, annotation):
        def rule(x):
            pass

        rule.__annotations__["x"] = annotation
        with pytest.raises(TypeError, match=r"cannot be evaluated .*import the name at run time, or give"):
            serving.rule(new_function())(rule)

    @pytest.mark.parametrize(
        ("types", "message"),
        [
            ((3,), "3 in the registration of .* is not a type$"),
            ((np.sum,), r"is not a type: write typeof\(sum\) to dispatch on a function"),
            ((float, float), "registered for 2 argument types but takes 1 positional"),
            (([float],), r"registered with a variadic type but has no \*args"),
            ((Variadic[float],), r"registered with a variadic type but has no \*args"),
            (([float, int],), "a variadic type holds exactly one type"),
            (([],), "a variadic type holds exactly one type"),
        ],
    )
    def test_types_that_make_no_sense_are_refused(self, serving, types, message):
        with pytest.raises(TypeError, match=message):
            serving.rule(new_function(), *types)(lambda x: None)

    def test_a_type_alias_of_python_3_12(self, serving, monkeypatch):
        class TypeAliasType:
            __value__ = float | None

        monkeypatch.setattr(typing, "TypeAliasType", TypeAliasType, raising=False)
        f = new_function()
        serving.rule(f, TypeAliasType())(lambda x: "alias")
        assert serving.call(f, None) == "alias"
        assert serving.call(f, "a") is None


class TestVariadic:
    @pytest.mark.parametrize("tail", [[float], Variadic[float]], ids=["list", "Variadic"])
    def test_any_number_of_arguments_of_one_type(self, serving, tail):
        f = new_function()

        @serving.rule(f, A, tail)
        def rule(x, *rest):
            return len(rest)

        assert serving.call(f, A()) == 0
        assert serving.call(f, A(), 1.0) == 1
        assert serving.call(f, A(), 1.0, 2.0, 3.0) == 3
        assert serving.call(f, A(), 1.0, "a") is None
        assert serving.call(f) is None

    def test_an_annotated_star(self, serving):
        f = new_function()

        @serving.rule(f)
        def rule(x: A, *rest: float | int):
            return "rule"

        assert serving.call(f, A(), 1.0, 2) == "rule"
        assert serving.call(f, A(), "a") is None

    def test_defaults_before_a_star(self, serving):
        f = new_function()

        @serving.rule(f)
        def rule(x: float, y: int = 3, *rest: str):
            return (x, y, rest)

        assert serving.call(f, 1.0) == (1.0, 3, ())
        assert serving.call(f, 1.0, 2) == (1.0, 2, ())
        assert serving.call(f, 1.0, 2, "a") == (1.0, 2, ("a",))
        assert serving.call(f, 1.0, "a") is None

    def test_a_rule_with_a_bare_star_takes_everything(self, serving):
        f = new_function()

        @serving.rule(f)
        def rule(*args):
            return len(args)

        assert serving.call(f) == 0
        assert serving.call(f, 1, "a") == 2

    def test_given_types_and_a_bare_star(self, serving):
        f = new_function()

        @serving.rule(f, A)
        def rule(*args):
            return len(args)

        assert serving.call(f, A()) == 1
        assert serving.call(f, A(), "anything") == 2
        assert serving.call(f, "a") is None

    def test_a_fixed_number_of_arguments_is_more_specific_whatever_the_order(self, serving):
        for order in ([0, 1], [1, 0]):
            f = new_function()
            rules = [
                lambda: serving.rule(f, object)(lambda x: "one"),  # noqa: B023
                lambda: serving.rule(f, object, [object])(lambda x, *rest: "many"),  # noqa: B023
            ]
            for i in order:
                rules[i]()
            assert serving.call(f, 1.0) == "one"
            assert serving.call(f, 1.0, 2.0) == "many"

    def test_a_more_specific_type_counts_before_a_fixed_number(self, serving):
        f = new_function()
        serving.rule(f, object)(lambda x: "one")
        serving.rule(f, [A])(lambda *xs: "many")
        assert serving.call(f, A()) == "many"
        assert serving.call(f, B()) == "one"


class TestMultipleInheritance:
    @pytest.mark.parametrize("order", [(A, B), (B, A)])
    def test_the_base_named_first_counts_as_in_python_itself(self, serving, order):
        f = new_function()
        for cls in order:
            serving.rule(f, cls)(lambda x, cls=cls: cls)
        assert serving.call(f, AB()) is A
        assert serving.call(f, BA()) is B

    def test_also_for_variable_numbers_of_arguments(self, serving):
        f = new_function()
        serving.rule(f, [B])(lambda *x: B)
        serving.rule(f, A)(lambda x: A)
        assert serving.call(f, AB()) is A
        assert serving.call(f, BA()) is B


class TestAmbiguity:
    def register(self, serving, f, *types):
        serving.rule(f, *types)(lambda x, y: types)

    def test_it_is_told_at_registration_naming_both_places(self, serving):
        f = new_function()
        self.register(serving, f, A, object)
        with pytest.warns(AmbiguityWarning, match=r"for \(object, A\) at .*test_dispatch.py:\d+ and for \(A, object\)"):
            self.register(serving, f, object, A)

    def test_the_first_argument_decides_whatever_the_order(self, serving):
        for order in ([(A, object), (object, A)], [(object, A), (A, object)]):
            f = new_function()
            self.register(serving, f, *order[0])
            with pytest.warns(AmbiguityWarning):
                self.register(serving, f, *order[1])
            assert serving.call(f, A(), A()) == (A, object)

    def test_a_rule_for_the_shared_types_settles_it(self, serving):
        f = new_function()
        self.register(serving, f, A, A)
        self.register(serving, f, A, object)
        self.register(serving, f, object, A)
        assert serving.call(f, A(), A()) == (A, A)

    def test_the_warning_points_to_the_registration(self):
        f = new_function()
        rrule.register(f, A, object)(lambda x, y: None)
        with pytest.warns(AmbiguityWarning) as caught:
            rrule.register(f, object, A)(lambda x, y: None)
        assert [warning.filename for warning in caught] == [__file__]

    def test_rules_for_different_configs_do_not_compete(self, serving):
        f = new_function()
        self.register(serving, f, A, object)
        serving.rule(f, object, A, config=HasReverseMode)(lambda config, x, y: "config")
        assert serving.call(f, B(), A(), config=Reverse()) == "config"

    def test_where_warnings_are_errors_the_rule_is_registered_all_the_same(self, serving):
        f = new_function()
        self.register(serving, f, A, object)
        with pytest.raises(AmbiguityWarning):
            self.register(serving, f, object, A)
        assert serving.call(f, B(), A()) == (object, A)


class TestIdentity:
    def test_a_function_as_argument_is_known_by_identity(self, serving):
        f = new_function()
        serving.rule(f, object, typeof(np.sum))(lambda x, g: "sum")
        serving.rule(f, object, object)(lambda x, g: "any")
        for _ in range(2):
            assert serving.call(f, 1.0, np.sum) == "sum"
            assert serving.call(f, 1.0, np.mean) == "any"
            assert serving.call(f, 1.0, 3) == "any"
            assert serving.call(f, 1.0, g=np.sum) == "sum"

    @pytest.mark.parametrize("order", [0, 1])
    @pytest.mark.parametrize(
        ("g", "cls"),
        [
            (np.sum, collections.abc.Callable),
            (np.sin, np.ufunc),
            (new_function, type(new_function)),
            (len, type(len)),
            (A, type),
            (functools.partial(len), functools.partial),
        ],
        ids=lambda x: getattr(x, "__name__", "partial"),
    )
    def test_it_is_more_specific_than_its_class(self, serving, g, cls, order):
        f = new_function()
        rules = [
            lambda: serving.rule(f, typeof(g))(lambda x: "identity"),
            lambda: serving.rule(f, cls)(lambda x: "class"),
        ]
        for i in (order, 1 - order):
            rules[i]()
        other = {np.sin: np.cos, new_function: TestTypes.test_more_than_three_arguments, A: B}.get(g)
        assert serving.call(f, g) == "identity"
        assert other is None or serving.call(f, other) == "class"

    def test_a_callable_object_reaches_the_rule_of_its_class_where_its_own_declines(self, serving):
        class Dense:
            def __call__(self, x):
                return x

        class Wide(Dense):
            pass

        dense, f = Wide(), new_function()
        serving.rule(f, Dense)(lambda g: "class")

        @serving.rule(f, typeof(dense))
        def declining(g):
            raise MDNotImplementedError

        assert serving.call(f, dense) == "class"
        assert serving.call(f, Dense()) == "class"
        assert serving.call(f, len) is None
        assert serving.table.lookup(f, Wide).types == (Dense,)

    def test_unhashable_callables_are_known_by_class_alone(self, serving):
        class Unhashable:
            __hash__ = None

            def __call__(self):
                pass

        f = new_function()
        serving.rule(f, typeof(len))(lambda g: "len")
        serving.rule(f, Unhashable)(lambda g: "class")
        assert serving.call(f, Unhashable()) == "class"

    def test_a_keyword_called_table_reaches_the_rule(self, serving):
        f = new_function()
        serving.rule(f, typeof(len))(lambda g, *, table=None, self=None: (table, self))
        for _ in range(2):
            assert serving.call(f, len, table=1, self=2) == (1, 2)

    def test_only_callables_have_an_identity_to_dispatch_on(self):
        with pytest.raises(TypeError, match=r"typeof\(3\): only functions are dispatched on by identity; register the"):
            typeof(3)

    def test_there_is_one_type_of_each_function(self):
        assert typeof(np.sum) is typeof(np.sum)
        assert typeof(np.sum) is not typeof(np.mean)
        assert typeof(np.sum).__name__ == "typeof(sum)"


class TestCallableInstances:
    class Dense:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            return self.w * x

    class Narrow(Dense):
        pass

    @pytest.fixture
    def dense(self, serving):
        """A class of its own for each test, so that no rule outlives it."""
        return type("Dense", (self.Dense,), {})

    def test_one_rule_serves_every_object_of_a_class(self, serving, dense):
        @serving.rule(instances_of(dense))
        def rule(layer, x: float):
            return layer.w

        assert serving.call(dense(2.0), 1.0) == 2.0
        assert serving.call(dense(3.0), 1.0) == 3.0
        assert serving.call(dense(3.0), "a") is None
        assert dense(2.0) in serving.table
        assert instances_of(dense) in serving.table
        assert self.Dense(2.0) not in serving.table

    def test_unhashable_objects_are_served_too(self, serving, dense):
        class Unhashable(dense):
            __hash__ = None

        @serving.rule(instances_of(Unhashable))
        def rule(layer, x):
            return "rule"

        assert serving.call(Unhashable(2.0), 1.0) == "rule"
        assert serving.call(Unhashable(2.0), x=1.0) == "rule"

    def test_where_the_rules_of_a_class_do_not_apply_those_of_its_base_do(self, serving, dense):
        child = type("Child", (dense,), {})
        serving.rule(instances_of(dense), object)(lambda layer, x: "base")
        serving.rule(instances_of(child), float)(lambda layer, x: "child")
        assert serving.call(child(1.0), 1.0) == "child"
        assert serving.call(child(1.0), "a") == "base"
        assert serving.table.lookup(child(1.0), str).function == instances_of(dense)
        assert serving.table.lookup(instances_of(child), str).function == instances_of(dense)
        assert len(serving.table.records(child(1.0))) == 2
        assert len(serving.table.records(instances_of(child))) == 1

    def test_an_opt_out_of_a_class_hides_the_rules_of_its_base(self, serving, dense):
        child = type("Child", (dense,), {})
        serving.rule(instances_of(dense), object)(lambda layer, x: "base")
        opt_out(serving.table, instances_of(child), float)
        assert serving.call(child(1.0), 1.0) is None
        assert serving.call(child(1.0), 1) == "base"

    def test_the_first_cotangent_is_the_structural_tangent_of_the_object(self, dense):
        @rrule.register(instances_of(dense))
        def dense_rrule(layer, x):
            w = layer.w
            return layer(x), lambda ybar: (Tangent(dense, w=x * ybar), w * ybar)

        @frule.register(instances_of(dense))
        def dense_frule(tangents, layer, x):
            dlayer, dx = tangents
            return layer(x), dlayer.w * x + layer.w * dx

        layer = dense(3.0)
        y, pullback = rrule(layer, 2.0)
        assert y == 6.0
        assert pullback(10.0) == (Tangent(dense, w=20.0), 30.0)
        assert frule((Tangent(dense, w=1.0), 0.5), layer, 2.0) == (6.0, 3.5)

    def test_a_rule_of_one_object_counts_before_those_of_its_class(self, serving, dense):
        special = dense(1.0)
        serving.rule(instances_of(dense))(lambda layer, x: "class")
        serving.rule(special)(lambda x: "object")
        assert serving.call(special, 1.0) == "object"
        assert serving.call(dense(1.0), 1.0) == "class"

    def test_only_classes_have_instances(self):
        with pytest.raises(TypeError, match=r"instances_of\(<built-in function len>\): expected a class"):
            instances_of(len)


class TestStandIns:
    def test_a_wrapper_is_dispatched_as_what_it_stands_in_for(self, serving):
        class Tracer:
            __rule_type__ = np.ndarray

        f = new_function()
        serving.rule(f, np.ndarray)(lambda x: "array")
        serving.rule(f, object, np.ndarray)(lambda x, y: "second")
        assert serving.call(f, Tracer()) == "array"
        assert serving.call(f, x=Tracer()) == "array"
        assert serving.call(f, 1.0, y=Tracer()) == "second"
        assert serving.table.lookup(f, Tracer).types == (np.ndarray,)
        assert serving.table.lookup(f, float, keywords={"y": Tracer}).types == (object, np.ndarray)


class TestDeclining:
    def test_the_next_candidate_is_tried(self, serving):
        f = new_function()
        serving.rule(f, object)(lambda x: "object")

        @serving.rule(f, A)
        def declining(x):
            raise MDNotImplementedError

        for _ in range(2):
            assert serving.call(f, A()) == "object"

    def test_a_call_that_all_rules_decline_has_no_rule(self, serving):
        f = new_function()

        @serving.rule(f)
        def declining(x, *, by_keyword=False):
            raise MDNotImplementedError

        for _ in range(2):
            assert serving.call(f, 1.0) is None
            assert serving.call(f, 1.0, by_keyword=True) is None

    def test_a_rule_that_serves_several_of_the_types_is_asked_once(self, serving):
        f, asked = new_function(), []

        @serving.rule(f, (A, B))
        def declining(x):
            asked.append(x)
            raise MDNotImplementedError

        assert serving.call(f, AB(), needs=(True,)) is None
        assert len(asked) == 1

    def test_an_opt_out_after_a_declining_rule_ends_the_search(self, serving):
        f = new_function()
        serving.rule(f, object)(lambda x: "object")
        opt_out(serving.table, f, A)

        @serving.rule(f, ChildOfA)
        def declining(x):
            raise MDNotImplementedError

        assert serving.call(f, ChildOfA()) is None

    def test_other_errors_of_a_rule_reach_the_caller(self, serving):
        f = new_function()
        serving.rule(f, object)(lambda x: "object")

        @serving.rule(f, A)
        def failing(x):
            raise NotImplementedError("no")

        for _ in range(2):
            with pytest.raises(NotImplementedError, match="no"):
                serving.call(f, A())


class TestOptOut:
    def test_the_table_answers_none_for_its_types(self, serving):
        f = new_function()
        serving.rule(f, object)(lambda x: "object")
        opt_out(serving.table, f, A)
        for _ in range(2):
            assert serving.call(f, A()) is None
            assert serving.call(f, ChildOfA()) is None
            assert serving.call(f, B()) == "object"
        record = serving.table.lookup(f, A)
        assert record.opted_out
        assert "opted out" in record.tags
        assert record.file == __file__

    def test_it_holds_for_further_arguments_too(self, serving):
        f = new_function()
        serving.rule(f)(lambda x, y=None, *, flag=False: "object")
        opt_out(serving.table, f, A)
        assert serving.call(f, A(), 1.0) is None
        assert serving.call(f, A(), 1.0, flag=True) is None
        assert serving.call(f, A(), y=1.0) is None
        assert serving.call(f, B(), 1.0) == "object"

    def test_of_rule_and_opt_out_for_the_same_types_the_later_counts(self, serving):
        f = new_function()
        serving.rule(f, A)(lambda x: "rule")
        opt_out(serving.table, f, A)
        assert serving.call(f, A()) is None
        serving.rule(f, A)(lambda x: "rule again")
        assert serving.call(f, A()) == "rule again"

    def test_a_more_specific_rule_counts_before_it(self, serving):
        f = new_function()
        opt_out(serving.table, f, A)
        serving.rule(f, ChildOfA)(lambda x: "child")
        assert serving.call(f, ChildOfA()) == "child"
        assert serving.call(f, A()) is None

    def test_without_types_it_holds_for_every_call(self, serving):
        f = new_function()
        opt_out(serving.table, f)
        for _ in range(2):
            assert serving.call(f, A()) is None
            assert serving.call(f, A(), 1.0, flag=True) is None
        assert serving.table.lookup(f, A).opted_out

    def test_without_types_it_yields_to_a_rule_for_anything_that_comes_later(self, serving):
        f = new_function()
        serving.rule(f)(lambda x, y=None: "rule")
        opt_out(serving.table, f)
        assert serving.call(f, A()) is None
        serving.rule(f)(lambda x, y=None: "rule again")
        assert serving.call(f, A()) == "rule again"
        assert serving.call(f, A(), 1.0) == "rule again"

    def test_a_rule_for_some_types_counts_before_one_without_types(self, serving):
        f = new_function()
        serving.rule(f, A)(lambda x: "rule")
        opt_out(serving.table, f)
        assert serving.call(f, A()) == "rule"
        assert serving.call(f, B()) is None

    def test_its_implementation_answers_none_like_the_table(self, serving):
        f = new_function()
        opt_out(serving.table, f, A)
        assert serving.table.lookup(f, A).implementation(A()) is None


class Reverse(HasReverseMode):
    pass


class Both(HasReverseMode, HasForwardMode):
    pass


class TestConfigs:
    def test_a_rule_with_a_config_is_invisible_without_one(self, serving):
        f, config = new_function(), Reverse()

        @serving.rule(f, config=HasReverseMode)
        def rule(config, x: float):
            return config

        assert serving.call(f, 1.0) is None
        assert serving.call(f, 1.0, config=config) is config
        assert serving.call(f, x=1.0, config=config) is config
        assert serving.call(f, 1.0, config=RuleConfig()) is None
        assert serving.call(f, "a", config=config) is None
        assert serving.table.lookup(f, float) is None
        assert serving.table.lookup(f, float, config=Reverse).config == (HasReverseMode,)

    def test_all_features_it_asks_for_are_needed(self, serving):
        f = new_function()

        @serving.rule(f, config=(HasReverseMode, HasForwardMode))
        def rule(config, x):
            return "both"

        assert serving.call(f, 1.0, config=Reverse()) is None
        assert serving.call(f, 1.0, config=Both()) == "both"

    def test_rules_without_a_config_serve_callers_with_one(self, serving):
        f = new_function()
        serving.rule(f)(lambda x: "plain")
        assert serving.call(f, 1.0, config=Reverse()) == "plain"

    def test_for_the_same_types_the_rule_with_a_config_counts_first(self, serving):
        f = new_function()
        serving.rule(f, config=HasReverseMode)(lambda config, x: "config")
        serving.rule(f)(lambda x: "plain")
        assert serving.call(f, 1.0, config=Reverse()) == "config"
        assert serving.call(f, 1.0) == "plain"

    def test_what_a_rule_with_a_config_declines_is_left_to_the_plain_one(self, serving):
        f = new_function()

        @serving.rule(f, config=HasReverseMode)
        def rule(config, x: float):
            raise MDNotImplementedError

        serving.rule(f, float)(lambda x: "plain")
        assert serving.call(f, 1.0, config=Reverse()) == "plain"

    def test_more_specific_types_count_before_a_config(self, serving):
        f = new_function()
        serving.rule(f, object, config=HasReverseMode)(lambda config, x: "config")
        serving.rule(f, A)(lambda x: "plain")
        assert serving.call(f, A(), config=Reverse()) == "plain"
        assert serving.call(f, B(), config=Reverse()) == "config"

    def test_the_config_is_the_first_argument_of_the_call(self):
        f = new_function()
        config = Both()
        rrule.register(f, config=HasReverseMode)(lambda config, x, y: (config, x, y))
        frule.register(f, config=HasForwardMode)(lambda config, tangents, x: (config, tangents, x))
        assert rrule(config, f, 1.0, 2.0) == (config, 1.0, 2.0)
        assert rrule(config, f, 1.0, y=2.0) == (config, 1.0, 2.0)
        tangents = (NoTangent(), 3.0)
        assert frule(config, tangents, f, 1.0) == (config, tangents, 1.0)

    def test_a_call_with_a_config_alone_is_an_error(self):
        with pytest.raises(TypeError, match=r"rrule\(config, f, \*args\): the function is missing"):
            rrule(Reverse())
        with pytest.raises(TypeError, match=r"frule\(config, tangents, f, \*args\): the function is missing"):
            frule(Both(), (NoTangent(),))

    def test_callable_instances_with_a_config(self):
        class Layer:
            pass

        layer, config = Layer(), Both()
        rrule.register(instances_of(Layer), config=HasReverseMode)(lambda config, layer, x: (config, layer, x))
        frule.register(instances_of(Layer), config=HasForwardMode)(lambda config, t, layer, x: (config, t, layer, x))
        assert rrule(config, layer, 1.0) == (config, layer, 1.0)
        tangents = (NoTangent(), 2.0)
        assert frule(config, tangents, layer, 1.0) == (config, tangents, layer, 1.0)


class TestTangentsOfFrule:
    @pytest.mark.parametrize("tangents", [[NoTangent(), 1.0], 1.0, None, Tangent(tuple, 1.0, 1.0)], ids=repr)
    def test_they_are_a_tuple(self, tangents):
        with pytest.raises(TypeError, match=rf"the tangents are a tuple, .* not a {type(tangents).__name__}; write"):
            frule(tangents, np.sin, 1.0)

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_there_is_one_for_the_function_and_one_per_argument(self, count):
        with pytest.raises(ValueError, match=f"with 1 positional arguments got {count} tangents: give 2"):
            frule((NoTangent(),) * count, np.sin, 1.0)
        with pytest.raises(ValueError, match="give 2"):
            frule(Both(), (NoTangent(),) * count, np.sin, 1.0)

    def test_the_explicit_call_wants_them_for_frule_alone(self):
        with pytest.raises(TypeError, match=r"frule.call\(sin, ...\) needs the tangents of its arguments"):
            frule.call(np.sin, (1.0,))
        with pytest.raises(TypeError, match=r"rrule.call\(sin, ...\) takes no tangents"):
            rrule.call(np.sin, (1.0,), tangents=(NoTangent(), 1.0))


class TestNeeds:
    def test_a_rule_that_asks_for_it_learns_what_is_needed(self):
        f = new_function()

        @rrule.register(f)
        def f_rrule(x, y, *, needs=None):
            return needs

        assert rrule(f, 1.0, 2.0) is None
        assert rrule.call(f, (1.0, 2.0)) is None
        assert rrule.call(f, (1.0, 2.0), needs=(True, False)) == (True, False)

    def test_a_rule_that_does_not_is_called_as_ever(self):
        f = new_function()
        rrule.register(f)(lambda x: "called")
        assert rrule.call(f, (1.0,), needs=(False,)) == "called"

    def test_needs_is_no_keyword_of_the_function(self):
        f = new_function()
        rrule.register(f)(lambda x, *, needs=None: "called")
        assert rrule(f, 1.0, needs=(True,)) is None
        assert rrule.lookup(f, float).signature.endswith("(x: object)")

    def test_it_must_have_a_default(self):
        with pytest.raises(TypeError, match=r"takes needs without a default, .* write needs=None"):
            rrule.register(new_function())(lambda x, *, needs: None)


class TestAnswering:
    def test_the_first_that_does_not_decline_answers(self):
        f = new_function()

        @rrule.register(f)
        def declining(x: float):
            raise MDNotImplementedError

        @rrule.register(f)
        def answering(x: object, *, scale=1.0):
            return "answer"

        assert rrule.answering(f, (1.0,)).implementation is answering
        assert rrule.answering(f, ("text",), {"scale": 2.0}).implementation is answering
        assert rrule(f, 1.0) == "answer"

    def test_raising_is_an_answer(self):
        f = new_function()

        @rrule.register(f)
        def raising(x: float):
            raise ZeroDivisionError

        rrule.register(f)(lambda x: "answer")
        assert rrule.answering(f, (1.0,)).implementation is raising

    def test_a_rule_that_serves_alone_is_not_called(self):
        f = new_function()

        @rrule.register(f)
        def alone(x):
            raise AssertionError

        assert rrule.answering(f, (1.0,)).implementation is alone
        assert rrule.answering(functools.partial(f, 1.0), ()).implementation is alone

    def test_in_forward_mode_with_tangents_and_a_config(self):
        f = new_function()

        @frule.register(f)
        def declining(dx, x: float):
            raise MDNotImplementedError

        @frule.register(f, config=HasForwardMode)
        def answering(config, dx, x):
            return config, dx

        config = Both()
        assert frule.answering(f, (1.0,), tangents=(NoTangent(), 2.0), config=config).implementation is answering
        assert frule.answering(f, (1.0,), tangents=(NoTangent(), 2.0)).implementation is declining

    def test_an_object_is_served_by_the_rules_of_its_class(self):
        class Layer:
            def __call__(self, x):
                return x

        @rrule.register(instances_of(Layer))
        def declining(layer, x: float):
            raise MDNotImplementedError

        @rrule.register(instances_of(Layer))
        def answering(layer, x):
            return layer, x

        assert rrule.answering(Layer(), (1.0,)).implementation is answering

    def test_without_a_rule_there_is_none(self):
        assert rrule.answering(new_function(), (1.0,)) is None
