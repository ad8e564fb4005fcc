"""What of `scipy.stats` has no rules, and why. By name, since not every SciPy has them all."""

from scipy import stats

from rulescore import missing_rules, non_differentiable


def named(names):
    """Those of some functions and distributions that this SciPy has."""
    return [getattr(stats, name) for name in names.split() if hasattr(stats, name)]


# ---------------------------------------------------------------- constant: of ranks and counts

non_differentiable(
    *named(
        "rankdata tiecorrect percentileofscore kendalltau spearmanr spearmanrho somersd "
        "chatterjeexi mannwhitneyu ranksums kruskal friedmanchisquare ansari mood brunnermunzel wilcoxon"
    ),
)

# ---------------------------------------------------------------- distributions

missing_rules(
    *named(
        "alpha anglit arcsine argus bradford cosine crystalball dgamma dpareto_lognorm dweibull "
        "exponpow exponweib fatiguelife foldcauchy gausshyper genexpon genhalflogistic genhyperbolic "
        "geninvgauss halfgennorm halflogistic hypsecant invweibull irwinhall jf_skew_t kappa3 kappa4 "
        "ksone kstwo kstwobign landau laplace_asymmetric levy_stable loggamma mielke norminvgauss "
        "pearson3 powerlognorm powernorm rdist recipinvgauss rel_breitwigner semicircular skewcauchy "
        "studentized_range trapezoid truncexpon truncpareto truncweibull_min tukeylambda vonmises_line "
        "betanbinom boltzmann dlaplace logser nchypergeom_fisher nchypergeom_wallenius nhypergeom planck "
        "poisson_binom randint yulesimon zipfian"
    ),
    because=(
        "nobody has written down the slopes of this distribution: write its log-density with NumPy's functions "
        "and those of scipy.special"
    ),
)

missing_rules(
    *named("erlang gibrat wald levy_l"),
    because="it is another distribution in other words: gamma, lognorm with s=1, invgauss with mu=1, or levy of -x",
)

missing_rules(
    *named("wishart invwishart matrix_normal matrix_t normal_inverse_gamma vonmises_fisher multivariate_hypergeom"),
    because=(
        "nobody has written down the slopes of this distribution of several variables: write its log-density with "
        "np.linalg.slogdet, np.linalg.solve and scipy.special.gammaln or multigammaln"
    ),
)

missing_rules(
    stats.multivariate_t.cdf,
    because="it is an integral over several variables, which SciPy computes from random points to a few digits",
)

missing_rules(
    *named("ortho_group special_ortho_group unitary_group uniform_direction random_correlation random_table"),
    because="it is there to draw random matrices, which depend on no real parameter by a density",
)

missing_rules(
    *named("make_distribution order_statistic truncate abs exp log"),
    because=(
        "it makes a random variable, whose methods have no rules: use the methods of the distributions that the "
        "module offers, as stats.norm.logpdf"
    ),
)

# ---------------------------------------------------------------- results that are objects

missing_rules(
    *named("ttest_1samp ttest_rel ttest_ind ttest_ind_from_stats"),
    because=(
        "its result is an object of its own that keeps more than can be traced: write the statistic with np.mean "
        "and np.var, and its p-value with stats.t.sf"
    ),
)

missing_rules(
    *named("pearsonr pointbiserialr"),
    because=(
        "its result is an object of its own that keeps more than can be traced: take np.corrcoef(x, y)[0, 1], and "
        "the p-value of r by stats.beta.cdf"
    ),
)

missing_rules(
    *named("linregress siegelslopes theilslopes"),
    because=(
        "its result is an object of its own that keeps more than can be traced: take the slope from np.cov(x, y), "
        "or use np.linalg.lstsq; medians of slopes by np.median"
    ),
)

missing_rules(
    *named(
        "alexandergovern bartlett levene f_oneway tukey_hsd dunnett jarque_bera kurtosistest skewtest "
        "normaltest shapiro chisquare power_divergence chi2_contingency combine_pvalues "
        "false_discovery_control epps_singleton_2samp quantile_test directional_stats describe bayes_mvs "
        "mvsdist"
    ),
    because=(
        "its result is made for reading, with p-values or intervals: write the statistic with functions that have "
        "rules (np.mean, np.var, stats.skew), and the p-value with the sf of its distribution"
    ),
)

missing_rules(
    *named(
        "anderson anderson_ksamp cramervonmises cramervonmises_2samp ks_1samp ks_2samp kstest median_test "
        "page_trend_test bws_test"
    ),
    because=(
        "a test of the order of samples: its statistic is constant, or the distance of one number, where you find "
        "it with np.sort and the cdf of the distribution"
    ),
)

missing_rules(
    *named("barnard_exact boschloo_exact fisher_exact binomtest poisson_means_test"),
    because=(
        "a test of counts, which have no derivative; for that of a rate, use the cdf of stats.binom or stats.poisson"
    ),
)

# ---------------------------------------------------------------- random, or searched for

missing_rules(
    *named("bootstrap permutation_test monte_carlo_test goodness_of_fit power multiscale_graphcorr sobol_indices"),
    because=(
        "it calls a function with samples that it draws, and keeps the results in arrays: draw the samples with "
        "NumPy, and differentiate the mean of your function over them"
    ),
)

missing_rules(
    *named("fit boxcox_normmax yeojohnson_normmax ppcc_max"),
    because=(
        "it looks for an optimum: minimise the negative log-likelihood, made of logpdf, boxcox_llf or "
        "yeojohnson_llf, with scipy.optimize.minimize, which has rules"
    ),
)

missing_rules(
    *named("boxcox_normplot yeojohnson_normplot ppcc_plot probplot"),
    because="it computes what a plot shows: take the order statistics with np.sort, and the quantiles with the ppf",
)

missing_rules(
    *named("ecdf logrank"),
    because="it counts what lies below each number, which is constant; its result has an object of its own",
)

# ---------------------------------------------------------------- what NumPy says in a line

missing_rules(
    *named("quantile scoreatpercentile"),
    because="use np.quantile or np.percentile, which have rules",
)

missing_rules(
    *named("tmin tmax trim1 trimboth sigmaclip"),
    because="it selects elements: write x[x > limit], np.sort(x)[k:-k], np.min or np.max",
)

missing_rules(
    *named("lmoment"),
    because="it is a mean of sorted numbers: write np.mean(weights * np.sort(x))",
)

missing_rules(
    *named("differential_entropy"),
    because=(
        "it is a mean of the logarithms of differences of sorted numbers: write it with np.sort, np.log and np.mean"
    ),
)

missing_rules(
    *named("mode"),
    because="it is one of the numbers and how often it occurs: find which with np.unique, and take that element of x",
)

missing_rules(
    *named("obrientransform"),
    because="it is a rational function of each number and of the mean and variance: write it with np.mean and np.var",
)

missing_rules(
    *named("binned_statistic binned_statistic_2d binned_statistic_dd"),
    because=(
        "its result is an object of its own: find the bins with np.digitize, and add up with np.bincount(bins, "
        "weights), or use scipy.ndimage.mean with the bins for labels"
    ),
)

missing_rules(
    *named("cumfreq relfreq"),
    because="it counts in bins that depend on the smallest and the largest number: use np.histogram",
)

missing_rules(
    *named("wasserstein_distance_nd"),
    because="it is the optimum of a linear program: use scipy.optimize.linprog, which has rules",
)

missing_rules(
    *named("weightedtau"),
    because="it is a correlation of ranks, which is constant: call it with the values (ignore_derivatives)",
)

missing_rules(
    *named("fligner"),
    because="it ranks distances from medians, of which some are equal: call it with the values (ignore_derivatives)",
)
