"""The page about a whole run, which needs nothing but itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape

import rulescore

from ..reports.html import STYLE, can_draw, chip, lines_as_html, results_as_html
from ..reports.names import counted
from ..reports.places import places_as_lines, shown_place
from ..reports.report import Report
from ..samples.sampling import Sample
from .running import Outcome

VERDICTS = ("fail", "untested", "inconclusive", "pass")
"""Of functions, the worst first."""

_OPEN = 3
"""How many of a function's problems are unfolded when the page is opened."""

_PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; }
main.rulescore { max-width: 62rem; margin: 0 auto; padding: 1.5rem; }
.rulescore h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
.rulescore h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }
.rulescore h3 { margin: 1.8rem 0 .2rem; }
.rulescore h3 code { font-size: 1.05rem; }
.rulescore .counts { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; padding: 0; }
.rulescore .count { list-style: none; min-width: 6.5rem; padding: .5rem .9rem; border-radius: 6px;
  border: 1px solid rgba(128, 128, 128, .4); }
.rulescore .count b { display: block; font-size: 1.5rem; line-height: 1.3; }
.rulescore summary { cursor: pointer; margin: .5em 0; }
.rulescore .wide { overflow-x: auto; }
"""


def page_of(outcomes: Sequence[Outcome], *, seed: int, seconds: float) -> str:
    """A page about a whole run.

    Parameters
    ----------
    outcomes : sequence of Outcome
        What `run_targets` returned.
    seed : int
        That of the sample inputs.
    seconds : float
        How long the run took.

    Returns
    -------
    html : str
        A whole document, which loads nothing from anywhere and contains no script.
    """
    verdict = next((v for v in VERDICTS if any(o.verdict == v for o in outcomes)), "pass")
    title = f"rulescore check: {verdict}"
    draws = can_draw(result for outcome in outcomes for _, report in outcome.reports for result in report.shown)
    head = (
        f'<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{_PAGE_STYLE}</style>"
    )
    body = "\n".join([*_summary(outcomes, seed, seconds, draws), *_functions(outcomes), *_sections(outcomes, draws)])
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n<main class="rulescore">\n{body}\n'
        "</main>\n</body>\n</html>\n"
    )


def _summary(outcomes: Sequence[Outcome], seed: int, seconds: float, draws: bool | None) -> Iterator[str]:
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    samples = sum(len(outcome.reports) for outcome in outcomes)
    yield "<h1>Derivative rules, checked against finite differences</h1>"
    yield (
        f'<p class="quiet">rulescore {escape(rulescore.__version__)}, seed {seed}, '
        f"{counted(len(outcomes), 'function')} with {counted(samples, 'sample input')} in {seconds:.1f} s</p>"
    )
    shown = [v for v in ("pass", "fail", "inconclusive", "untested") if v in ("pass", "fail") or verdicts[v]]
    cards = "\n".join(f'<li class="count"><b>{verdicts[v]}</b>{chip(v)}</li>' for v in shown)
    yield f'<ul class="counts">\n{cards}\n</ul>'
    if draws is False:
        install = "<code>pip install 'rulescore[plot]'</code>"
        yield f"<p>There are no pictures, because matplotlib is not installed: {install}</p>"


def _functions(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The table of all functions; those that pass are folded away where others do not."""
    worst_first = sorted(enumerate(outcomes), key=lambda pair: VERDICTS.index(pair[1].verdict))
    concerned = [pair for pair in worst_first if pair[1].verdict != "pass"]
    passing = worst_first[len(concerned) :]
    yield "<h2>Functions</h2>"
    if concerned:
        yield _function_table(concerned)
    if passing:
        fold = "" if concerned else " open"
        yield f"<details{fold}><summary>{len(passing)} of {len(outcomes)} pass</summary>"
        yield _function_table(passing)
        yield "</details>"


def _function_table(numbered: Iterable[tuple[int, Outcome]]) -> str:
    rows = "\n".join(_function_row(number, outcome) for number, outcome in numbered)
    return (
        '<div class="wide"><table>\n<thead><tr><th class="text">verdict</th><th class="text">function</th>'
        '<th>samples</th><th class="text">defined at</th></tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _function_row(number: int, outcome: Outcome) -> str:
    target = outcome.target
    bad = sum(report.verdict == outcome.verdict for _, report in outcome.reports)
    samples = str(len(outcome.reports)) if outcome.verdict == "pass" else f"{bad} of {len(outcome.reports)}"
    name = f"<code>{escape(target.name)}</code>"
    if outcome.verdict != "pass" or _noted(outcome):
        name = f'<a href="#function-{number}">{name}</a>'
    return (
        f'<tr><td class="text">{chip(outcome.verdict)}</td><td class="text">{name}</td>'
        f'<td>{samples}</td><td class="text"><code>{escape(shown_place(target.file, target.line))}</code></td></tr>'
    )


def _noted(outcome: Outcome) -> list[tuple[Sample, Report]]:
    return [(sample, report) for sample, report in outcome.reports if report.verdict == "pass" and report.shown]


def _sections(outcomes: Sequence[Outcome], draws: bool | None) -> Iterator[str]:
    numbered = list(enumerate(outcomes))
    for verdict, title in (("fail", "Wrong"), ("untested", "Untested"), ("inconclusive", "Undecided")):
        of_verdict = [(number, outcome) for number, outcome in numbered if outcome.verdict == verdict]
        if of_verdict:
            yield f"<h2>{title}</h2>"
            for number, outcome in of_verdict:
                yield from _section(number, outcome, draws)
    noted = [(number, outcome) for number, outcome in numbered if outcome.verdict == "pass" and _noted(outcome)]
    if noted:
        yield "<h2>Right, with a note</h2>"
        for number, outcome in noted:
            yield from _section(number, outcome, draws)


def _section(number: int, outcome: Outcome, draws: bool | None) -> Iterator[str]:
    target = outcome.target
    yield f'<section id="function-{number}">'
    yield f"<h3><code>{escape(target.name)}</code></h3>"
    yield f'<div class="quiet"><code>{escape(shown_place(target.file, target.line))}</code></div>'
    if outcome.verdict == "untested":
        yield results_as_html(target.report_without_samples().shown, draws)
    problems = [(sample, report) for sample, report in outcome.reports if report.verdict != "pass"]
    problems.sort(key=lambda pair: VERDICTS.index(pair[1].verdict))
    for position, (sample, report) in enumerate(problems):
        yield _sample(sample, report, draws, is_open=position < _OPEN)
    for sample, report in _noted(outcome):
        yield _sample(sample, report, draws, is_open=False)
    yield "</section>"


def _sample(sample: Sample, report: Report, draws: bool | None, *, is_open: bool) -> str:
    verdict, rest = report.summary.split(": ", 1)
    results = results_as_html(report.shown, draws, report.places)
    return (
        f"<details{' open' if is_open else ''}><summary>{chip(verdict)} sample <code>{escape(sample.id)}</code>, "
        f"<code>{escape(rest)}</code></summary>\n{lines_as_html(places_as_lines(report.places))}{results}"
        f"{lines_as_html(report.advice)}</details>"
    )
