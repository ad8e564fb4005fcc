"""Texts of differentiated values: a number that is read from one has lost its derivative."""

from __future__ import annotations

from typing import Any

from rulescore.ad.messages.errors import TracerConversionError


class TextOfTracer(str):
    """A text in which a differentiated value was written."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return text_of(str.__add__(self, other), True)

    def __radd__(self, other: Any) -> Any:
        return text_of(other + str(self), True) if isinstance(other, str) else NotImplemented


def text_of(text: Any, is_of_tracer: bool) -> Any:
    """A text, or a list of texts, marked where it is of a differentiated value."""
    if not is_of_tracer:
        return text
    if isinstance(text, (list, tuple)):
        return type(text)([text_of(part, True) for part in text])
    return TextOfTracer(text) if isinstance(text, str) else text


def is_of_tracer(x: Any) -> bool:
    """Whether something is such a text, or a list or tuple with one."""
    if isinstance(x, (list, tuple)):
        return any(map(is_of_tracer, x))
    return type(x) is TextOfTracer


def joined(*parts: str) -> str:
    """The text of an f-string."""
    text: str = text_of("".join(parts), is_of_tracer(parts))
    return text


def check_text(x: Any) -> Any:
    """Refuse to read a number from the text of a differentiated value; anything else is returned."""
    if is_of_tracer(x):
        raise TracerConversionError(
            f"a value that is being differentiated was written into the text {str(x)!r}, from which a number was about "
            "to be read, which would have lost its derivative: compute with the value itself. If its "
            "derivative is not wanted here, write ignore_derivatives(x)"
        )
    return x
