"""choix: models of choices, rankings and comparisons."""

import choix

WINS = [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (3, 1), (2, 3)]


def probabilities(params=(0.1, 0.5, -0.3, 0.2)):
    """choix.probabilities"""
    return choix.probabilities([0, 1, 3], params)


def pairwise(params=(0.1, 0.5, -0.3, 0.2)):
    """choix.log_likelihood_pairwise"""
    return choix.log_likelihood_pairwise(WINS, params)


def rankings(params=(0.1, 0.5, -0.3, 0.2)):
    """choix.log_likelihood_rankings"""
    return choix.log_likelihood_rankings([[0, 2, 1], [3, 1, 2]], params)


def spectral(counts=((0.0, 2.0, 1.5), (1.0, 0.0, 2.5), (1.2, 0.7, 0.0))):
    """choix.lsr_pairwise_dense"""
    return choix.lsr_pairwise_dense(counts)
