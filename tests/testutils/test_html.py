"""Reports as HTML: everything is there, escaped, and nothing comes from elsewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rulescore import RuleRecord, rrule
from testutils.reports.report import Report
from testutils.reports.results import CheckResult, Curve, EntryComparison
from testutils.runs.page import page_of
from testutils.runs.running import Outcome, Target
from testutils.samples.sampling import sample

VOID = {"meta", "br", "img", "hr", "link", "input"}


class Document(HTMLParser):
    """What is in a piece of HTML; complains about tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)

    def attributes(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags for key, value in attributes.items() if key == name and value]


CURVES = (
    Curve("finite difference", (1e-3, 1e-2, 1e-1), (1.0, 1.1, 1.3), 1.0, 1e-9, 2.0),
    Curve("taylor", (1e-3, 1e-2, 1e-1), (1e-3, 1e-2, 1e-1), 1.0, 0.0, 2.0),
)
PASSED = CheckResult("rule exists", "pass", mode="rrule")
NOTED = CheckResult("derivative", "pass", "the point is a <kink>", "rrule", "argument 0 (x)")
UNDECIDED = CheckResult("derivative", "inconclusive", "noise & more noise", "frule", "argument 0 (x)")
MISSING = CheckResult("declared as not implemented", "not implemented", "the order", "rrule", "argument 1 (n)")
FAILED = CheckResult(
    "derivative",
    "fail",
    "the cotangent is wrong <script>alert(1)</script>\n  second line",
    "rrule",
    "argument 0 ('<x>')",
    (EntryComparison("['<key>'][3]", -1.5, 1.5, 1e-12),),
    ("a sign & a <factor>",),
    CURVES,
)


def report(*results: CheckResult, call: str = "pkg.f(float64[3], mode='<b>')") -> Report:
    return Report("pkg.f", call, results)


def outcome(name: str, *reports: Report, samples: int | None = None, file: str = "/some/where/rules.py") -> Outcome:
    (record, *_) = rrule.records(np.sin)
    drawn = [sample(float(k), name="<odd> one") for k in range(len(reports) if samples is None else samples)]
    target = Target(np.sin, name, "pkg", drawn, Record(record, file, 17))
    return Outcome(target, list(zip(drawn, reports, strict=False)))


class Record:
    """A record of a rule defined elsewhere."""

    def __init__(self, record: RuleRecord, file: str, line: int) -> None:
        self._record, self.file, self.line = record, file, line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._record, name)


def page(outcomes: Iterable[Outcome]) -> str:
    return page_of(list(outcomes), seed=7, seconds=1.25)


# One report, as in a notebook.


def test_a_notebook_shows_verdict_call_message_hints_entries_and_pictures() -> None:
    shown = report(PASSED, FAILED)
    document = Document(shown._repr_html_())
    for part in (
        "fail",
        "pkg.f(float64[3], mode='<b>')",
        "rrule, derivative, argument 0 ('<x>')",
        "the cotangent is wrong <script>alert(1)</script>\n  second line",
        "looks like a sign & a <factor>",
        "['<key>'][3]",
        "1.5 ± 1e-12",
        "finite difference",
    ):
        assert part in document.text
    assert document.count("svg") == 1
    assert document.count("script") == document.count("b>") == document.count("x") == 0
    assert "rule exists" not in document.text


def test_verdicts_have_their_colour() -> None:
    for result, verdict in ((PASSED, "pass"), (UNDECIDED, "inconclusive"), (FAILED, "fail")):
        document = Document(report(result)._repr_html_())
        assert f"verdict {verdict}" in document.attributes("class")
        assert f".verdict.{verdict} {{" in report(result)._repr_html_()


def test_what_is_undecided_missing_or_noted_is_shown_too() -> None:
    text = Document(report(UNDECIDED, MISSING, NOTED)._repr_html_()).text
    assert "noise & more noise" in text
    assert "the order" in text
    assert "the point is a <kink>" in text


def test_without_matplotlib_a_notebook_shows_all_but_the_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    document = Document(report(FAILED)._repr_html_())
    assert document.count("svg") == 0
    assert "looks like a sign" in document.text


# A whole run.

RUN = [
    outcome("pkg.right", report(PASSED), report(PASSED)),
    outcome("pkg.noted", report(PASSED), report(PASSED, NOTED)),
    outcome("pkg.undecided", report(UNDECIDED), report(PASSED)),
    outcome("pkg.<wrong>", report(PASSED), report(FAILED), report(UNDECIDED)),
    outcome("pkg.untested", samples=0),
]


def test_a_page_counts_functions_by_verdict() -> None:
    text = re.sub(r"\s+", " ", Document(page(RUN)).text)
    assert "5 functions with 9 sample inputs" in text
    assert "seed 7" in text
    assert "1.2 s" in text
    assert "2pass 1fail 1inconclusive 1untested" in text


def test_a_page_lists_every_function_with_verdict_samples_and_place_the_worst_first() -> None:
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr>.*?</tr>", page(RUN)) if "17" in row]
    assert rows == [
        ["fail", "pkg.&lt;wrong&gt;", "1", "of", "3", "/some/where/rules.py:17"],
        ["untested", "pkg.untested", "0", "of", "0", "/some/where/rules.py:17"],
        ["inconclusive", "pkg.undecided", "1", "of", "2", "/some/where/rules.py:17"],
        ["pass", "pkg.right", "2", "/some/where/rules.py:17"],
        ["pass", "pkg.noted", "2", "/some/where/rules.py:17"],
    ]


def test_files_in_the_working_folder_are_named_from_there() -> None:
    text = Document(page([outcome("pkg.f", report(PASSED), file=str(Path.cwd() / "pkg" / "rules.py"))])).text
    assert "pkg/rules.py:17" in text
    assert str(Path.cwd()) not in text


def test_a_page_has_a_section_for_all_that_is_not_plainly_right() -> None:
    text = page(RUN)
    document = Document(text)
    assert document.count("section") == 4
    headings = re.findall(r"<h[23]>(.*?)</h[23]>", text)
    assert headings == [
        "Functions",
        "Wrong",
        "<code>pkg.&lt;wrong&gt;</code>",
        "Untested",
        "<code>pkg.untested</code>",
        "Undecided",
        "<code>pkg.undecided</code>",
        "Right, with a note",
        "<code>pkg.noted</code>",
    ]
    for part in ("looks like a sign & a <factor>", "['<key>'][3]", "odd", "noise & more noise", "<kink>"):
        assert part in document.text
    assert "pkg.untested has a rule and no sample inputs" in document.text
    assert document.count("svg") == 1


def test_links_lead_to_sections_and_nothing_comes_from_elsewhere() -> None:
    text = page(RUN)
    document = Document(text)
    names = document.attributes("id")
    links = [link for link in document.attributes("href") if link.startswith("#function")]
    assert len(links) == 4
    assert all(link[1:] in names for link in links)
    assert len(names) == len(set(names))
    every = document.attributes("href") + document.attributes("src") + document.attributes("xlink:href")
    assert all(target.startswith("#") for target in every)
    assert document.count("script") == document.count("link") == document.count("img") == 0
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_a_run_without_problems_has_no_sections_and_its_table_unfolded() -> None:
    text = page(RUN[:1])
    document = Document(text)
    assert document.count("section") == 0
    assert "1 function with 2 sample inputs" in document.text
    assert "<details open><summary>1 of 1 pass" in text
    assert "rulescore check: pass" in document.text


def test_without_matplotlib_a_page_says_that_pictures_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "matplotlib" not in Document(page(RUN)).text
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    document = Document(page(RUN))
    assert document.count("svg") == 0
    assert "There are no pictures, because matplotlib is not installed: pip install 'rulescore[plot]'" in document.text
    assert "looks like a sign" in document.text
    assert "matplotlib" not in Document(page(RUN[:3])).text  # there was nothing to draw
