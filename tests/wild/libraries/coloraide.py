"""coloraide: colours in pure Python."""

from coloraide import Color


def oklch(r=0.2, g=0.5, b=0.7):
    """coloraide.Color.convert"""
    return Color("srgb", [r, g, b]).convert("oklch").coords()


def lab(r=0.2, g=0.5, b=0.7):
    """coloraide.Color.convert(lab-d50)"""
    return Color("srgb", [r, g, b]).convert("lab").coords()


def difference(r=0.2, g=0.5, b=0.7):
    """coloraide.Color.delta_e"""
    return Color("srgb", [r, g, b]).delta_e(Color("orange"), method="2000")


def contrast(r=0.2, g=0.5, b=0.7):
    """coloraide.Color.contrast"""
    return Color("srgb", [r, g, b]).contrast("white")


def mixed(r=0.2, g=0.5, b=0.7, share=0.3):
    """coloraide.Color.mix"""
    return Color("srgb", [r, g, b]).mix(Color("srgb", [0.9, 0.2, 0.1]), share, space="oklab").coords()
