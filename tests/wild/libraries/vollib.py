"""vollib: prices of options and their volatility."""

from vollib.black import black
from vollib.black_scholes import black_scholes
from vollib.black_scholes.greeks import analytical
from vollib.black_scholes.implied_volatility import implied_volatility
from vollib.black_scholes_merton import black_scholes_merton


def price(S=100.0, K=95.0, t=0.5, r=0.03, sigma=0.25):
    """vollib.black_scholes.black_scholes"""
    return black_scholes("c", S, K, t, r, sigma)


def vega(S=100.0, K=95.0, t=0.5, r=0.03, sigma=0.25):
    """vollib.black_scholes.greeks.analytical.vega"""
    return analytical.vega("c", S, K, t, r, sigma)


def future(F=100.0, K=95.0, sigma=0.25, r=0.03, t=0.5):
    """vollib.black.black"""
    return black("p", F, K, t, r, sigma)


def dividends(S=100.0, q=0.02, sigma=0.25):
    """vollib.black_scholes_merton.black_scholes_merton"""
    return black_scholes_merton("p", S, 95.0, 0.5, 0.03, sigma, q)


def implied(price=11.0, S=100.0):
    """vollib.black_scholes.implied_volatility.implied_volatility"""
    return implied_volatility(price, S, 95.0, 0.5, 0.03, "c")
