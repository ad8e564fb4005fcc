"""Fewer lines that show the same problem."""

from __future__ import annotations

from collections.abc import Callable


def reduced(text: str, shows: Callable[[str], bool], most: int = 150) -> str:
    """The text without each line, and run of lines, that it shows the problem without; after ``most`` trials, so far.

    Parameters
    ----------
    text : str
        A text for which ``shows`` is true.
    shows : callable
        Whether a text shows the problem; false also of what is no program any more.
    most : int
        How many texts are tried at most.
    """
    lines = text.split("\n")
    size = len(lines) // 2
    while size:
        start, has_changed = 0, False
        while start < len(lines) and most:
            fewer = [*lines[:start], *lines[start + size :]]
            most -= 1
            if shows("\n".join(fewer)):
                lines, has_changed = fewer, True
            else:
                start += size
        size = size if has_changed and size == 1 and most else size // 2
    return "\n".join(lines)
