"""What of `scipy.signal` has a derivative and no rule, and why."""

import scipy.signal

from rulescore import missing_rules


def _missing(names, because):
    """Of functions by name: some are missing in an older SciPy, or gone in a newer one."""
    functions = [getattr(scipy.signal, name) for name in names.split() if hasattr(scipy.signal, name)]
    missing_rules(*functions, because=because)


# ---------------------------------------------------------------- design of filters

_missing(
    "butter cheby1 cheby2 ellip bessel iirfilter iirdesign iirnotch iirpeak iircomb gammatone "
    "cheb1ap cheb2ap ellipap lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk",
    "the design of recursive filters has no rule with respect to its frequencies and ripples; filters have rules with "
    "respect to their coefficients (scipy.signal.lfilter, sosfilt, freqz), which may be optimised instead",
)
_missing(
    "firwin firwin2 firwin_2d firls remez",
    "the design of FIR filters has no rule with respect to its frequencies and weights; a filter that is a formula can "
    "be written with numpy.sinc and scipy.signal.get_window, which have rules",
)
_missing(
    "minimum_phase",
    "there is no rule yet; method='homomorphic' is made of scipy.fft.fft and ifft and a logarithm, which have rules",
)
_missing("savgol_coeffs", "of floats it depends on delta alone: it is proportional to delta ** -deriv")
_missing(
    "buttord cheb1ord cheb2ord ellipord kaiserord band_stop_obj",
    "the order is a whole number found by rounding, so that the frequencies beside it change in jumps",
)
_missing("findfreqs", "it chooses frequencies by a search, rounded; give scipy.signal.freqs the frequencies")
_missing("normalize", "it drops leading coefficients that are nearly zero, with a warning; divide by a[0] instead")

# ---------------------------------------------------------------- systems and representations

_missing(
    "lsim impulse step freqresp bode dlsim dimpulse dstep dfreqresp dbode cont2discrete",
    "the functions of linear systems take objects of SciPy's, and have no rule yet; scipy.signal.lfilter, freqz and "
    "freqs take coefficients, scipy.linalg.expm the matrices of a state space, and all have rules",
)
_missing(
    "tf2ss ss2tf zpk2ss ss2zpk abcd_normalize",
    "state spaces have no rule yet; transfer functions (scipy.signal.zpk2tf, tf2zpk) have",
)
_missing(
    "tf2sos zpk2sos",
    "which root goes to which section is a matter of rounding; scipy.signal.sos2tf, zpk2tf and tf2zpk have rules",
)
_missing("sos2zpk", "there is no rule yet; scipy.signal.tf2zpk of each section has one")
_missing(
    "residue residuez invres invresz unique_roots",
    "roots that are nearly equal are taken for one, by a tolerance, with which the output changes its shape",
)
_missing("place_poles", "the solution is not unique: SciPy's depends on where its iteration stops")

# ---------------------------------------------------------------- splines and filters of images

_missing(
    "cspline1d qspline1d cspline2d qspline2d cspline1d_eval qspline1d_eval spline_filter",
    "splines of scipy.signal have no rule yet; scipy.ndimage.spline_filter and map_coordinates, and "
    "scipy.interpolate.make_interp_spline, are splines too and have rules",
)
_missing("gauss_spline", "it is a formula: exp(-(x**2) / (2 * s)) / sqrt(2 * pi * s) with s = (n + 1) / 12")
_missing(
    "sepfir2d",
    "there is no rule yet; scipy.ndimage.convolve1d along each axis, with mode='reflect', does the same and has rules",
)
_missing(
    "symiirorder1 symiirorder2",
    "there is no rule yet with respect to the poles; scipy.signal.lfilter forwards and backwards has rules for both",
)

# ---------------------------------------------------------------- spectra, peaks and others

_missing("lombscargle", "there is no rule yet; it is made of sums of sines and cosines, which NumPy has rules for")
_missing(
    "envelope", "there is no rule yet; the modulus of scipy.signal.hilbert is an envelope of the signal, and has rules"
)
_missing("vectorstrength", "there is no rule yet; it is modulus and angle of mean(exp(2j * pi * events / period))")
_missing(
    "closest_STFT_dual_window",
    "there is no rule yet; it belongs to scipy.signal.ShortTimeFFT, whose methods have none (stft and istft have)",
)
_missing("czt_points", "there is no rule yet; it is a * w ** -np.arange(m)")
_missing(
    "find_peaks peak_prominences peak_widths",
    "places of peaks are whole numbers and heights are the signal there: index the signal with the places (and the "
    "bases, for prominences), which has rules",
)
