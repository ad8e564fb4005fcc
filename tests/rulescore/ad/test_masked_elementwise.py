"""A mask leaves out an entry of elementwise functions whatever its slope is there, NaN too, as of missing data.

Of an infinite slope marks tell that nothing arrives; of NaN they cannot, so elementwise rules take masked cotangents.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, signal, special, stats

from rules.scipy.interpolate.evaluation import evaluated
from rulescore.ad import grad, jvp, primitives
from testutils import jvp_fd

sp, si, ss, sg = map(primitives, (special, interpolate, stats, signal))

KNOTS = np.linspace(0.0, 1.0, 8)
VALUES = np.sin(3 * KNOTS)
IS_KEPT = np.array([True, False, True])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "airy": lambda x: sp.airy(x)[0],
    "airye": lambda x: sp.airye(x)[2],
    "angle": lambda x: np.angle(x + 1j * x * x),
    "beta": lambda x: sp.betaln(x, 2.0),
    "boxcox": lambda x: ss.boxcox(x, 0.5),
    "boxcox of both": lambda x: sp.boxcox(x, x),
    "chirp": lambda x: sg.chirp(x, 1.0, 1.0, 2.0),
    "comb": lambda x: sp.comb(x, 2.0),
    "comb of both": lambda x: sp.comb(x + 2, x),
    "ellipj": lambda x: sp.ellipj(1.0, x)[0],
    "gamma": sp.gamma,
    "fresnel": lambda x: sp.fresnel(x)[0],
    "exprel": sp.exprel,
    "freqs": lambda x: np.abs(sg.freqs(np.array([1.0, 2.0]), np.array([1.0, 0.5, 0.2]), x)[1]),
    "gausspulse": lambda x: sg.gausspulse(x, fc=2, retquad=True)[1],
    "hypot": lambda x: np.hypot(x, 2 * x * x),
    "ive": lambda x: sp.ive(0.5, x),
    "ive of complex numbers": lambda x: np.real(sp.ive(0.5, x + 1j)),
    "ivp": lambda x: sp.ivp(1, x),
    "kelvin": lambda x: np.real(sp.kelvin(x)[0]),
    "kvp": lambda x: sp.kvp(1, x),
    "lambertw": lambda x: np.real(sp.lambertw(x)),
    "legendre_p": lambda x: sp.legendre_p(2, x),
    "modf": lambda x: np.modf(x * x)[0],
    "multigammaln": lambda x: sp.multigammaln(x + 1, 2),
    "pbdv": lambda x: sp.pbdv(1.0, x)[0],
    "perm": lambda x: sp.perm(x, 2.0),
    "polygamma": lambda x: sp.polygamma(n=np.int64(1), x=x),
    "polyval": lambda x: np.polyval(np.array([1.0, 2.0, 3.0]), x),
    "shichi": lambda x: sp.shichi(x)[1],
    "sign": lambda x: np.real(np.sign(x + 1j)),
    "sici": lambda x: sp.sici(x)[1],
    "softplus": sp.softplus,
    "spherical_in": lambda x: sp.spherical_in(1, x),
    "spherical_jn": lambda x: sp.spherical_jn(1, x),
    "spherical_kn": lambda x: sp.spherical_kn(1, x),
    "spherical_yn": lambda x: sp.spherical_yn(1, x, derivative=True),
    "power": lambda x: np.power(x * x, np.int8(3)),
    "sph_harm_y": lambda x: np.real(sp.sph_harm_y(2, 1, x, x)),
    "sweep_poly": lambda x: sg.sweep_poly(x, np.poly1d([1.0, 2.0]).coeffs),
    "yeojohnson": lambda x: ss.yeojohnson(x, 0.5),
    "zeta": lambda x: sp.zeta(x + 1, x),
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("missing", [np.nan, np.inf, -3.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_left_out_of_a_function_has_no_part_in_its_derivatives(name: str, missing: float) -> None:
    f, x = FUNCTIONS[name], np.array([0.3, missing, 0.7])

    def kept(x: Any) -> Any:
        return np.sum(np.where(IS_KEPT, f(x), 0.0))

    def alone(x: Any) -> Any:
        return np.sum(f(x))

    if name == "multigammaln" and missing < 0:  # which SciPy refuses
        return
    wanted = grad(alone)(x[IS_KEPT])
    np.testing.assert_allclose(grad(kept)(x), [wanted[0], 0.0, wanted[1]])
    curvature = jvp(grad(alone), (x[IS_KEPT],), (np.ones(2),))[1]
    along = np.array([1.0, 1.0, 1.0])
    np.testing.assert_allclose(jvp(grad(kept), (x,), (along,))[1], [curvature[0], 0.0, curvature[1]])
    twice = grad(lambda x: np.sum(grad(kept)(x) * along))(x)
    np.testing.assert_allclose(twice, [curvature[0], 0.0, curvature[1]])


def test_of_several_outputs_one_may_be_left_out_and_another_not() -> None:
    x = np.array([0.5, 0.0, 2.0])

    def both(x: Any) -> Any:
        sine, cosine = sp.sici(x)
        return np.sum(np.where(x > 0, cosine, 0.0) + sine)

    wanted = [float(np.sum(jvp_fd(lambda t: sum(special.sici(t)), (t,), (1.0,)).value)) for t in x[[0, 2]]]
    np.testing.assert_allclose(grad(both)(x), [wanted[0], 1.0, wanted[1]], rtol=1e-8)


def test_a_parameter_of_all_entries_is_reached_by_those_that_are_kept() -> None:
    x = np.array([0.3, np.nan, 0.7])

    def of_order(q: Any) -> Any:
        return np.sum(np.where(IS_KEPT, sp.zeta(x + 1, q), 0.0))

    wanted = jvp_fd(lambda q: np.sum(special.zeta(x[IS_KEPT] + 1, q)), (2.0,), (1.0,)).value
    np.testing.assert_allclose(grad(of_order)(2.0), wanted, rtol=1e-7)


def test_a_mask_goes_on_through_what_is_composed() -> None:
    t = np.array([0.5, 0.0, 2.0])

    def swept(t: Any) -> Any:
        return np.sum(np.where(t > 0, sg.sweep_poly(np.log(t), np.array([0.5, 1.0])), 0.0))

    wanted = grad(lambda t: np.sum(sg.sweep_poly(np.log(t), np.array([0.5, 1.0]))))(t[[0, 2]])
    np.testing.assert_allclose(grad(swept)(t), [wanted[0], 0.0, wanted[1]])


@pytest.mark.parametrize(
    "build", [interpolate.CubicSpline, interpolate.PchipInterpolator, interpolate.make_interp_spline]
)
@pytest.mark.parametrize("missing", [np.nan, np.inf])
def test_a_point_that_is_missing_has_no_part_in_the_derivatives_by_the_data(build: Any, missing: float) -> None:
    points = np.array([0.3, missing, 0.7])

    def kept(values: Any) -> Any:
        return np.sum(np.where(IS_KEPT, evaluated(build, (KNOTS, values), points), 0.0))

    wanted = grad(lambda values: np.sum(evaluated(build, (KNOTS, values), points[IS_KEPT])))(VALUES)
    np.testing.assert_allclose(grad(kept)(VALUES), wanted)
    assert np.isnan(grad(lambda values: np.sum(evaluated(build, (KNOTS, values), points)))(VALUES)).any()
