"""What `operator` does for a function: AD systems see its calls, and its names stand in the records of its rules."""

import subprocess
import sys

import numpy as np

import rules.operators
from rules.operators.operator import operator
from rulescore import NoTangent, rrule, unthunk
from rulescore.ad import grad, jacrev


def make_cube(calls):
    @operator(onnx="Cube", tensorflow=("tf.cube", "tf.raw_ops.Cube"))
    def cube(x):
        assert isinstance(x, np.ndarray)
        return x**3

    @rrule.register(cube, tags=cube.tags)
    def cube_rrule(x):
        calls.append(x)
        return cube(x), lambda ybar: (NoTangent(), 3 * x**2 * unthunk(ybar))

    return cube


def test_the_rule_of_an_operator_is_asked_wherever_its_argument_stands():
    calls = []
    cube = make_cube(calls)
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(grad(lambda x: cube(x=x).sum())(x), [3.0, 12.0])
    np.testing.assert_array_equal(grad(lambda x: grad(lambda x: cube(x).sum())(x).sum())(x), [6.0, 12.0])
    np.testing.assert_array_equal(grad(lambda x: jacrev(cube)(x).sum())(x), [6.0, 12.0])
    assert len(calls) >= 4


def test_names_elsewhere_are_tags_of_the_rule():
    cube = make_cube([])
    tags = rrule.lookup(cube, np.ndarray).tags
    assert tags == {"onnx:Cube", "tensorflow:tf.cube", "tensorflow:tf.raw_ops.Cube"}


def test_an_operator_without_a_rule_is_differentiated_through_its_code():
    @operator()
    def double(x):
        return 2 * x

    np.testing.assert_array_equal(grad(lambda x: double(x).sum())(np.ones(2)), [2.0, 2.0])


def test_every_rule_of_an_operator_has_its_tags():
    for name in rules.operators.__all__:
        tags = getattr(getattr(rules.operators, name), "tags", frozenset())
        assert all(tags <= record.tags for record in rrule.records(getattr(rules.operators, name)) if tags), name


def test_importing_the_operators_imports_no_numba():
    code = "import sys, rules.operators; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
