"""Whether an answer to a case is right, of ours as of the peers', and how the table shows it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
from edge_case import SECOND_ORDER, Case, assert_right, forward, leaves_as_in, reverse, second
from tables import PeerAnswers

from rulescore import AbstractZero

RIGHT, OTHER, WRONG, RAISES, ABSENT = "✓", "○", "✗", "raises", "—"
MEANINGS = {
    RIGHT: "right",
    OTHER: "another choice, as right",
    WRONG: "wrong",
    RAISES: "an error where there is an answer",
    ABSENT: "no such function, or no rule",
}
CONJUGATE = ("HIPS autograd", "JAX")
PRINTED_TO = {"rtol": 1e-4, "atol": 6e-5}  # the peers' answers are printed with four decimals
INACCURATE = 1e-14  # a relative error that is not rounding

NAMES = {
    "nan": np.nan,
    "inf": np.inf,
    "nanj": complex(0, np.nan),
    "infj": complex(0, np.inf),
    "array": lambda x, **_: x,
    "Array": lambda x, **_: x,
    "float64": None,
}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One of the five marks, and what stands beside it."""

    mark: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.mark} {self.text}".strip()


# ---------------------------------------------------------------- what a peer printed


def verdict_on_peer(case: Case, peer: str, answers: PeerAnswers) -> Verdict:
    """Both modes together: the reverse one, and the forward one where it is worse."""
    name = re.sub(r" [\d.]+$", "", peer)
    of_reverse = verdict_on_reverse(case, name, answers.reverse[peer])
    position = list(answers.reverse).index(peer)
    if position >= len(answers.forward) or of_reverse.mark not in (RIGHT, OTHER) or case.gradient is None:
        return of_reverse
    of_forward = verdict_on_forward(case, answers.forward[position])
    if of_forward.mark == ABSENT:
        return Verdict(of_reverse.mark, f"{of_reverse.text} reverse mode only".strip())
    if of_forward.mark in (WRONG, RAISES):
        return Verdict(of_forward.mark, f"{of_forward.text} in forward mode")
    return of_reverse


def verdict_on_reverse(case: Case, peer: str, cell: str) -> Verdict:
    if cell.startswith(("—", "no rule", "n/a", "const")):
        return Verdict(ABSENT)
    if cell.startswith("**"):
        return of_error(case, cell)
    if (relative := re.search(r"(.*) \(rel (.*)\)", cell)) is not None:
        return of_accuracy(case, *relative.groups())
    answer = cell.partition(" → ")[2] or cell
    if (typed := re.search(r"\[(\w+)\]\(", answer)) is not None:
        return of_type(case, typed[1])
    if answer == "None" and np.asarray(case.args[0]).dtype.kind in "ib":
        return Verdict(OTHER, "`None`")
    found = parsed(answer)
    rights = [case.second if case.gradient is None else case.gradient] if case.raises is None else []
    others = list(case.also)
    if peer in CONJUGATE and any(np.iscomplexobj(x) for x in case.args if not isinstance(x, (list, dict))):
        rights, others = ([conjugate(answer) for answer in answers] for answers in (rights, others))
    return of_numbers(found, rights, others, answer)


def verdict_on_forward(case: Case, cell: str) -> Verdict:
    if cell.startswith(("—", "no rule")):
        return Verdict(ABSENT)
    if cell.startswith("**"):
        return of_error(case, cell)
    also = [] if case.tangent is not None else map(case.tangents, case.also)
    right, *others = [tangents[0] if case.is_of_one_argument else tangents for tangents in (case.tangents(), *also)]
    return of_numbers(parsed(cell), [right], [*others, *case.also_tangents], cell)


def of_error(case: Case, cell: str) -> Verdict:
    if case.raises is not None:
        return Verdict(RIGHT, "an error")
    name = re.match(r"\*\*_?(\w+)\*\*", cell)
    assert name is not None, cell
    return Verdict(RAISES, name[1] + (" (of Python numbers)" if "[python-float input]" in cell else ""))


def of_accuracy(case: Case, shown: str, relative: str) -> Verdict:
    (right,) = case.gradients()
    if float(relative) <= INACCURATE or float(shown) == right:
        return Verdict(RIGHT)
    return Verdict(WRONG, f"`{shown}`" if float(relative) > 1e-3 else f"off by {float(relative):.0e}")


def of_type(case: Case, found: str) -> Verdict:
    if case.raises is not None:
        return Verdict(OTHER, f"`{found}`")
    return Verdict(RIGHT) if found == case.dtype else Verdict(WRONG, f"`{found}`")


def of_numbers(found: Any, rights: list[Any], others: list[Any], shown: str) -> Verdict:
    if any(is_same(found, right) for right in rights):
        return Verdict(RIGHT)
    return Verdict(OTHER if any(is_same(found, other) for other in others) else WRONG, f"`{shortened(shown)}`")


def parsed(text: str) -> Any:
    """The numbers in a printed answer; a missing derivative is one of zero."""
    return with_zeros(eval(text, {"__builtins__": {}}, NAMES))


def with_zeros(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x)(map(with_zeros, x))
    if isinstance(x, dict):
        return {key: with_zeros(value) for key, value in x.items()}
    return 0.0 if x is None or isinstance(x, bytes) else x


def conjugate(answer: Any) -> Any:
    return tuple(map(np.conj, answer)) if isinstance(answer, tuple) else np.conj(answer)


def is_same(found: Any, right: Any) -> bool:
    if isinstance(found, tuple) and not isinstance(right, tuple):
        right = tuple(right) if np.ndim(right) else (right,)
    if isinstance(right, tuple):
        return len(found) == len(right) and all(map(is_same, found, right))
    if isinstance(right, dict):
        return all(is_same(found[key], right[key]) for key in right)
    if np.shape(found) != np.shape(right) and np.size(right) != np.size(found):
        return False
    found, right = (np.asarray(x, complex).reshape(-1) for x in (found, right))
    return all(np.allclose(part(found), part(right), equal_nan=True, **PRINTED_TO) for part in (np.real, np.imag))


# ---------------------------------------------------------------- what we answer


def verdict_on_us(case: Case) -> Verdict:
    """All modes together: the first that is not right."""
    try:
        for found, right, shown in our_answers(case):
            if not is_right(found, right, case):
                return Verdict(WRONG, f"`{shortened(shown)}`")
    except Exception as error:
        if case.raises is not None and isinstance(error, case.raises[0]) and re.search(case.raises[1], str(error)):
            return Verdict(RIGHT, "an error")
        return Verdict(RAISES, type(error).__name__)
    return Verdict(RIGHT) if case.raises is None else Verdict(WRONG, "no error")


def is_right(found: Any, right: Any, case: Case) -> bool:
    try:
        assert_right(found, right, case)
    except AssertionError:
        return False
    return True


def our_answers(case: Case) -> Any:
    """Triples of an answer, the right one, and how it is shown."""
    if case.second is not None:
        for mode in SECOND_ORDER:
            found, right = second(case, mode)
            yield found, right, text_of(found)
        return
    bars = reverse(case)[1]
    if case.raises is not None:
        return
    for x, bar, right in zip(case.args, bars, case.gradients(), strict=True):
        for one, other in zip(leaves_as_in(x, bar), leaves_as_in(x, right), strict=True):
            yield one, other, text_of(bar)
    if case.with_grad:
        return
    for dy, right in zip(forward(case)[1], case.tangents(), strict=True):
        number = 0.0 if isinstance(dy, AbstractZero) else dy
        yield number, right, f"{text_of(number)} in forward mode"


# ---------------------------------------------------------------- how answers are shown


def right_text(case: Case) -> str:
    """The right answer, and why."""
    if case.raises is not None:
        answer = "an error"
    elif case.dtype:
        answer = f"`{case.dtype}`"
    else:
        answer = f"`{shortened(text_of(case.second if case.gradient is None else case.gradient))}`"
    return f"{answer}; {case.why}" if case.why else answer


def text_of(x: Any) -> str:
    if isinstance(x, tuple):
        return f"({', '.join(map(text_of, x))})"
    if isinstance(x, dict):
        return "{" + ", ".join(f"{key}: {text_of(value)}" for key, value in x.items()) + "}"
    x = np.asarray(x)
    if x.ndim:
        if x.size > 9 and np.all(x == x.flat[0]):
            return f"{text_of(x.flat[0])} everywhere"
        return f"[{','.join(map(text_of, x))}]"
    if np.iscomplexobj(x):
        return text_of(x.real) if x.imag == 0 else f"{x.real + 0:.5g}{x.imag + 0:+.5g}j"
    return f"{x + 0:.5g}"  # no -0


def shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
