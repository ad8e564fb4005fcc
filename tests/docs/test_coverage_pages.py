"""The pages of coverage say what the tables of rules say."""

from __future__ import annotations

import pytest
from write_coverage import PAGES, PEERS, VERSIONS, pages, read_peers


def test_pages_agree_with_the_rules_and_the_data() -> None:
    if VERSIONS not in (PAGES / "index.md").read_text("utf8"):
        pytest.skip(f"the pages were written with other versions than {VERSIONS}")
    written = {page.name: page.read_text("utf8") for page in PAGES.glob("*.md")}
    assert written == pages(), "`python tests/docs/write_coverage.py` writes them anew"


def test_data_know_every_peer() -> None:
    assert {len(of_peers) for of_peers in read_peers().values()} == {len(PEERS)}
    assert {mark for of_peers in read_peers().values() for mark in of_peers} <= {"✓", "reverse", "forward", "—"}
