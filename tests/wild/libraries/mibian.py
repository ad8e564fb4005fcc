"""mibian: prices of options."""

import mibian


def black_scholes(underlying=1.4565, strike=1.45, interest=1.0, days=30.0, volatility=20.0):
    """mibian.BS"""
    option = mibian.BS([underlying, strike, interest, days], volatility=volatility)
    return option.callPrice, option.putPrice, option.vega


def garman_kohlhagen(underlying=1.4565, volatility=20.0):
    """mibian.GK"""
    option = mibian.GK([underlying, 1.45, 1.0, 2.0, 30.0], volatility=volatility)
    return option.callPrice, option.callDelta


def merton(underlying=52.0, volatility=25.0):
    """mibian.Me"""
    option = mibian.Me([underlying, 50.0, 1.0, 1.0, 30.0], volatility=volatility)
    return option.putPrice, option.gamma
