"""Trees of arguments: containers, dataclasses of every kind, and the places that error messages name."""

import collections
import decimal
import fractions
import functools
import re
import threading
import types
from dataclasses import dataclass, field

import numpy as np
import optree
import pytest

from rulescore import NoTangent, Tangent, ZeroTangent, frule_via_ad
from rulescore.ad import AD
from rulescore.ad.forward import jvp
from rulescore.ad.reverse import grad, vjp
from rulescore.ad.values.trees import flatten, form_of, hides_numbers, path_of, tree_map, unflatten

X = np.array([1.0, 2.0])


@dataclass
class Plain:
    w: object
    b: object = None


@dataclass(frozen=True)
class Frozen:
    w: object
    name: str = "frozen"


@dataclass(slots=True)
class Slotted:
    w: object
    n: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenSlotted:
    w: object
    flag: bool = True


class Child(Frozen):
    """Inherits its fields."""


@dataclass
class Grandchild(Plain):
    c: object = 1.0


@dataclass
class NoInit:
    w: object
    derived: object = field(init=False)

    def __post_init__(self):
        self.derived = 2.0 * self.w


@dataclass
class Checked:
    w: object

    def __post_init__(self):
        if not isinstance(self.w, np.ndarray):
            raise TypeError("w is an array")  # which a tracer is not


DATACLASSES = [
    Plain(X, 2.0),
    Frozen(X),
    Slotted(X),
    FrozenSlotted(w=X, flag=False),
    Child(X, "child"),
    Grandchild(X, "text", 3.0),
    NoInit(X),
    Checked(X),
    Plain(Plain(Frozen(X, "deep"), [1.0]), {"a": Slotted(2.0)}),
]


@pytest.mark.parametrize("tree", DATACLASSES, ids=lambda tree: type(tree).__name__)
def test_dataclasses_are_trees_of_their_numbers(tree):
    leaves, structure = flatten(tree)
    assert all(isinstance(leaf, (float, np.ndarray)) for leaf in leaves)
    again = unflatten(structure, leaves)
    assert type(again) is type(tree)
    assert repr(again) == repr(tree)
    assert again is not tree
    doubled, same = flatten(tree_map(lambda leaf: 2 * leaf, tree))
    assert same == structure
    for a, b in zip(doubled, leaves, strict=True):
        np.testing.assert_array_equal(a, 2 * b)


@pytest.mark.parametrize("tree", DATACLASSES, ids=lambda tree: type(tree).__name__)
def test_gradient_of_a_dataclass_is_one_with_its_other_fields_as_they_are(tree):
    gradient = grad(lambda tree: sum(np.sum(leaf**2) for leaf in flatten(tree)[0]))(tree)
    bars, structure = flatten(gradient)
    leaves, same = flatten(tree)
    assert structure == same
    for bar, leaf in zip(bars, leaves, strict=True):
        np.testing.assert_array_equal(bar, 2 * leaf)
    assert repr(unflatten(structure, leaves)) == repr(tree)


def test_fields_without_numbers_stay_as_they_are_and_are_there_inside():
    @dataclass
    class Model:
        w: np.ndarray
        size: int
        shape: tuple
        index: np.ndarray
        activation: object
        name: str = "model"

    index = np.array([1, 0])
    model = Model(X, 2, (1, 2), index, np.tanh)

    def loss(model):
        assert (model.size, model.shape, model.name) == (2, (1, 2), "model")
        assert model.index is index
        return np.sum(model.activation(model.w)[model.index] * model.size)

    gradient = grad(loss)(model)
    assert gradient.size == 2
    assert gradient.index is index
    np.testing.assert_allclose(gradient.w, 2 * grad(lambda w: np.sum(np.tanh(w)))(X))


def test_methods_and_properties_work_inside():
    @dataclass(frozen=True)
    class Affine:
        w: np.ndarray
        b: float

        def __call__(self, x):
            return np.sum(self.w * x) + self.b

        @property
        def size(self):
            return np.sum(self.w**2)

    gradient = grad(lambda model: model(X) * model.size)(Affine(X, 0.5))
    np.testing.assert_allclose(gradient.b, 5.0)
    numeric = [
        (Affine(X + h, 0.5)(X) * Affine(X + h, 0.5).size - Affine(X - h, 0.5)(X) * Affine(X - h, 0.5).size) / 2e-6
        for h in 1e-6 * np.eye(2)
    ]
    np.testing.assert_allclose(gradient.w, numeric, rtol=1e-8)


def test_what_a_cached_property_remembers_is_computed_again():
    @dataclass
    class Model:
        w: np.ndarray

        @functools.cached_property
        def norm(self):
            return np.sqrt(np.sum(self.w**2))

    model = Model(np.array([3.0, 4.0]))
    assert model.norm == 5.0
    np.testing.assert_allclose(grad(lambda model: model.norm)(model).w, [0.6, 0.8])


def test_attributes_that_are_no_fields_are_kept_unless_they_may_depend_on_the_fields():
    @dataclass
    class Model:
        w: np.ndarray

        def __post_init__(self):
            self.count = len(self.w)
            self.twice = 2 * self.w

    def loss(model):
        assert model.count == 2
        return np.sum(model.w)

    assert grad(loss)(Model(X)).count == 2
    with pytest.raises(AttributeError, match="twice"):
        grad(lambda model: np.sum(model.twice))(Model(X))


def test_fields_declared_static_are_held_constant():
    @dataclass
    class Model:
        w: np.ndarray
        rate: float = field(metadata={"static": True})
        matrix: object = field(default=None, metadata={"pytree_node": False})

    matrix = object()
    model = Model(X, 0.5, matrix)
    gradient = grad(lambda model: np.sum(model.w) * model.rate)(model)
    assert gradient.rate == 0.5
    assert gradient.matrix is matrix
    np.testing.assert_array_equal(gradient.w, [0.5, 0.5])


def test_an_integer_in_a_field_declared_a_float_is_refused():
    @dataclass
    class Model:
        scale: float
        count: int = 3

    @dataclass
    class WithStrings:
        scale: "complex"

    for wrong in (Model(2), WithStrings(True)):
        with pytest.raises(TypeError, match=r"argument 0\.scale, which is (int|bool): integers and booleans have no"):
            grad(lambda model: model.scale**2)(wrong)
    assert grad(lambda model: model.scale**2)(Model(2.0)).scale == 4.0


def test_a_field_that_is_not_set_is_left_out():
    @dataclass(slots=True)
    class Model:
        w: object
        later: object = field(init=False)

    gradient = grad(lambda model: np.sum(model.w))(Model(X))
    assert not hasattr(gradient, "later")


def test_tangents_of_dataclasses_may_hold_zeros():
    _, dy = jvp(lambda p: np.sum(p.w) * p.b, (Plain(X, 2.0),), (Plain(ZeroTangent(), 1.0),))
    assert dy == 3.0
    _, vjp_fn = vjp(lambda x: Plain(x * x, np.sum(x)), X)
    np.testing.assert_array_equal(vjp_fn(Plain(NoTangent(), 1.0))[0], [1.0, 1.0])


def test_dataclasses_with_other_children_have_another_form():
    _, vjp_fn = vjp(lambda x: Plain(x, x), X)
    with pytest.raises(TypeError, match=r"has the form Plain\(w=\*, b=None\)|has the form CustomTreeNode\(Plain\[w\]"):
        vjp_fn(Plain(X, "text"))


def test_a_class_registered_by_its_user_is_a_tree():
    class Pair:
        def __init__(self, first, second):
            self.first, self.second = first, second

    optree.register_pytree_node(
        Pair, lambda p: ((p.first, p.second), None), lambda _, children: Pair(*children), namespace="rulescore"
    )
    gradient = grad(lambda p: np.sum(p.first) * p.second)(Pair(X, 2.0))
    assert type(gradient) is Pair
    assert gradient.second == 3.0
    np.testing.assert_array_equal(gradient.first, [2.0, 2.0])


# ---------------------------------------------------------------- leaves that are refused


class Holder:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def method(self, x):
        return x


class Record(dict):
    """A dict that optree does not take for one."""


structured = np.array([(1.0, 2)], dtype=[("a", float), ("b", int)])


@pytest.mark.parametrize(
    ("leaf", "kind"),
    [
        (Holder(w=X), "Holder"),
        (Holder(inner=Holder(w=2.0)), "Holder"),
        (Holder(w=2.0).method, "method"),
        (functools.partial(np.multiply, 2.0), "partial"),
        (types.SimpleNamespace(w=X), "SimpleNamespace"),
        (Record(w=X), "Record"),
        ({1.5, 2.5}, "set"),
        (np.array([1.0, X], dtype=object), "array of objects"),
    ],
)
def test_numbers_that_a_tree_does_not_reach_are_refused_beside_others(leaf, kind):
    with pytest.raises(
        TypeError, match=rf"argument 0\['model'\].*there are numbers in it, and what is within an? {kind}"
    ):
        grad(lambda p: np.sum(p["x"]))({"x": X, "model": leaf})


@pytest.mark.parametrize(
    ("leaf", "message"),
    [
        (3, "integers and booleans have no derivative"),
        (np.arange(3), "integers and booleans have no derivative"),
        (np.array([True]), "integers and booleans have no derivative"),
        (structured, "a structured array has no derivative"),
        (np.eye(2).view(np.matrix), "np.asarray"),
        (np.ma.MaskedArray([1.0, 2.0], [True, False]), "np.where"),
        (fractions.Fraction(1, 2), r"Pass float\(x\)"),
        (decimal.Decimal(2), r"Pass float\(x\)"),
    ],
)
def test_leaves_that_cannot_be_differentiated_are_refused_with_their_place(leaf, message):
    for tree, place in (
        (leaf, "argument 0,"),
        ([X, (2.0, leaf)], r"argument 0\[1\]\[1\],"),
        (Plain(leaf, X), "argument 0"),
    ):
        if isinstance(tree, Plain) and "integers" in message:
            continue  # fields with integers stay as they are
        with pytest.raises(TypeError, match=place) as caught:
            grad(lambda p: 1.0)(tree)
        assert re.search(message, str(caught.value))


def test_sparse_arrays_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    for matrix in (sparse.csr_array(np.eye(2)), sparse.coo_matrix(np.eye(2))):
        with pytest.raises(TypeError, match=r"argument 0\['S'\].*S\.data"):
            grad(lambda p: p["x"])({"x": 1.0, "S": matrix})


@pytest.mark.parametrize("tree", ["abc", None, (), {}, {"a": "b", "c": (None, np.sin)}, np.sin, Frozen("x"), object()])
def test_an_argument_without_numbers_is_refused(tree):
    with pytest.raises(TypeError, match=r"argument 1, a \w+, in which there is no number or array"):
        grad(lambda x, y: x, 1)(1.0, tree)


@pytest.mark.parametrize(
    "leaf",
    ["abc", None, np.sin, len, object(), Holder(name="x", n=3), np.random.default_rng(0), slice(None), {1, 2}, int],
)
def test_leaves_without_numbers_pass_through(leaf):
    seen = []

    def f(tree):
        seen.append(tree["leaf"])
        return tree["x"] ** 2

    gradient = grad(f)({"x": 3.0, "leaf": leaf})
    assert gradient["x"] == 6.0
    assert seen == [leaf]
    assert not hides_numbers(leaf)


def test_an_object_that_holds_itself_is_searched_once():
    holder = Holder(n=1)
    holder.me = [holder, {"again": holder}]
    assert not hides_numbers(holder)


# ---------------------------------------------------------------- places


def test_paths_are_written_as_in_code():
    tree = {"layers": [Plain(X, (1.0, Frozen(2.0)))], "ordered": collections.OrderedDict(z=(3.0,))}
    leaves, _ = flatten(tree)
    paths = [path_of(tree, i) for i in range(len(leaves))]
    assert paths == ["['layers'][0].w", "['layers'][0].b[0]", "['layers'][0].b[1].w", "['ordered']['z'][0]"]
    for path, leaf in zip(paths, leaves, strict=True):
        assert eval("tree" + path) is leaf
    assert path_of(X, 0) == ""


def test_forms_are_shown_without_the_words_of_the_tree_library():
    assert form_of(flatten({"w": X, "b": (1.0, None)})[1]) == "{'b': (*, None), 'w': *}"
    assert form_of(flatten(X)[1]) == "*"
    assert form_of(flatten(1.0)[1]) == "*"


def test_a_dataclass_met_first_by_several_threads_is_registered_once():
    for _ in range(20):
        cls = dataclass(type("Model", (), {"__annotations__": {"w": object, "b": object}}))
        barrier = threading.Barrier(8)
        found = []

        def work(cls=cls, barrier=barrier, found=found):
            barrier.wait()
            found.append(len(flatten([cls(X, 2.0)])[0]))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [2] * 8


# ---------------------------------------------------------------- tangents of objects


class Open:
    """Whose fields nobody declares."""

    def __init__(self, a, b):
        self.a, self.b = a, b


def test_a_tangent_of_a_field_that_is_not_there_is_refused_and_not_lost():
    def f(x):
        return x.a * x.b

    x = Open(2.0, 3.0)
    assert frule_via_ad(AD, (NoTangent(), Tangent(Open, a=1.0, other=NoTangent())), f, x) == (6.0, 3.0)
    with pytest.raises(TypeError, match="the field 'other' does not fit the type Open"):
        frule_via_ad(AD, (NoTangent(), Tangent(Open, a=1.0, other=2.0)), f, x)
