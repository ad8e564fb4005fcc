"""Pictures of failures: what they show, and that they leave no trace."""

from __future__ import annotations

import io
import math
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import testutils
from testutils.reports.pictures import svg_of
from testutils.reports.report import Report
from testutils.reports.results import CheckResult, Curve

STEPS = tuple(float(h) for h in np.logspace(-13, -1, 25))
DIFFERENCE = Curve("finite difference", STEPS, tuple(2.0 + h**4 + 1e-16 / h for h in STEPS), 2.0, 1e-12, -2.0)
REMAINDER = Curve("taylor", STEPS, tuple(4.0 * h + h * h for h in STEPS), 1.0, 0.01, -2.0)
NOTHING = (math.nan,) * 25

FAILED = CheckResult(
    "derivative", "fail", "wrong", "rrule", "argument 0 (<x>)", hints=("a sign",), curves=(DIFFERENCE, REMAINDER)
)
FAILED_TOO = CheckResult("derivative", "fail", "wrong", "frule", "argument 1 (y)", curves=(DIFFERENCE, REMAINDER))
WITHOUT_CURVES = CheckResult("cotangent type", "fail", "another shape", "rrule", "argument 0 (x)")


def report(*results: CheckResult) -> Report:
    return Report("numpy.sin", "numpy.sin(float64[3])", results)


def horizontal_lines(axes: Any) -> list[float]:
    return [float(y[0]) for y in (line.get_ydata() for line in axes.lines) if len(y) == 2 and y[0] == y[1]]


def test_every_failure_with_curves_has_two_pictures() -> None:
    figure = report(FAILED, WITHOUT_CURVES, FAILED_TOO).plot()
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 4
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert FAILED.title in titles[0]
    assert FAILED_TOO.title in titles[2]
    assert figure.get_suptitle() == "numpy.sin(float64[3])"


def test_to_the_left_are_the_errors_of_the_differences_above_their_estimate_and_the_rule_across() -> None:
    left, _ = report(FAILED).plot().axes
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")
    assert horizontal_lines(left) == [4.0]
    (errors,) = (line for line in left.lines if len(line.get_ydata()) == 25)
    np.testing.assert_allclose(errors.get_xdata(), STEPS)
    np.testing.assert_allclose(errors.get_ydata(), np.abs(np.array(DIFFERENCE.values) - 2.0))
    (band,) = left.patches
    assert band.get_extents().transformed(left.transData.inverted()).y1 == pytest.approx(1e-12)
    legend = " ".join(text.get_text() for text in left.get_legend().get_texts())
    assert "off by 4" in legend
    assert "1e-12" in legend
    assert left.get_xlabel()
    assert left.get_ylabel()


def test_to_the_right_is_the_remainder_between_slopes_1_and_2_with_its_order() -> None:
    _, right = report(FAILED).plot().axes
    assert "order 1.00" in right.get_title(loc="left")
    remainder, one, two = (np.asarray(line.get_ydata(), float) for line in right.lines)
    np.testing.assert_allclose(remainder, REMAINDER.values)
    for line, slope in ((one, 1.0), (two, 2.0)):
        np.testing.assert_allclose(np.diff(np.log(line)) / np.diff(np.log(STEPS)), slope)
        assert np.min(np.abs(line / remainder - 1)) < 1e-12  # it touches the remainder
    low, high = right.get_ylim()
    assert low < min(REMAINDER.values) < max(REMAINDER.values) < high


@pytest.mark.parametrize(
    ("order", "words"), [(math.inf, "nothing but round-off"), (math.nan, "cannot be told"), (2.02, "order 2.02")]
)
def test_the_title_says_what_the_order_is(order: float, words: str) -> None:
    curve = Curve("taylor", STEPS, REMAINDER.values, order, math.nan, 1.0)
    _, right = report(CheckResult("derivative", "fail", curves=(DIFFERENCE, curve))).plot().axes
    assert words in right.get_title(loc="left")


def test_it_is_drawn_without_a_display() -> None:
    file = io.BytesIO()
    report(FAILED).plot().savefig(file, format="png", dpi=50)
    file.seek(0)
    pixels = matplotlib.image.imread(file)
    # The colours of the rule and of the differences are there.
    for colour in (matplotlib.colors.to_rgb("#d55e00"), matplotlib.colors.to_rgb("#2f86d2")):
        assert np.any(np.all(np.abs(pixels[..., :3] - np.array(colour)) < 0.1, axis=-1))


def test_it_draws_into_given_axes_and_returns_their_figure() -> None:
    figure = Figure()
    axes = figure.subplots(2, 2)
    assert report(FAILED, FAILED_TOO).plot(axes) is figure
    assert all(a.lines for a in axes.flat)
    assert report(FAILED).plot(axes[1]) is figure
    with pytest.raises(ValueError, match=r"axes= holds 4 axes.* 1 results.*give 2"):
        report(FAILED).plot(axes)


@pytest.mark.parametrize("results", [(), (CheckResult("rule exists", "pass"),), (WITHOUT_CURVES,)])
def test_a_report_without_curves_cannot_be_drawn_and_says_why(results: Any) -> None:
    with pytest.raises(ValueError, match=r"numpy.sin\(float64\[3\]\).*only failures of derivatives have them"):
        report(*results).plot()


@pytest.mark.parametrize(
    "curves",
    [
        (Curve("finite difference", STEPS, NOTHING, math.nan, math.inf, 1.0), REMAINDER),
        (Curve("finite difference", STEPS, (2.0,) * 25, 2.0, 0.0, 2.0), REMAINDER),
        (Curve("finite difference", STEPS, NOTHING, math.nan, math.inf, math.nan), REMAINDER),
        (Curve("finite difference", STEPS, (1e300, -1e300) * 12 + (0.0,), 1e-300, 1e300, math.inf), REMAINDER),
        (DIFFERENCE, Curve("taylor", STEPS, NOTHING, math.nan, math.nan, 1.0)),
        (DIFFERENCE, Curve("taylor", STEPS, (0.0,) * 25, math.inf, math.nan, 1.0)),
        (DIFFERENCE, Curve("taylor", STEPS, (*NOTHING[:-1], 1e-3), math.nan, math.nan, 1.0)),
        (DIFFERENCE, Curve("taylor", tuple(1e-200 * h for h in STEPS), (1e-250,) * 25, 2.0, 0.1, 1.0)),
        (DIFFERENCE, Curve("taylor", tuple(1e200 * h for h in STEPS), (1e199,) * 25, 2.0, 0.1, 1.0)),
        (DIFFERENCE,),
        (REMAINDER,),
    ],
)
def test_curves_with_little_to_draw_are_drawn_all_the_same(curves: Any) -> None:
    result = CheckResult("derivative", "fail", curves=curves)
    report(result).plot().savefig(io.BytesIO(), format="png", dpi=20)
    ElementTree.fromstring(svg_of(result))


# For pages.


def test_an_svg_takes_the_text_colour_of_its_page_and_gives_it_neither_style_nor_names() -> None:
    before = dict(matplotlib.rcParams)
    text = svg_of(FAILED)
    assert dict(matplotlib.rcParams) == before
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert "argument 0 (<x>)" in root.get("aria-label", "")
    assert "currentColor" in text
    assert "#010203" not in text
    assert not [element for element in root.iter() if element.tag.endswith(("style", "metadata"))]
    named = [element for element in root.iter() if element.get("id")]
    assert all(element.tag.endswith(("path", "clipPath")) for element in named)
    words = " ".join(element.text or "" for element in root.iter() if element.tag.endswith("text"))
    assert "step h" in words


def test_the_same_curves_give_the_same_svg() -> None:
    assert svg_of(FAILED) == svg_of(FAILED)


def run_python(code: str) -> None:
    root = Path(testutils.__file__).parent.parent
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


def test_neither_the_testers_nor_the_command_import_matplotlib_and_pictures_not_pyplot() -> None:
    run_python(
        "import sys, testutils.testers, testutils.runs.command_line, testutils.runs.page\n"
        "assert 'matplotlib' not in sys.modules"
    )
    run_python(
        "import sys\n"
        "from testutils.reports.report import Report\nfrom testutils.reports.results import CheckResult, Curve\n"
        "curve = Curve('taylor', (0.1, 1.0), (0.01, 1.0), 2.0, 0.1, 1.0)\n"
        "report = Report('f', 'f(float)', (CheckResult('derivative', 'fail', curves=(curve,)),))\n"
        "report.plot(), report._repr_html_()\n"
        "assert 'matplotlib.figure' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )


def test_without_matplotlib_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'rulescore\[plot\]'"):
        report(FAILED).plot()
