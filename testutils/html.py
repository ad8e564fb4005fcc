"""Reports as HTML: one for a notebook, and those of a whole run as a page that needs nothing but itself.

Every text is escaped, there is no script, and light and dark pages show all colours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import rulescore
from testutils.pictures import has_matplotlib, svg_of
from testutils.report import TABLE_HEADER, CheckResult, Report, counted

if TYPE_CHECKING:
    from testutils.running import Outcome
    from testutils.sampling import Sample

VERDICTS = ("fail", "untested", "inconclusive", "pass")
"""Of functions, the worst first."""

_OPEN = 3
"""How many of a function's problems are unfolded when the page is opened."""

_STYLE = """
.rulescore { font: 14px/1.5 system-ui, sans-serif; }
.rulescore code, .rulescore pre { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 13px; }
.rulescore .verdict { display: inline-block; padding: 0 .55em; border-radius: 3px; font-weight: 600; color: #fff;
  background: #57606a; }
.rulescore .verdict.pass { background: #1a7f37; }
.rulescore .verdict.fail { background: #cf222e; }
.rulescore .verdict.inconclusive { background: #9a6700; }
.rulescore .verdict.untested { background: #8250df; }
.rulescore .result { margin: .7em 0 1.1em; padding-left: .9em; border-left: 3px solid rgba(128, 128, 128, .4); }
.rulescore .message { margin: .3em 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.rulescore .hint { margin: .3em 0; font-weight: 600; }
.rulescore .quiet { opacity: .75; }
.rulescore table { border-collapse: collapse; margin: .6em 0; font-size: inherit; }
.rulescore th, .rulescore td { padding: .15em .8em; text-align: right; font-variant-numeric: tabular-nums;
  border-bottom: 1px solid rgba(128, 128, 128, .35); }
.rulescore th.text, .rulescore td.text { text-align: left; }
.rulescore svg { display: block; max-width: 100%; height: auto; margin: .6em 0; }
"""

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


def report_to_html(report: Report) -> str:
    """A report for a notebook: verdict, call, and what was found, with pictures where there are curves and matplotlib.

    Parameters
    ----------
    report : Report

    Returns
    -------
    html : str
        A ``<div>`` with its own style.

    Examples
    --------
    >>> import numpy as np
    >>> from testutils import check_rule
    >>> "numpy.sin(float)" in report_to_html(check_rule(np.sin, 1.0))
    True
    """
    verdict, rest = report.summary.split(": ", 1)
    return (
        f'<div class="rulescore"><style>{_STYLE}</style>\n'
        f"<div>{_chip(verdict)} <code>{escape(rest)}</code></div>\n"
        f"{_results(report, _can_draw([report]))}</div>"
    )


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
    draws = _can_draw([report for outcome in outcomes for _, report in outcome.reports])
    head = (
        f'<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{_PAGE_STYLE}</style>"
    )
    body = "\n".join([*_summary(outcomes, seed, seconds, draws), *_functions(outcomes), *_sections(outcomes, draws)])
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n<main class="rulescore">\n{body}\n'
        "</main>\n</body>\n</html>\n"
    )


def _chip(verdict: str) -> str:
    return f'<span class="verdict {escape(verdict.replace(" ", "-"))}">{escape(verdict)}</span>'


def _can_draw(reports: Iterable[Report]) -> bool | None:
    """Whether there are pictures and they can be drawn; None where there are none to draw."""
    if not any(result.curves for report in reports for result in report.shown):
        return None
    return has_matplotlib()


# ---------------------------------------------------------------------- one report


def _results(report: Report, draws: bool | None) -> str:
    return "".join(_result(result, draws) for result in report.shown)


def _result(result: CheckResult, draws: bool | None) -> str:
    parts = [f"<div>{_chip(result.verdict)} <b>{escape(result.title)}</b></div>"]
    if result.message:
        parts.append(f'<div class="message">{escape(result.message)}</div>')
    parts += [f'<div class="hint">looks like {escape(hint)}</div>' for hint in result.hints]
    if result.details:
        parts.append(_table(TABLE_HEADER, (entry.cells() for entry in result.details)))
    if result.curves and draws:
        parts.append(svg_of(result))
    return '<div class="result">\n' + "\n".join(parts) + "\n</div>\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    heads = "".join(f"<th>{escape(title)}</th>" for title in header)
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


# ---------------------------------------------------------------------- a run


def _summary(outcomes: Sequence[Outcome], seed: int, seconds: float, draws: bool | None) -> Iterator[str]:
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    samples = sum(len(outcome.reports) for outcome in outcomes)
    yield "<h1>Derivative rules, checked against finite differences</h1>"
    yield (
        f'<p class="quiet">rulescore {escape(rulescore.__version__)}, seed {seed}, '
        f"{counted(len(outcomes), 'function')} with {counted(samples, 'sample input')} in {seconds:.1f} s</p>"
    )
    shown = [v for v in ("pass", "fail", "inconclusive", "untested") if v in ("pass", "fail") or verdicts[v]]
    cards = "\n".join(f'<li class="count"><b>{verdicts[v]}</b>{_chip(v)}</li>' for v in shown)
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
        f'<tr><td class="text">{_chip(outcome.verdict)}</td><td class="text">{name}</td>'
        f'<td>{samples}</td><td class="text"><code>{escape(_place(target.file))}:{target.line}</code></td></tr>'
    )


def _place(file: str) -> str:
    """A file as seen from the working folder, if it is inside."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


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
    yield f'<div class="quiet"><code>{escape(_place(target.file))}:{target.line}</code></div>'
    if outcome.verdict == "untested":
        yield _results(target.report_without_samples(), draws)
    problems = [(sample, report) for sample, report in outcome.reports if report.verdict != "pass"]
    problems.sort(key=lambda pair: VERDICTS.index(pair[1].verdict))
    for position, (sample, report) in enumerate(problems):
        yield _sample(sample, report, draws, is_open=position < _OPEN)
    for sample, report in _noted(outcome):
        yield _sample(sample, report, draws, is_open=False)
    yield "</section>"


def _sample(sample: Sample, report: Report, draws: bool | None, *, is_open: bool) -> str:
    verdict, rest = report.summary.split(": ", 1)
    return (
        f"<details{' open' if is_open else ''}><summary>{_chip(verdict)} sample <code>{escape(sample.id)}</code>, "
        f"<code>{escape(rest)}</code></summary>\n{_results(report, draws)}</details>"
    )
