"""Importing the frameworks, which are optional."""

from __future__ import annotations

import importlib
from typing import Any


def framework(name: str, extra: str) -> Any:
    """A framework's module.

    Raises
    ------
    ImportError
        When it is not installed; the message names the extra that brings it.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"rulescore.backends.{extra} needs {name}, which cannot be imported ({error}). Install it with "
            f"pip install 'rulescore[{extra}]'",
            name=name,
        ) from error
