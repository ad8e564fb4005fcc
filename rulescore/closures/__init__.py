"""Closure conversion: rules see arguments, and here what functions captured becomes one."""

from rulescore.closures.captures import Closure, substituted
from rulescore.closures.explicit_calls import ExplicitCall, UnseenCaptureError, calls_back, handed_over, made_explicit

__all__ = [
    "Closure",
    "ExplicitCall",
    "UnseenCaptureError",
    "calls_back",
    "handed_over",
    "made_explicit",
    "substituted",
]
