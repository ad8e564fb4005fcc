"""What was found about one call as HTML, for a notebook and for the page of a whole run.

Every text is escaped, there is no script, and light and dark pages show all colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .pictures import has_matplotlib, svg_of
from .places import RulePlace, places_as_lines
from .results import TABLE_HEADER, CheckResult

STYLE = """
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


def html_of(
    summary: str, results: Sequence[CheckResult], told: Sequence[RulePlace] = (), advice: Sequence[str] = ()
) -> str:
    """What was found for a notebook: verdict, call and results, with pictures where there are curves and matplotlib.

    Parameters
    ----------
    summary : str
        The line that begins with the verdict.
    results : sequence of CheckResult
        Those that a reader wants to see.
    told : sequence of RulePlace
        Where the rules are defined, which is told first.
    advice : sequence of str
        Lines behind the results.

    Returns
    -------
    html : str
        A ``<div>`` with its own style.
    """
    verdict, rest = summary.split(": ", 1)
    return (
        f'<div class="rulescore"><style>{STYLE}</style>\n'
        f"<div>{chip(verdict)} <code>{escape(rest)}</code></div>\n"
        f"{lines_as_html(places_as_lines(told))}{results_as_html(results, can_draw(results), told)}"
        f"{lines_as_html(advice)}</div>"
    )


def lines_as_html(lines: Iterable[str]) -> str:
    """Lines about a whole report."""
    return "".join(f'<div class="quiet"><code>{escape(line)}</code></div>\n' for line in lines)


def chip(verdict: str) -> str:
    return f'<span class="verdict {escape(verdict.replace(" ", "-"))}">{escape(verdict)}</span>'


def can_draw(results: Iterable[CheckResult]) -> bool | None:
    """Whether there are pictures and they can be drawn; None where there are none to draw."""
    return has_matplotlib() if any(result.curves for result in results) else None


def results_as_html(results: Iterable[CheckResult], draws: bool | None, told: Sequence[RulePlace] = ()) -> str:
    return "".join(_result(result, draws, told) for result in results)


def _result(result: CheckResult, draws: bool | None, told: Sequence[RulePlace]) -> str:
    parts = [f"<div>{chip(result.verdict)} <b>{escape(result.title)}</b></div>"]
    parts += [lines_as_html(result.other_places(told))]
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
