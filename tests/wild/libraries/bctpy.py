"""bctpy: networks of the brain."""

import bct
import numpy as np

_RANDOM = np.random.default_rng(0).uniform(0.1, 1.0, (6, 6))
NETWORK = (_RANDOM + _RANDOM.T) / 2 * (1 - 0.95 * np.eye(6))


def clustering(W=NETWORK):
    """bct.clustering_coef_wu"""
    return bct.clustering_coef_wu(W)


def transitivity(W=NETWORK):
    """bct.transitivity_wu"""
    return bct.transitivity_wu(W)


def pagerank(A=NETWORK, d=0.85):
    """bct.pagerank_centrality"""
    return bct.pagerank_centrality(A, d)


def participation(W=NETWORK):
    """bct.participation_coef"""
    return bct.participation_coef(W, np.array([1, 1, 2, 2, 3, 3]))


def path_length(W=NETWORK):
    """bct.efficiency_wei"""
    return bct.efficiency_wei(W)


def first_passage(W=NETWORK):
    """bct.mean_first_passage_time"""
    return bct.mean_first_passage_time(W)


def strengths(W=NETWORK):
    """bct.strengths_und"""
    return bct.strengths_und(W)


def shortest_paths(W=NETWORK):
    """bct.distance_wei"""
    return bct.distance_wei(W)[0]
