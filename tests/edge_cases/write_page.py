"""Writes docs/edge_cases.md: the table of edge cases, this project beside its peers.

``python tests/edge_cases/write_page.py``
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tables import SECTIONS, read_peers
from verdicts import ABSENT, MEANINGS, OTHER, RAISES, RIGHT, WRONG, Verdict, right_text, verdict_on_peer, verdict_on_us

PAGE = Path(__file__).parents[2] / "docs" / "edge_cases.md"
MARKS = (RIGHT, OTHER, WRONG, RAISES, ABSENT)

Row = tuple[str, str, list[Verdict]]


def page() -> str:
    """The whole page."""
    peers, _ = read_peers()
    sections = {number: list(rows_of(number)) for number in SECTIONS}
    systems = ["rulescore", *peers]
    text = [INTRODUCTION.format(count=sum(map(len, sections.values()))), table(["", *MARKS], counts(sections, systems))]
    for number, module in SECTIONS.items():
        rows = [
            [f"`{name}`", right, *(marked(verdict) for verdict in verdicts)]
            for name, right, verdicts in sections[number]
        ]
        text += [f"## {module.TITLE}", table(["case", "right answer", *systems], rows)]
    return "\n\n".join(text) + "\n"


INTRODUCTION = """\
# Edge cases

What a derivative is at ties, kinks, zeros, infinities, degenerate matrices, empty arrays; through views and in-place
updates; for every type of number. {count} cases, in this project and in four others, each in reverse and in forward
mode. What the others answer was measured in the versions that the tables name; `tests/edge_cases` holds their answers,
the right ones with their sources, and the test that ours are right. `python tests/edge_cases/write_page.py` writes this
page.

The gradients are those for a cotangent of ones. Where there is a choice (a kink has many slopes, a tie has many shares)
each system may make its own, and the right answer shown is this project's. For complex numbers it is
∂/∂Re z + i ∂/∂Im z; the conjugate, which HIPS autograd and JAX have, counts as the same.

""" + "\n".join(f"- {mark} {meaning}" for mark, meaning in MEANINGS.items()).replace("- raises an", "- raises: an")


def rows_of(number: int) -> Iterator[Row]:
    peers, answers = read_peers()
    for case in SECTIONS[number].CASES:
        of_peers = [verdict_on_peer(case, peer, answers[number, case.name]) for peer in peers]
        yield case.name, right_text(case), [verdict_on_us(case), *of_peers]


def counts(sections: dict[int, list[Row]], systems: list[str]) -> list[list[str]]:
    """How often each system has each mark."""
    columns = zip(*(verdicts for rows in sections.values() for _, _, verdicts in rows), strict=True)
    return [
        [system, *(str(sum(verdict.mark == mark for verdict in column)) for mark in MARKS)]
        for system, column in zip(systems, columns, strict=True)
    ]


def marked(verdict: Verdict) -> str:
    return f"**{verdict}**" if verdict.mark == WRONG else str(verdict)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf8")
