"""The page of edge cases says what the data say and what we answer now, and judges the peers justly."""

from __future__ import annotations

import numpy as np
import pytest
from edge_case import Case, case
from tables import CASES, PeerAnswers, read_peers
from verdicts import ABSENT, OTHER, RAISES, RIGHT, WRONG, verdict_on_peer, verdict_on_us
from write_page import PAGE, page

AUTOGRAD, JAX, TORCH, MYGRAD = read_peers()[0]


def test_page_agrees_with_the_data_and_with_what_we_answer() -> None:
    assert PAGE.read_text("utf8") == page(), "`python tests/edge_cases/write_page.py` writes it anew"


@pytest.mark.parametrize(
    ("name", "peer", "mark"),
    [
        ("max([1,3,3,2])", TORCH, RIGHT),
        ("max([1,3,3,2])", MYGRAD, OTHER),
        ("maximum(2,2) wrt both", MYGRAD, WRONG),
        ("abs(0)", JAX, OTHER),
        ("norm(zeros(3))", AUTOGRAD, WRONG),
        ("sqrt(0)", AUTOGRAD, RAISES),
        ("cbrt(0)", TORCH, ABSENT),
        ("arctan2(0,0) wrt both", TORCH, WRONG),  # in forward mode alone
        ("det singular [[1,2],[2,4]]", TORCH, WRONG),
        ("d2 sinc at 0 (= -π²/3 = -3.2899)", TORCH, WRONG),
        ("d2 sinc at 0 (= -π²/3 = -3.2899)", JAX, RIGHT),
        ("f: C->R abs(z)**2 at 1+2j", JAX, RIGHT),
        ("f: C->R abs(z)**2 at 1+2j", TORCH, RIGHT),
        ("inv singular", JAX, WRONG),
        ("empty: max(zeros(0))", TORCH, RIGHT),
        ("sum initial=5", AUTOGRAD, WRONG),  # in forward mode alone
        ("PLAIN numpy.where(c,x,0)", AUTOGRAD, WRONG),
        ("x.T.copy().sum()", MYGRAD, WRONG),
        ("float32: mean(x)", AUTOGRAD, WRONG),
        ("float32: mean(x)", JAX, RIGHT),
        ("int input: grad(x**2) at python int 3", MYGRAD, OTHER),
        ("tanh'(20)", JAX, WRONG),
        ("arccosh'(1+1e-12)", TORCH, WRONG),
        ("arccosh'(1+1e-12)", JAX, RIGHT),
        ("logsumexp([-inf,-inf])", JAX, WRONG),
        ("erfinv(1)", AUTOGRAD, RIGHT),  # has a reverse mode only
        ("log_ndtr'(-40)", TORCH, WRONG),
    ],
)
def test_answers_of_the_peers_are_judged(name: str, peer: str, mark: str) -> None:
    ((section, found),) = [(section, case) for section, case in CASES if case.name == name]
    assert verdict_on_peer(found, peer, read_peers()[1][section, name]).mark == mark


SQUARE = case("square", np.square, 3.0, gradient=6)
Z_SQUARED = case("square", np.square, 3 + 1j, gradient=6 - 2j, tangent=6 + 2j)


@pytest.mark.parametrize(
    ("of", "peer", "reverse", "forward", "verdict"),
    [
        (SQUARE, JAX, "9. → 6.", "6.", "✓"),
        (SQUARE, JAX, "9. → 6.", "5.", "✗ `5.` in forward mode"),
        (SQUARE, JAX, "9. → 6.", "no rule", "✓ reverse mode only"),
        (SQUARE, JAX, "9. → 6.", "**TypeError**: no", "raises TypeError in forward mode"),
        (SQUARE, JAX, "9. → [6.,6.]", "6.", "✗ `[6.,6.]`"),
        (SQUARE, JAX, "9. → None", "6.", "✗ `None`"),
        (Z_SQUARED, JAX, "8.+6.j → 6.+2.j", "6.+2.j", "✓"),
        (Z_SQUARED, JAX, "8.+6.j → 6.-2.j", "6.+2.j", "✗ `6.-2.j`"),
        (Z_SQUARED, TORCH, "8.+6.j → 6.-2.j", "6.+2.j", "✓"),
        (Z_SQUARED, TORCH, "8.+6.j → 6.+2.j", "6.+2.j", "✗ `6.+2.j`"),
    ],
)
def test_both_modes_and_both_conventions_of_complex_numbers(
    of: Case, peer: str, reverse: str, forward: str, verdict: str
) -> None:
    answers = PeerAnswers(dict.fromkeys([AUTOGRAD, JAX, TORCH, MYGRAD], reverse), [forward] * 3)
    assert str(verdict_on_peer(of, peer, answers)) == verdict


@pytest.mark.parametrize(
    ("of", "verdict"),
    [
        (case("right", np.square, 3.0, gradient=6), "✓"),
        (case("in reverse", np.square, 3.0, gradient=5, tangent=6), "✗ `6`"),
        (case("in forward", np.square, 3.0, gradient=6, tangent=5), "✗ `6 in forward mode`"),
        (case("second", np.square, 3.0, second=3), "✗ `2`"),
        (case("error", lambda x: x.nothing, 3.0, gradient=6), "raises AttributeError"),
        (case("wanted", lambda x: x.nothing, 3.0, raises=(AttributeError, "nothing")), "✓ an error"),
        (case("other", lambda x: x.nothing, 3.0, raises=(AttributeError, "something")), "raises AttributeError"),
        (case("no error", np.square, 3.0, raises=(TypeError, "")), "✗ no error"),
    ],
)
def test_our_own_answers_are_judged(of: Case, verdict: str) -> None:
    assert str(verdict_on_us(of)) == verdict
