"""The tables of cases by section, and what the peers answer to them."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import cases_complex
import cases_kinks_and_steps
import cases_linalg
import cases_nan_and_where
import cases_power
import cases_products_and_scans
import cases_robustness
import cases_shapes
import cases_singular_points
import cases_ties
import cases_tracing
import cases_types
from edge_case import Case

SECTIONS = {
    1: cases_ties,
    2: cases_kinks_and_steps,
    3: cases_singular_points,
    4: cases_power,
    5: cases_products_and_scans,
    6: cases_nan_and_where,
    7: cases_linalg,
    8: cases_complex,
    9: cases_shapes,
    10: cases_tracing,
    11: cases_types,
    12: cases_robustness,
}
CASES: list[tuple[int, Case]] = [(number, case) for number, module in SECTIONS.items() for case in module.CASES]

PEERS_FILE = Path(__file__).parent / "peers.csv"


@dataclasses.dataclass(frozen=True)
class PeerAnswers:
    """What each peer printed for a row, as it was measured.

    Attributes
    ----------
    reverse : dict
        By the peer's name: ``value → gradient``, or an error.
    forward : list
        The tangents in HIPS autograd, JAX and PyTorch; empty where nobody looked.
    """

    reverse: dict[str, str]
    forward: list[str]


def read_peers() -> tuple[list[str], dict[tuple[int, str], PeerAnswers]]:
    """The peers with their versions, and their answers by section and name of the row."""
    with PEERS_FILE.open(encoding="utf8", newline="") as file:
        _, _, *columns = next(lines := csv.reader(file))
        peers = columns[:-1]
        answers = {
            (int(section), name): PeerAnswers(
                dict(zip(peers, cells, strict=False)), cells[-1].split(" / ") if cells[-1] else []
            )
            for section, name, *cells in lines
        }
    return peers, answers
