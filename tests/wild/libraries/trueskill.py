"""trueskill: ratings of players."""

import trueskill


def duel(mu=25.0, sigma=7.0):
    """trueskill.rate_1vs1"""
    winner, loser = trueskill.rate_1vs1(trueskill.Rating(mu, sigma), trueskill.Rating(28.0, 5.0))
    return winner.mu, winner.sigma, loser.mu, loser.sigma


def teams(mu=(25.0, 27.0, 24.0)):
    """trueskill.rate"""
    a, b, c = [trueskill.Rating(m, 5.0) for m in mu]
    (ra, rb), (rc,) = trueskill.rate([(a, b), (c,)], ranks=[1, 0])
    return ra.mu, rb.mu, rc.mu


def quality(mu=25.0, sigma=7.0):
    """trueskill.quality_1vs1"""
    return trueskill.quality_1vs1(trueskill.Rating(mu, sigma), trueskill.Rating(28.0, 5.0))


def exposed(mu=25.0, sigma=7.0):
    """trueskill.expose"""
    return trueskill.expose(trueskill.Rating(mu, sigma))
