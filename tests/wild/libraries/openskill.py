"""openskill: ratings of players in teams."""

from openskill.models import BradleyTerryFull, PlackettLuce, ThurstoneMostellerPart


def plackett_luce(mu=(25.0, 27.0, 24.0), sigma=(8.0, 6.0, 5.0)):
    """openskill.models.PlackettLuce.rate"""
    model = PlackettLuce()
    teams = [[model.rating(mu=m, sigma=s)] for m, s in zip(mu, sigma, strict=True)]
    return [[team[0].mu, team[0].sigma] for team in model.rate(teams)]


def bradley_terry(mu=(25.0, 27.0, 24.0)):
    """openskill.models.BradleyTerryFull.rate"""
    model = BradleyTerryFull()
    return [team[0].mu for team in model.rate([[model.rating(mu=m, sigma=6.0)] for m in mu])]


def thurstone_mosteller(mu=(25.0, 27.0, 24.0)):
    """openskill.models.ThurstoneMostellerPart.predict_win"""
    model = ThurstoneMostellerPart()
    return model.predict_win([[model.rating(mu=m, sigma=6.0)] for m in mu])


def draw(mu=(25.0, 27.0)):
    """openskill.models.PlackettLuce.predict_draw"""
    model = PlackettLuce()
    return model.predict_draw([[model.rating(mu=m, sigma=6.0)] for m in mu])
