"""Functions without rules, on purpose: the tables answer None, and the AD assigns or looks inside."""

import numpy as np
import pytest

from rules.numpy.assignments_and_conversions import ASSIGNMENTS, CONVERSIONS
from rulescore import NoTangent, frule, rrule
from rulescore.ad import TracerConversionError, grad, jvp
from testutils.runs.running import collect_targets
from testutils.samples.numpy.assignments_and_conversions import WRITTEN, written_by
from testutils.samples.sampling import samples_of

X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("f", [*ASSIGNMENTS, *CONVERSIONS], ids=lambda f: f.__qualname__)
def test_both_tables_answer_none_and_say_so(f):
    assert rrule(f, np.ones(3), 1.0) is None
    assert frule((NoTangent(), np.ones(3), 1.0), f, np.ones(3), 1.0) is None
    assert all(record.opted_out for table in (rrule, frule) for record in table.records(f))


@pytest.mark.parametrize("f", [*ASSIGNMENTS, *CONVERSIONS], ids=lambda f: f.__qualname__)
def test_samples_pass_through_the_ad_at_first_and_second_order(f):
    name = f"numpy.{f.__qualname__}"
    (target,) = collect_targets([name])
    assert target.is_looked_into
    for sample in target.samples:
        report = target.check(sample, thorough=True)
        assert report.verdict == "pass", str(report)
        assert {result.mode for result in report.results if result.name == "looked into"} == {"vjp", "jvp"}


def test_what_is_overwritten_has_no_derivative_and_what_is_written_has():
    def written(x, v):
        y = np.array(x, like=x)
        np.put(y, [0, 2], v)
        return np.sum(y * X)

    np.testing.assert_array_equal(grad(written, (0, 1))(X, np.ones(2))[0], [0.0, 2.0, 0.0])
    np.testing.assert_array_equal(grad(written, (0, 1))(X, np.ones(2))[1], [1.0, 3.0])


def test_of_what_is_written_twice_the_last_counts():
    def written(v):
        y = np.zeros(3, like=v)
        np.put(y, [1, 1], v)
        return y[1]

    np.testing.assert_array_equal(grad(written)(np.array([5.0, 6.0])), [0.0, 1.0])


def test_a_wrong_derivative_would_be_seen():
    (sample, *_) = samples_of(np.put)
    (target,) = collect_targets(["numpy.put"])

    def forgets(x, indices, v, **kwargs):
        y = WRITTEN[np.put](x, indices, v, **kwargs)
        return y + 0 * np.sum(v) if type(v) is np.ndarray else y + np.sum(v)

    wrong = target.check(type(sample)(sample.args, sample.fkwargs, function=forgets))
    assert wrong.verdict == "fail"


def test_an_ordinary_array_is_not_written_to():
    with pytest.raises(TracerConversionError, match=r"np\.zeros\(n, like=x\)"):
        grad(lambda x: np.put(np.zeros(3), [0], x))(1.0)


@pytest.mark.parametrize("f", WRITTEN, ids=lambda f: f.__qualname__)
def test_the_function_of_the_samples_does_what_numpy_does(f):
    for sample in samples_of(f):
        x, *rest = sample.args
        wanted = x.copy()
        getattr(wanted, f.__name__)(*rest, **sample.fkwargs) if f.__qualname__.startswith("ndarray.") else f(
            wanted, *rest, **sample.fkwargs
        )
        before = x.copy()
        np.testing.assert_array_equal(written_by(f)(x, *rest, **sample.fkwargs), wanted)
        np.testing.assert_array_equal(x, before)


def test_a_list_of_an_array_is_a_list_of_what_is_differentiated():
    y, dy = jvp(lambda x: x.tolist()[1], (X,), (np.array([0.0, 1.0, 0.0]),))
    assert (y, dy) == (2.0, 1.0)
