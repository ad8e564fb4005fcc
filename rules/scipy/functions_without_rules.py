"""What of SciPy has no rules, and why, by module: derivatives nobody has written, numbers that are constant, words.

Each package of rules declares what concerns its module. Functions are given by name: some are missing in an older
SciPy, or gone in a newer one.
"""

import functools


def missing_in(module):
    """Functions with a derivative and no rule, in lists, each with the reason and what to write instead."""
    return [(_functions(module, names), because) for names, because in MISSING[module.__name__]]


def constant_in(module):
    """Functions whose outputs are constant."""
    return _functions(module, CONSTANT[module.__name__])


def not_numerical_in(module):
    """Functions of settings, formats and the like."""
    return _functions(module, NOT_NUMERICAL[module.__name__])


def _functions(module, names):
    """Those of some functions and methods that the module has."""
    found = [
        functools.reduce(lambda x, part: getattr(x, part, None), name.split("."), module) for name in names.split()
    ]
    return [f for f in found if f is not None]


def _part(x, name):
    return getattr(x, name, None)


MISSING = {
    "scipy.integrate": (
        (
            "cubature tanhsinh",
            "there is no rule for it yet; quad and quad_vec have rules with respect to limits and parameters, and "
            "dblquad, tplquad and nquad in several variables",
        ),
        (
            "nsum",
            "there is no rule for it yet; a sum of many terms written with numpy.sum is differentiated",
        ),
        (
            "qmc_quad",
            "its points are drawn at random by the sampler; draw them with scipy.stats.qmc and average the function "
            "over them, which is differentiated",
        ),
        (
            "newton_cotes",
            "the weights have no rule with respect to the points; simpson and trapezoid have rules with respect to "
            "points too",
        ),
        (
            "lebedev_rule",
            "a table of points and weights for a whole number, which depends on nothing that moves",
        ),
    ),
    "scipy.interpolate": (
        (
            "UnivariateSpline InterpolatedUnivariateSpline LSQUnivariateSpline",
            "FITPACK's objects for splines have no rules; make_interp_spline interpolates and make_lsq_spline fits "
            "with given knots, and both have rules with respect to points, values and knots",
        ),
        (
            "BivariateSpline RectBivariateSpline SmoothBivariateSpline LSQBivariateSpline SphereBivariateSpline "
            "RectSphereBivariateSpline SmoothSphereBivariateSpline LSQSphereBivariateSpline",
            "FITPACK's objects for splines in two variables have no rules; RegularGridInterpolator with "
            "method='cubic' and bisplev have rules",
        ),
        (
            "bisplrep",
            "it chooses its knots, which depend on the values in jumps; interpolate with RegularGridInterpolator",
        ),
        (
            "splprep make_splprep",
            "there is no rule yet; make_interp_spline takes curves too, with a parameter that is computed from the "
            "points",
        ),
        (
            "make_smoothing_spline",
            "there is no rule yet; make_lsq_spline, whose knots are given, has rules",
        ),
        (
            "generate_knots",
            "which knots it adds depends on the values in jumps",
        ),
        (
            "CloughTocher2DInterpolator",
            "the slopes that it estimates by iteration have no rule; use LinearNDInterpolator",
        ),
        (
            "NdPPoly BPoly",
            "there is no rule yet; PPoly has rules (BPoly and PPoly convert into each other by from_bernstein_basis)",
        ),
        (
            "Rbf",
            "it is superseded by RBFInterpolator, which has rules",
        ),
        (
            "NearestNDInterpolator",
            "there is no rule yet; griddata with method='nearest' has rules",
        ),
        (
            "lagrange approximate_taylor_polynomial pade",
            "it returns objects of numpy.poly1d, which are not differentiated; KroghInterpolator and "
            "BarycentricInterpolator go through points, and have rules",
        ),
        (
            "AAA FloaterHormannInterpolator",
            "there is no rule yet for rational interpolation",
        ),
        (
            "insert",
            "there is no rule yet for knots that are added to a tck; bspline.insert_knot has none either",
        ),
        (
            "sproot spalde",
            "there is no rule; find roots with scipy.optimize on splev, which is differentiated",
        ),
    ),
    "scipy.linalg": (
        (
            "rsf2csf qz ordqz",
            "generalised Schur vectors are determined up to rotations that LAPACK chooses, and rsf2csf turns blocks "
            "by rotations of its own: use schur, with output='complex' where that is wanted, or eig(a, b), which "
            "have rules",
        ),
        (
            "hessenberg",
            "what it is wanted for depends on the matrix alone: use that, as eigvals, det or solve",
        ),
        (
            "ldl",
            "its blocks and exchanges jump with the pivots: use solve(a, b, assume_a='sym'), or cholesky or lu, "
            "which have rules",
        ),
        (
            "cossin",
            "it takes orthogonal matrices alone, and on no straight line do matrices stay orthogonal: use svd of the"
            " blocks, which has rules",
        ),
        (
            "cdf2rdf",
            "it only rearranges what eig returns: use the complex eigenvalues and vectors themselves",
        ),
        (
            "funm",
            "it needs the derivative of a function of numbers that may be any Python code: use expm, logm, sqrtm, "
            "cosm, sinm and the others of their kind, or (v * f(w)) @ inv(v) with w, v = eig(a)",
        ),
        (
            "expm_cond",
            "a maximum over directions, whose derivative needs second derivatives: use expm_frechet in a direction",
        ),
        (
            "matrix_balance",
            "its scaling is piecewise constant: compute it outside of what is differentiated, and apply it as "
            "solve(t, a @ t)",
        ),
        (
            "subspace_angles",
            "use arccos(svdvals(orth(a).T @ orth(b))), which has rules, and arcsin for small angles",
        ),
        (
            "qr_multiply qr_insert qr_delete qr_update",
            "they save work beside qr, which has rules: use qr of the whole matrix, and products with its factors",
        ),
        (
            "clarkson_woodruff_transform",
            "a product with a random matrix: s = clarkson_woodruff_transform(np.eye(n), size, rng=seed), made once, "
            "and s @ a",
        ),
    ),
    "scipy.ndimage": (
        (
            "generic_filter generic_filter1d vectorized_filter",
            "it calls a function with the pixels of each window, which SciPy wants numbers of: take the windows of a"
            " padded image by np.lib.stride_tricks.sliding_window_view and apply the function to their last axes",
        ),
        (
            "generic_gradient_magnitude generic_laplace",
            "it calls a function for the derivative along each axis: call that yourself, and take the root of the "
            "sum of the squares, or the sum",
        ),
        (
            "labeled_comprehension",
            "it calls a function with the pixels of each label, which SciPy wants a number of: call it with "
            "image[labels == label] for each label",
        ),
        (
            "distance_transform_edt distance_transform_bf",
            "of the image it only asks which pixels are zero; for the derivative with respect to the sampling, ask "
            "for the indices of the nearest zeros (return_indices=True) and compute the distances to them",
        ),
    ),
    "scipy.optimize": (
        (
            "fmin_l_bfgs_b fmin_slsqp fmin_tnc fmin_cobyla",
            "there is no rule for it; minimize has rules with these methods, bounds and constraints included",
        ),
        (
            "basinhopping brute differential_evolution direct dual_annealing shgo",
            "there is no rule for global searches; give what they find to minimize, as x0=, which has rules",
        ),
        (
            "milp quadratic_assignment",
            "the solution of an integer program jumps, and is constant between; linprog has rules",
        ),
        (
            "bracket line_search",
            "what a step of a search finds depends on how it searches; minimize and minimize_scalar have rules for "
            "the minimum itself",
        ),
        (
            "approx_fprime",
            "it is a finite difference; the AD system has the exact gradient of the function",
        ),
        (
            "isotonic_regression",
            "there is no rule yet; its values are means of blocks of the data, which numpy.mean has rules for",
        ),
        (
            "rosen rosen_der rosen_hess rosen_hess_prod",
            "a function to test solvers with; write it with NumPy, the sum of 100 (x[1:] - x[:-1]²)² + (1 - "
            "x[:-1])², and its derivatives come from the AD system",
        ),
    ),
    "scipy.signal": (
        (
            "butter cheby1 cheby2 ellip bessel iirfilter iirdesign iirnotch iirpeak iircomb gammatone cheb1ap "
            "cheb2ap ellipap lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk",
            "the design of recursive filters has no rule with respect to its frequencies and ripples; filters have "
            "rules with respect to their coefficients (scipy.signal.lfilter, sosfilt, freqz), which may be optimised"
            " instead",
        ),
        (
            "firwin firwin2 firwin_2d firls remez",
            "the design of FIR filters has no rule with respect to its frequencies and weights; a filter that is a "
            "formula can be written with numpy.sinc and scipy.signal.get_window, which have rules",
        ),
        (
            "minimum_phase",
            "there is no rule yet; method='homomorphic' is made of scipy.fft.fft and ifft and a logarithm, which "
            "have rules",
        ),
        (
            "savgol_coeffs",
            "of floats it depends on delta alone: it is proportional to delta ** -deriv",
        ),
        (
            "buttord cheb1ord cheb2ord ellipord kaiserord band_stop_obj",
            "the order is a whole number found by rounding, so that the frequencies beside it change in jumps",
        ),
        (
            "findfreqs",
            "it chooses frequencies by a search, rounded; give scipy.signal.freqs the frequencies",
        ),
        (
            "normalize",
            "it drops leading coefficients that are nearly zero, with a warning; divide by a[0] instead",
        ),
        (
            "lsim impulse step freqresp bode dlsim dimpulse dstep dfreqresp dbode cont2discrete",
            "the functions of linear systems take objects of SciPy's, and have no rule yet; scipy.signal.lfilter, "
            "freqz and freqs take coefficients, scipy.linalg.expm the matrices of a state space, and all have rules",
        ),
        (
            "tf2ss ss2tf zpk2ss ss2zpk abcd_normalize",
            "state spaces have no rule yet; transfer functions (scipy.signal.zpk2tf, tf2zpk) have",
        ),
        (
            "tf2sos zpk2sos",
            "which root goes to which section is a matter of rounding; scipy.signal.sos2tf, zpk2tf and tf2zpk have "
            "rules",
        ),
        (
            "sos2zpk",
            "there is no rule yet; scipy.signal.tf2zpk of each section has one",
        ),
        (
            "residue residuez invres invresz unique_roots",
            "roots that are nearly equal are taken for one, by a tolerance, with which the output changes its shape",
        ),
        (
            "place_poles",
            "the solution is not unique: SciPy's depends on where its iteration stops",
        ),
        (
            "cspline1d qspline1d cspline2d qspline2d cspline1d_eval qspline1d_eval spline_filter",
            "splines of scipy.signal have no rule yet; scipy.ndimage.spline_filter and map_coordinates, and "
            "scipy.interpolate.make_interp_spline, are splines too and have rules",
        ),
        (
            "gauss_spline",
            "it is a formula: exp(-(x**2) / (2 * s)) / sqrt(2 * pi * s) with s = (n + 1) / 12",
        ),
        (
            "sepfir2d",
            "there is no rule yet; scipy.ndimage.convolve1d along each axis, with mode='reflect', does the same and "
            "has rules",
        ),
        (
            "symiirorder1 symiirorder2",
            "there is no rule yet with respect to the poles; scipy.signal.lfilter forwards and backwards has rules "
            "for both",
        ),
        (
            "lombscargle",
            "there is no rule yet; it is made of sums of sines and cosines, which NumPy has rules for",
        ),
        (
            "envelope",
            "there is no rule yet; the modulus of scipy.signal.hilbert is an envelope of the signal, and has rules",
        ),
        (
            "vectorstrength",
            "there is no rule yet; it is modulus and angle of mean(exp(2j * pi * events / period))",
        ),
        (
            "closest_STFT_dual_window",
            "there is no rule yet; it belongs to scipy.signal.ShortTimeFFT, whose methods have none (stft and istft "
            "have)",
        ),
        (
            "czt_points",
            "there is no rule yet; it is a * w ** -np.arange(m)",
        ),
        (
            "find_peaks peak_prominences peak_widths",
            "places of peaks are whole numbers and heights are the signal there: index the signal with the places "
            "(and the bases, for prominences), which has rules",
        ),
    ),
    "scipy.sparse.linalg": (
        (
            "spilu",
            "what it leaves out jumps: compute it where nothing is differentiated, as a preconditioner of cg or gmres",
        ),
        (
            "lobpcg",
            "use eigsh, which finds the same eigenvalues and has rules",
        ),
        (
            "onenormest",
            "an estimate that jumps with the vectors it tries: use norm(A, 1)",
        ),
        (
            "funm_multiply_krylov",
            "it needs the derivative of a function of matrices that may be any Python code: use expm_multiply",
        ),
    ),
    "scipy.special": (
        (
            "mathieu_a mathieu_b",
            "the derivative of the characteristic value with respect to q is an integral over its Mathieu function, "
            "which has no rule yet; a difference of two values is the way around",
        ),
        (
            "mathieu_cem mathieu_sem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2",
            "there is no rule yet: with respect to x the derivative is the second output (of cem and sem it is per "
            "radian, where x is in degrees), with respect to q it has no closed form",
        ),
        (
            "obl_cv pro_cv obl_cv_seq pro_cv_seq",
            "the derivative of the characteristic value with respect to c is an integral over its spheroidal "
            "function, which has no rule yet",
        ),
        (
            "obl_ang1 obl_ang1_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pro_ang1 pro_ang1_cv pro_rad1 "
            "pro_rad1_cv pro_rad2 pro_rad2_cv",
            "there is no rule yet: with respect to x the derivative is the second output, with respect to c it has "
            "no closed form",
        ),
        (
            "mathieu_even_coef mathieu_odd_coef",
            "the coefficients are an eigenvector of a matrix whose others SciPy does not give; there is no rule yet",
        ),
        (
            "ellip_harm ellip_harm_2 ellip_normal",
            "the coefficients of Lamé's functions are an eigenvector that SciPy keeps to itself",
        ),
        (
            "chndtr chndtrix chndtrinc chndtridf ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtrit "
            "nctdtridf nctdtrinc",
            "noncentral distributions have no rule yet: their derivatives are series over central ones",
        ),
        (
            "bdtrik bdtrin nbdtrik nbdtrin",
            "the inverse by a number of events has no rule yet; invert scipy.special.betainc in its parameter "
            "(btdtria, btdtrib), of which it is a case",
        ),
        (
            "kolmogorov kolmogi smirnov smirnovi",
            "SciPy has the density of the statistic in private functions only, and there is no rule yet",
        ),
        (
            "tklmbda",
            "SciPy inverts the quantile (pᵏ - (1-p)ᵏ)/k, k being lmbda, by bisection; differentiate the quantile, "
            "which is a formula, and invert",
        ),
        (
            "lmbda riccati_jn riccati_yn",
            "it returns all orders up to one, and their derivatives; use scipy.special.jv, spherical_jn or "
            "spherical_yn, which take arrays of orders and have rules",
        ),
        (
            "pbdn_seq pbdv_seq pbvv_seq",
            "it returns all orders up to one, and their derivatives; use scipy.special.pbdv or pbvv, which take "
            "arrays of orders and have rules",
        ),
        (
            "assoc_legendre_p assoc_legendre_p_all sph_legendre_p sph_legendre_p_all legendre_p_all sph_harm_y_all",
            "there is no rule yet; with diff_n=1 the function returns its derivative itself, and scipy.special.lpmv,"
            " legendre_p and sph_harm_y have rules",
        ),
        (
            "lpn lpmn clpmn sph_harm",
            "it is gone since SciPy 1.17; scipy.special.lpmv, legendre_p and sph_harm_y have rules",
        ),
        (
            "lqn lqmn",
            "Legendre functions of the second kind have no rule yet; the second output is the derivative",
        ),
        (
            "chebyc chebys chebyt chebyu gegenbauer genlaguerre hermite hermitenorm jacobi laguerre legendre "
            "sh_chebyt sh_chebyu sh_jacobi sh_legendre",
            "it returns a polynomial object; use the function of the same name with eval_ before it, which has rules",
        ),
        (
            "roots_gegenbauer roots_genlaguerre roots_jacobi roots_sh_jacobi",
            "nodes and weights depend on the parameters of the family, and have no rule for that yet",
        ),
        (
            "assoc_laguerre",
            "use scipy.special.eval_genlaguerre(n, k, x), which it calls and which has rules",
        ),
        (
            "diric",
            "use its formula, sin(n x / 2) / (n sin(x / 2)), which NumPy's rules differentiate off its poles",
        ),
    ),
    "scipy.stats": (
        (
            "alpha anglit arcsine argus bradford cosine crystalball dgamma dpareto_lognorm dweibull exponpow "
            "exponweib fatiguelife foldcauchy gausshyper genexpon genhalflogistic genhyperbolic geninvgauss "
            "halfgennorm halflogistic hypsecant invweibull irwinhall jf_skew_t kappa3 kappa4 ksone kstwo kstwobign "
            "landau laplace_asymmetric levy_stable loggamma mielke norminvgauss pearson3 powerlognorm powernorm "
            "rdist recipinvgauss rel_breitwigner semicircular skewcauchy studentized_range trapezoid truncexpon "
            "truncpareto truncweibull_min tukeylambda vonmises_line betanbinom boltzmann dlaplace logser "
            "nchypergeom_fisher nchypergeom_wallenius nhypergeom planck poisson_binom randint yulesimon zipfian",
            "nobody has written down the slopes of this distribution: write its log-density with NumPy's functions "
            "and those of scipy.special",
        ),
        (
            "erlang gibrat wald levy_l",
            "it is another distribution in other words: gamma, lognorm with s=1, invgauss with mu=1, or levy of -x",
        ),
        (
            "wishart invwishart matrix_normal matrix_t normal_inverse_gamma vonmises_fisher multivariate_hypergeom",
            "nobody has written down the slopes of this distribution of several variables: write its log-density "
            "with np.linalg.slogdet, np.linalg.solve and scipy.special.gammaln or multigammaln",
        ),
        (
            "multivariate_t.cdf",
            "it is an integral over several variables, which SciPy computes from random points to a few digits",
        ),
        (
            "ortho_group special_ortho_group unitary_group uniform_direction random_correlation random_table",
            "it is there to draw random matrices, which depend on no real parameter by a density",
        ),
        (
            "make_distribution order_statistic truncate abs exp log",
            "it makes a random variable, whose methods have no rules: use the methods of the distributions that the "
            "module offers, as stats.norm.logpdf",
        ),
        (
            "ttest_1samp ttest_rel ttest_ind ttest_ind_from_stats",
            "its result is an object of its own that keeps more than can be traced: write the statistic with np.mean"
            " and np.var, and its p-value with stats.t.sf",
        ),
        (
            "pearsonr pointbiserialr",
            "its result is an object of its own that keeps more than can be traced: take np.corrcoef(x, y)[0, 1], "
            "and the p-value of r by stats.beta.cdf",
        ),
        (
            "linregress siegelslopes theilslopes",
            "its result is an object of its own that keeps more than can be traced: take the slope from np.cov(x, "
            "y), or use np.linalg.lstsq; medians of slopes by np.median",
        ),
        (
            "alexandergovern bartlett levene f_oneway tukey_hsd dunnett jarque_bera kurtosistest skewtest normaltest"
            " shapiro chisquare power_divergence chi2_contingency combine_pvalues false_discovery_control "
            "epps_singleton_2samp quantile_test directional_stats describe bayes_mvs mvsdist",
            "its result is made for reading, with p-values or intervals: write the statistic with functions that "
            "have rules (np.mean, np.var, stats.skew), and the p-value with the sf of its distribution",
        ),
        (
            "anderson anderson_ksamp cramervonmises cramervonmises_2samp ks_1samp ks_2samp kstest median_test "
            "page_trend_test bws_test",
            "a test of the order of samples: its statistic is constant, or the distance of one number, where you "
            "find it with np.sort and the cdf of the distribution",
        ),
        (
            "barnard_exact boschloo_exact fisher_exact binomtest poisson_means_test",
            "a test of counts, which have no derivative; for that of a rate, use the cdf of stats.binom or "
            "stats.poisson",
        ),
        (
            "bootstrap permutation_test monte_carlo_test goodness_of_fit power multiscale_graphcorr sobol_indices",
            "it calls a function with samples that it draws, and keeps the results in arrays: draw the samples with "
            "NumPy, and differentiate the mean of your function over them",
        ),
        (
            "fit boxcox_normmax yeojohnson_normmax ppcc_max",
            "it looks for an optimum: minimise the negative log-likelihood, made of logpdf, boxcox_llf or "
            "yeojohnson_llf, with scipy.optimize.minimize, which has rules",
        ),
        (
            "boxcox_normplot yeojohnson_normplot ppcc_plot probplot",
            "it computes what a plot shows: take the order statistics with np.sort, and the quantiles with the ppf",
        ),
        (
            "ecdf logrank",
            "it counts what lies below each number, which is constant; its result has an object of its own",
        ),
        (
            "quantile scoreatpercentile",
            "use np.quantile or np.percentile, which have rules",
        ),
        (
            "tmin tmax trim1 trimboth sigmaclip",
            "it selects elements: write x[x > limit], np.sort(x)[k:-k], np.min or np.max",
        ),
        (
            "lmoment",
            "it is a mean of sorted numbers: write np.mean(weights * np.sort(x))",
        ),
        (
            "differential_entropy",
            "it is a mean of the logarithms of differences of sorted numbers: write it with np.sort, np.log and "
            "np.mean",
        ),
        (
            "mode",
            "it is one of the numbers and how often it occurs: find which with np.unique, and take that element of x",
        ),
        (
            "obrientransform",
            "it is a rational function of each number and of the mean and variance: write it with np.mean and np.var",
        ),
        (
            "binned_statistic binned_statistic_2d binned_statistic_dd",
            "its result is an object of its own: find the bins with np.digitize, and add up with np.bincount(bins, "
            "weights), or use scipy.ndimage.mean with the bins for labels",
        ),
        (
            "cumfreq relfreq",
            "it counts in bins that depend on the smallest and the largest number: use np.histogram",
        ),
        (
            "wasserstein_distance_nd",
            "it is the optimum of a linear program: use scipy.optimize.linprog, which has rules",
        ),
        (
            "weightedtau",
            "it is a correlation of ranks, which is constant: call it with the values (ignore_derivatives)",
        ),
        (
            "fligner",
            "it ranks distances from medians, of which some are equal: call it with the values (ignore_derivatives)",
        ),
    ),
}
"""Functions with a derivative and no rule, by module, with the reason and what to write instead."""

CONSTANT = {
    "scipy.optimize": "linear_sum_assignment",
    "scipy.sparse.linalg": "is_sptriangular spbandwidth",
    "scipy.stats": (
        "rankdata tiecorrect percentileofscore kendalltau spearmanr spearmanrho somersd chatterjeexi mannwhitneyu "
        "ranksums kruskal friedmanchisquare ansari mood brunnermunzel wilcoxon"
    ),
}
"""Functions whose outputs are constant: ranks, counts, whole numbers."""

NOT_NUMERICAL = {
    "scipy.linalg": "blas.get_blas_funcs blas.find_best_blas_type lapack.get_lapack_funcs",
    "scipy.ndimage": "generate_binary_structure iterate_structure",
    "scipy.optimize": "show_options linprog_verbose_callback check_grad",
    "scipy.sparse.linalg": "use_solver aslinearoperator",
}
"""Functions of settings, formats and the like."""
