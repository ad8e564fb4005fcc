"""Texts of differentiated values: a number that is read from one has lost its derivative."""

from __future__ import annotations

from typing import Any

from rulescore.ad.messages.errors import TracerConversionError


class TextOfTracer(str):
    """A text in which a differentiated value was written."""

    __slots__ = ()


def text_of(text: str, is_of_tracer: bool) -> str:
    """A text, marked where it is one of a differentiated value."""
    return TextOfTracer(text) if is_of_tracer else text


def check_text(x: Any) -> None:
    """Refuse to read a number from the text of a differentiated value."""
    if type(x) is TextOfTracer:
        raise TracerConversionError(
            f"a value that is being differentiated was written into the text {str(x)!r}, from which a number was about "
            "to be read, which would have lost its derivative: compute with the value itself, np.round(x, digits) to "
            "round it. If its derivative is not wanted here, write ignore_derivatives(x)"
        )
