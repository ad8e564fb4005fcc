"""The page of client libraries says what was run, and a verdict is what it says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.clients.page import PAGE, Result, counts, page, rows
from tests.clients.uses import ADAPTERS, comparison, libraries, uses_of

USES = [use for library in libraries() for use in uses_of(library)]


def test_every_use_is_a_row_of_the_page_and_every_row_a_use() -> None:
    rows_of_uses = [(use.library, use.what, use.adapter) for use in USES]
    assert rows(PAGE.read_text("utf8")) == rows_of_uses, "`python -m tests.clients --write` writes it anew"


def test_rows_are_read_as_they_are_written() -> None:
    results = [Result(use, "1.0", "right") for use in USES]
    assert rows(page(results)) == [(use.library, use.what, use.adapter) for use in USES]
    assert counts(results).endswith(f"{len(USES)} right, 0 wrong, 0 with an error.")


def test_every_use_says_what_it_is_and_in_which_system() -> None:
    assert all(use.what and use.system in ADAPTERS for use in USES)
    assert len({(use.library, use.what) for use in USES}) == len(USES)


@pytest.mark.parametrize(
    ("computed", "verdict"),
    [
        ([np.array([1.0, 2.0])], "right"),
        ([np.array([1.0, 2.0 + 1e-9])], "right"),
        ([np.array([1.0, 2.1])], "wrong: off by 1.0e-01"),
        ([np.array([1.0, np.nan])], "wrong: off by nan"),
        ([np.array([1.0, 2.0], np.float32)], "wrong: float32[2], not float64[2]"),
        ([np.array([[1.0, 2.0]])], "wrong: float64[1, 2], not float64[2]"),
        ([], "wrong: 0 arrays, not 1"),
    ],
)
def test_numbers_are_compared_with_their_dtypes_and_shapes(computed: list[np.ndarray], verdict: str) -> None:
    assert comparison(computed, [np.array([1.0, 2.0])]) == verdict


def test_numbers_that_are_not_finite_prove_nothing() -> None:
    assert comparison([np.array(np.nan)], [np.array(np.nan)]) == "wrong: off by nan"
