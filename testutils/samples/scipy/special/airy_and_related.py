"""Sample inputs for Airy's, Kelvin's, Struve's and the parabolic cylinder functions."""

from __future__ import annotations

from scipy import special

from .tables import ANY, POSITIVE, between, in_the_plane, register, register_all, whole

FEW_DIGITS = {"larger": "there SciPy's values have fewer digits than a finite difference needs"}
FEW_DIGITS_FAR_OUT = dict.fromkeys(("larger", "larger, negated", "thousandfold"), FEW_DIGITS["larger"])

register(special.airy, ANY, plane=in_the_plane())
register(
    special.airye,
    POSITIVE,
    single=dict.fromkeys(
        ("larger", "thousandfold"), "the slopes are differences there, which float32 has few digits of"
    ),
)
register(
    special.itairy, ANY, single=False, _rtol=1e-4, _skip=FEW_DIGITS
)  # to five digits or so, by a series and an asymptotic one
register_all((special.ber, special.bei, special.berp, special.beip), ANY, _skip=FEW_DIGITS)
register_all((special.ker, special.kei, special.kerp, special.keip, special.kelvin), POSITIVE, _skip=FEW_DIGITS)
register_all((special.struve, special.modstruve), whole(0, 3), POSITIVE)
register(
    special.itstruve0,
    POSITIVE,
    single=False,
    _skip={**FEW_DIGITS_FAR_OUT, "larger, negated": "left of -30 SciPy's value is that of another formula, wrong by 2"},
)
register_all((special.it2struve0, special.itmodstruve0), POSITIVE, single=False, _skip=FEW_DIGITS_FAR_OUT)
register(special.pbdv, whole(0, 3), ANY, _skip=FEW_DIGITS)
register(
    special.pbvv,
    whole(0, 3),
    ANY,
    _skip={**FEW_DIGITS, "larger, negated": "far to the left SciPy's values are wrong by many powers of ten"},
)
register(special.pbwa, whole(0, 2), between(-2.0, 2.0))
