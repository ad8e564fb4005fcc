"""radioactivedecay: chains of radioactive decay."""

import radioactivedecay as rd


def decay(activity=2.0, hours=20.0):
    """radioactivedecay.Inventory.decay"""
    return list(rd.Inventory({"Mo-99": activity}, "Bq").decay(hours, "h").activities("Bq").values())[:2]


def cumulative(hours=10.0):
    """radioactivedecay.Inventory.cumulative_decays"""
    return list(rd.Inventory({"I-123": 2.4}, "Bq").cumulative_decays(hours, "h").values())


def masses(amount=3.0):
    """radioactivedecay.Inventory.masses"""
    return list(rd.Inventory({"Cs-137": amount, "Sr-90": 1.0}, "mol").masses("g").values())
