"""Pictures of failures: the error of finite differences against their step beside that of the rule, and the Taylor
remainder of the rule with its order. Drawn with matplotlib, which is imported when the first picture is asked for."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from .numbers import told_apart
from .results import CheckResult, Curve

_RULE, _DIFFERENCE, _BAND = "#d55e00", "#2f86d2", "#56b4e9"
"""Orange and blues after the palette of Okabe and Ito, which colour-blind readers can tell apart; on dark pages too."""

_GUIDE = "#888888"

_ROW = 3.6, 10.0
"""Height of a row of pictures, and width of both, in inches."""

_DRAWABLE = 1e-200, 1e200
"""What is smaller or larger is not drawn: matplotlib's ticks go far beyond the limits of an axis, and overflow."""

_INK = "#010203"
"""Text and axes of pictures for pages; replaced by the text colour of the page, be that light or dark."""


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    try:
        import_module("matplotlib.figure")
    except ImportError:
        return False
    return True


def plot_results(call: str, pictured: Sequence[CheckResult], axes: Any = None) -> Any:
    """Draw the results about a call that have curves; see `Report.plot`."""
    rows = len(pictured)
    if axes is None:
        figure, axes = _figure(rows)
        figure.suptitle(call, fontsize="medium")
    axes = np.asarray(axes, dtype=object)
    if axes.size != 2 * rows:
        raise ValueError(
            f"plot of {call}: axes= holds {axes.size} axes, and there are {rows} results with two pictures "
            f"each; give {2 * rows}, as plt.subplots({rows}, 2) makes them"
        )
    for result, pair in zip(pictured, axes.reshape(rows, 2), strict=True):
        _draw_result(result, pair)
        pair[0].set_title(f"{result.title}\n{pair[0].get_title(loc='left')}", fontsize="medium", loc="left")
    return axes.flat[0].figure


def svg_of(result: CheckResult) -> str:
    """The curves of one result as an ``<svg>`` element for an HTML page, in the page's own text colour."""
    matplotlib = _matplotlib("matplotlib")
    # Text stays text: the page's fonts draw it, and a picture takes a tenth of the space.
    settings = {"svg.fonttype": "none", "svg.hashsalt": "rulescore", "font.family": "sans-serif"}
    settings |= dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), _INK)
    with matplotlib.rc_context(settings):
        figure, axes = _figure(1)
        _draw_result(result, axes[0])
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    # Several pictures on one page must not share names, nor give the page their style.
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", file.getvalue(), flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text[text.index("<svg") :])
    label = html.escape(f"{result.title}: error of finite differences, and Taylor remainder", quote=True)
    text = text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    return re.sub(r"\s*\n\s*", "\n", text).replace(_INK, "currentColor").strip()


def _matplotlib(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"pictures need {name}, which cannot be imported ({error}): pip install 'rulescore[plot]'"
        ) from error


def _figure(rows: int) -> tuple[Any, Any]:
    # Not pyplot: it keeps every figure, and may open a window.
    figure = _matplotlib("matplotlib.figure").Figure(figsize=(_ROW[1], rows * _ROW[0]), layout="constrained")
    _matplotlib("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, 2, squeeze=False)


def _draw_result(result: CheckResult, pair: Sequence[Any]) -> None:
    by_kind = {curve.kind: curve for curve in result.curves}
    for kind, draw, axes in (("finite difference", _draw_differences, pair[0]), ("taylor", _draw_taylor, pair[1])):
        if kind in by_kind:
            draw(axes, by_kind[kind])
        else:
            axes.set_axis_off()


def _draw_differences(axes: Any, curve: Curve) -> None:
    """|finite difference - reference| against the step, and |rule - reference| across it."""
    steps = np.array(curve.steps)
    errors = _drawable(np.abs(np.array(curve.values) - curve.reference))
    floor = abs(curve.rule - curve.reference)
    rule, reference = told_apart(curve.rule, curve.reference, digits=5)
    title = f"Finite differences\nthe rule gives {rule}, the best of them {reference}"
    axes.set_title(title, fontsize="medium", loc="left")
    axes.set_ylabel("distance from the best finite difference")
    if not _prepare(axes, steps, [errors, _drawable(np.array([floor, curve.error]))]):
        return
    if _is_drawable(floor):
        axes.axhline(floor, color=_RULE, linewidth=2, label=f"rule: off by {floor:.2g}{_share(floor, curve.reference)}")
    axes.plot(steps, errors, "o-", color=_DIFFERENCE, markersize=3.5, linewidth=1, label="fourth-order differences")
    if _is_drawable(curve.error):
        label = f"error estimate of the best: {curve.error:.1g}"
        axes.axhspan(axes.get_ylim()[0], curve.error, color=_BAND, alpha=0.25, linewidth=0, label=label)
    _legend(axes)


def _draw_taylor(axes: Any, curve: Curve) -> None:
    """The remainder against the step, between lines of slope 1 and 2."""
    steps, values = np.array(curve.steps), _drawable(np.array(curve.values))
    axes.set_title(f"Taylor remainder\n{_order(curve.reference)}", fontsize="medium", loc="left")
    axes.set_ylabel("|φ(h) - φ(0) - h · rule|")
    if not _prepare(axes, steps, [values]):
        return
    axes.plot(steps, values, "o-", color=_RULE, markersize=3.5, linewidth=1, label="remainder of the rule")
    anchor = _anchor(steps, values, curve.reference)
    if anchor is not None:
        limits = axes.get_ylim()
        for slope, style, label in ((1, "--", "slope 1: a wrong rule"), (2, ":", "slope 2: a right rule")):
            line = values[anchor] * (steps / steps[anchor]) ** slope
            axes.plot(steps, line, style, color=_GUIDE, linewidth=1.2, label=label, zorder=1)
        axes.set_ylim(limits)
    _legend(axes)


def _order(order: float) -> str:
    if math.isnan(order):
        return "its order cannot be told"
    return "nothing but round-off" if math.isinf(order) else f"of order {order:.2f}, 2 with a right rule"


def _anchor(steps: Any, values: Any, order: float) -> int | None:
    """Where the guiding lines meet: at the longest step at which the remainder has its order."""
    present = np.flatnonzero(np.isfinite(values))
    for low, high in zip(present[-2::-1], present[:0:-1], strict=True):
        if abs(math.log(values[high] / values[low]) / math.log(steps[high] / steps[low]) - order) < 0.1:
            return int(high)
    return int(present[-1]) if present.size else None


def _prepare(axes: Any, steps: Any, rows: list[Any]) -> bool:
    """Logarithmic axes around what will be drawn; False where that is nothing."""
    axes.set(xscale="log", yscale="log", xlabel="step h", xlim=(steps[0] / 2, steps[-1] * 2))
    ticker = _matplotlib("matplotlib.ticker")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(ticker.LogLocator(numticks=8))
        # Superscripts are typeset as mathematics, which takes longer than all the rest.
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, position: f"{value:.0e}"))
        axis.set_minor_locator(ticker.NullLocator())
    shown = np.concatenate(rows)
    shown = shown[np.isfinite(shown)]
    if shown.size:
        lowest, highest = np.log10(shown.min()), np.log10(shown.max())
        room = 1.0 + 0.3 * (highest - lowest)  # above, for the legend
        axes.set_ylim(10.0 ** (lowest - 1.0), 10.0 ** min(highest + room, 250.0))
    else:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "nothing to draw: outside of the domain, or exact", ha="center", transform=axes.transAxes)
    axes.grid(color=_GUIDE, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return bool(shown.size)


def _legend(axes: Any) -> None:
    axes.legend(fontsize="small", framealpha=0.0, loc="best")


def _drawable(values: Any) -> Any:
    """The values that a logarithmic axis has a place for; NaN for the others."""
    low, high = _DRAWABLE
    return np.where((values > low) & (values < high), values, np.nan)


def _is_drawable(value: float) -> bool:
    low, high = _DRAWABLE
    return low < value < high


def _share(floor: float, reference: float) -> str:
    return f" (relative {floor / abs(reference):.2g})" if reference else ""
