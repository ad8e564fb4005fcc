"""What computes nothing that could be differentiated: no rule, and no value made a constant by it."""

import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule
from rulescore.ad import TracerConversionError, grad
from rulescore.tables.names import name_of

DECLARED = [f for f in rrule if any("not numerical" in r.tags for r in rrule.records(f))]


def test_there_is_something_to_test():
    assert {np.savetxt, np.info, np.issubdtype, np.packbits, np.is_busday, np.ndarray.tobytes} <= set(DECLARED)
    assert not {np.argmax, np.shape, np.result_type} & set(DECLARED)


@pytest.mark.parametrize("f", DECLARED, ids=name_of)
def test_both_tables_answer_none(f):
    assert rrule(f, np.ones(3)) is None
    assert frule((NoTangent(), np.ones(3)), f, np.ones(3)) is None


@pytest.mark.parametrize(
    "save",
    [
        lambda x: np.savetxt("never_written.txt", x),
        lambda x: np.save("never_written.npy", x),
        lambda x: np.packbits(x),
        lambda x: x.tobytes(),
        pytest.param(np.asmatrix, marks=pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")),
    ],
)
def test_a_value_that_is_differentiated_is_refused(save):
    with pytest.raises((TracerConversionError, TypeError, AttributeError)):
        grad(lambda x: save(x) or np.sum(x))(np.ones(3))


def test_printing_leaves_the_derivative_alone():
    def printed(x):
        assert np.array2string(x) == "[1. 1.]"
        return np.sum(x**2)

    np.testing.assert_array_equal(grad(printed)(np.ones(2)), [2.0, 2.0])
