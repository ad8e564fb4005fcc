"""The pages of coverage say what the tables of rules say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
from write_coverage import PAGES, PEERS, VERSIONS, formula_of, in_a_cell, pages, partials_in, read_peers, rule_of


def test_pages_agree_with_the_rules_and_the_data() -> None:
    if VERSIONS not in (PAGES / "index.md").read_text("utf8"):
        pytest.skip(f"the pages were written with other versions than {VERSIONS}")
    written = {page.name: page.read_text("utf8") for page in PAGES.glob("*.md")}
    assert written == pages(), "`python tests/docs/write_coverage.py` writes them anew"


def test_data_know_every_peer() -> None:
    assert {len(of_peers) for of_peers in read_peers().values()} == {len(PEERS)}
    assert {mark for of_peers in read_peers().values() for mark in of_peers} <= {"✓", "reverse", "forward", "—"}


@pytest.mark.parametrize(
    ("f", "module", "begins"),
    [
        (np.sin, "numpy", "`np.cos(x)`"),
        (scipy.special.erf, "scipy.special", "`2 / ROOT_PI * np.exp(-x * x)`"),
        (np.linalg.inv, "numpy.linalg", "d(A⁻¹) = -A⁻¹ dA A⁻¹"),
    ],
    ids=["elementwise", "of SciPy", "docstring"],
)
def test_formula_of_a_function_is_that_of_its_rule(f: Any, module: str, begins: str) -> None:
    rule = rule_of(f, module)
    assert rule is not None
    assert formula_of(rule).startswith(begins)


@pytest.mark.parametrize(
    ("source", "partials"),
    [
        ("scalar_rule(f, lambda y, a, b: b, lambda y, a, b: a)", ["b", "a"]),
        ("    scalar_rule(f, None, OneOver(lambda y, a, b: a + b))", ["1 / (a + b)"]),
        ("scalar_rule(f, slope)", []),
        ("scalar_rule(f, lambda y, a, b: b, slope)", []),
        ("@rrule.register(f)\ndef f_rrule(x): ...", []),
        ("    scalar_rule(\n", []),
    ],
)
def test_partial_derivatives_are_shown_where_all_are_in_sight(source: str, partials: list[str]) -> None:
    assert partials_in(source) == partials


def test_a_formula_in_a_cell_is_no_markup() -> None:
    assert in_a_cell("a * b | c_i `x*y`\nand d") == r"a \* b \| c\_i `x*y` and d"
