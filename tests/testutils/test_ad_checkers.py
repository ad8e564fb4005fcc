"""The peers in the tables of the corpora are treated fairly: they pass what is right and catch what is clearly not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from corpora.ad_checkers import ERROR, NOT_TAKEN, PEERS
from corpora.corpus import BOTH, FORWARD, REVERSE, RightRule, WrongRule, complex_normal, elementwise, normal
from corpora.right.structures import Structural, by_gradient

from rulescore import NoTangent, Tangent

pytestmark = pytest.mark.skipif(len(PEERS) < 4, reason="PyTorch, JAX or autograd is not installed")

EACH_PEER = pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
EACH_MODE = pytest.mark.parametrize("modes", [FORWARD, REVERSE, BOTH], ids=["frule", "rrule", "both"])
TREE_PEERS = {"JAX's check_grads", "autograd's check_grads"}


FOUR = normal(4)


def verdict(peer, right, wrong=None, modes=BOTH, inputs=FOUR):
    """Of the wrong rules, or without any of the right ones; both have the function of the right one."""
    rules = right if wrong is None else wrong
    entry = WrongRule("", "", right, rules.frule, rules.rrule, modes, inputs)
    return peer.verdict(entry, *inputs(np.random.default_rng(0)))


SINE = elementwise(np.sin, np.cos)
FLIPPED = elementwise(np.sin, lambda x: -np.cos(x))


@EACH_MODE
@EACH_PEER
def test_a_right_sine_passes(peer, modes):
    assert verdict(peer, SINE, modes=modes) == "pass"


@EACH_MODE
@EACH_PEER
def test_a_flipped_sign_is_caught(peer, modes):
    assert verdict(peer, SINE, FLIPPED, modes) == "fail"


@pytest.mark.parametrize(("mode", "other"), [(FORWARD, "rrule"), (REVERSE, "frule")], ids=["frule", "rrule"])
@EACH_PEER
def test_a_mode_is_checked_with_its_own_rule(peer, mode, other):
    rules = {"frule": SINE.frule, "rrule": SINE.rrule, other: getattr(FLIPPED, other)}
    entry = WrongRule("", "", SINE, **rules, modes=mode, inputs=FOUR)
    assert peer.verdict(entry, *entry.inputs(np.random.default_rng(0))) == "pass"


# ------------------------------------------------------------------ complex numbers


def product(x, y):
    return x * y


PRODUCT = elementwise(product, lambda x, y: y, lambda x, y: x)
UNCONJUGATED = elementwise(product, lambda x, y: np.conj(y), lambda x, y: np.conj(x))
PARTS = complex_normal(3, 3)


@EACH_MODE
@EACH_PEER
def test_a_right_rule_of_complex_numbers_passes(peer, modes):
    assert verdict(peer, PRODUCT, modes=modes, inputs=PARTS) == "pass"
    assert verdict(peer, PRODUCT, modes=modes, inputs=mixed) == "pass"


@EACH_MODE
@EACH_PEER
def test_a_missing_conjugate_is_caught(peer, modes):
    assert verdict(peer, PRODUCT, UNCONJUGATED, modes, PARTS) == "fail"


def mixed(rng):
    """A real and a complex argument."""
    return (rng.standard_normal(3), rng.standard_normal(3) + 1j * rng.standard_normal(3)), {}


# ------------------------------------------------------------------ what is no array


def power(x, n):
    return x**n


POWER = Structural(
    power,
    jvp=lambda dx, _, x, n: n * x ** (n - 1) * dx,
    vjp=lambda ybar, x, n: (n * x ** (n - 1) * ybar, NoTangent()),
)


@EACH_PEER
def test_an_argument_without_derivative_is_fixed(peer):
    assert verdict(peer, POWER, inputs=lambda rng: ((rng.uniform(0.5, 2, 3), 3), {})) == "pass"


@EACH_PEER
def test_floats_of_python_are_taken(peer):
    assert verdict(peer, PRODUCT, inputs=lambda rng: ((rng.standard_normal(3), 1.5), {})) == "pass"


@dataclass(frozen=True)
class Line:
    slope: float
    offset: float


class Pair(NamedTuple):
    slope: float
    offset: float


def line_at(line, x):
    return line.slope * x + line.offset


def a_line(kind):
    return by_gradient(line_at, lambda line, x: (Tangent(kind, slope=x, offset=1.0), line.slope)), (
        lambda rng: ((kind(*rng.standard_normal(2).tolist()), 1.5), {})
    )


@EACH_PEER
def test_an_object_is_not_taken(peer):
    right, inputs = a_line(Line)
    assert verdict(peer, right, inputs=inputs) == NOT_TAKEN


@EACH_PEER
def test_a_named_tuple_is_taken_by_jax_alone(peer):
    right, inputs = a_line(Pair)
    assert verdict(peer, right, inputs=inputs) == ("pass" if peer.name.startswith("JAX") else NOT_TAKEN)


def read(table):
    return table["gain"] * np.sum(table["pieces"][0])


READ = by_gradient(
    read,
    lambda table: (
        Tangent(
            dict,
            {
                "gain": np.sum(table["pieces"][0]),
                "pieces": Tangent(list, table["gain"] * np.ones_like(table["pieces"][0])),
            },
        ),
    ),
)
MISREAD = by_gradient(read, lambda table: (Tangent(dict, {"gain": np.sum(table["pieces"][0])}),))


def a_table(rng):
    return ({"gain": 1.5, "pieces": [rng.standard_normal(3)]},), {}


@EACH_PEER
def test_a_dict_with_a_list_is_taken_by_those_that_know_containers(peer):
    taken = peer.name in TREE_PEERS
    assert verdict(peer, READ, inputs=a_table) == ("pass" if taken else NOT_TAKEN)
    assert verdict(peer, READ, MISREAD, inputs=a_table) == ("fail" if taken else NOT_TAKEN)


def both_parts(x):
    return np.sin(x), np.sum(x)


BOTH_PARTS = Structural(
    both_parts,
    jvp=lambda dx, x: (np.cos(x) * dx, np.sum(dx)),
    vjp=lambda ybar, x: np.cos(x) * ybar[0] + ybar[1],
)
FIRST_PART = Structural(both_parts, jvp=lambda dx, x: (np.cos(x) * dx, 0.0), vjp=lambda ybar, x: np.cos(x) * ybar[0])


@EACH_MODE
@EACH_PEER
def test_a_tuple_of_outputs_is_taken(peer, modes):
    assert verdict(peer, BOTH_PARTS, modes=modes) == "pass"
    assert verdict(peer, BOTH_PARTS, FIRST_PART, modes) == "fail"


@EACH_PEER
def test_single_precision_is_given_as_it_is(peer):
    seen = set()

    def sine(x):
        seen.add(np.asarray(x).dtype)
        return np.sin(x)

    verdict(peer, elementwise(sine, np.cos), inputs=lambda rng: ((rng.standard_normal(3).astype(np.float32),), {}))
    assert seen == {np.dtype(np.float32)}


@EACH_PEER
def test_an_error_of_the_function_is_no_accusation(peer):
    def only_here(x):
        if np.asarray(x).item() != 1.0:
            raise ValueError("not here")
        return x * 1.0

    found = verdict(peer, elementwise(only_here, np.ones_like), inputs=lambda rng: ((np.array(1.0),), {}))
    assert found.startswith(ERROR)


def test_a_right_entry_of_the_corpora_is_given_like_a_wrong_one():
    entry = RightRule("", SINE, normal(3))
    assert {peer.verdict(entry, *entry.inputs(np.random.default_rng(0))) for peer in PEERS.values()} == {"pass"}
