"""blackscholes: calculators of options."""

from blackscholes import Black76Call, BlackScholesCall, BlackScholesPut, BlackScholesStraddleLong


def call(S=55.0, K=50.0, T=1.0, r=0.0025, sigma=0.15):
    """blackscholes.BlackScholesCall.price"""
    return BlackScholesCall(S=S, K=K, T=T, r=r, sigma=sigma).price()


def greeks(S=55.0, sigma=0.15):
    """blackscholes.BlackScholesPut.get_all_greeks"""
    return list(BlackScholesPut(S=S, K=50.0, T=1.0, r=0.0025, sigma=sigma).get_all_greeks().values())


def future(F=55.0, sigma=0.15):
    """blackscholes.Black76Call.delta"""
    option = Black76Call(F=F, K=50.0, T=1.0, r=0.0025, sigma=sigma)
    return option.price(), option.delta()


def straddle(S=55.0, sigma=0.15):
    """blackscholes.BlackScholesStraddleLong.price"""
    return BlackScholesStraddleLong(S=S, K=50.0, T=1.0, r=0.0025, sigma=sigma).price()
