"""What becomes of warnings within a check, whatever other threads do meanwhile.

Before Python 3.14, `warnings.catch_warnings` changes the filters of all threads, and restores what it found: of two
threads that overlap, the last one leaves behind the filters of the first. So here the filters of all threads say no
more than that each thread decides.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Literal

Action = Literal["ignore", "error"]

_decided: ContextVar[tuple[tuple[Action, type[Warning]], ...]] = ContextVar("_decided", default=())
"""The innermost decision first."""


class _Decided(type):
    """Metaclass of categories: a warning belongs to one where the thread has decided on this action for it."""

    action: Action

    def __subclasscheck__(cls, category: type) -> bool:
        return next((action for action, of in _decided.get() if issubclass(category, of)), None) == cls.action


class _Ignored(Warning, metaclass=_Decided):
    action = "ignore"


class _Raised(Warning, metaclass=_Decided):
    action = "error"


_lock = threading.Lock()
_filters = contextlib.ExitStack()
_count = 0
"""How many checks the filters are there for."""


@contextlib.contextmanager
def warnings_here(action: Action, category: type[Warning] = Warning) -> Iterator[None]:
    """Within, warnings of a category that this thread gives are ignored or raised, as `warnings.simplefilter` says."""
    if getattr(sys.flags, "context_aware_warnings", False):
        with warnings.catch_warnings():
            warnings.simplefilter(action, category)
            yield
        return
    token = _decided.set(((action, category), *_decided.get()))
    _enter()
    try:
        yield
    finally:
        _leave()
        _decided.reset(token)


def _enter() -> None:
    global _count
    with _lock:
        if not _count:
            _filters.enter_context(warnings.catch_warnings())
            for kind in (_Ignored, _Raised):
                warnings.simplefilter(kind.action, kind)
        _count += 1


def _leave() -> None:
    global _count
    with _lock:
        _count -= 1
        if not _count:
            _filters.close()
