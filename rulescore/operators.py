"""The operators: functions of our own, with rules, for what AD systems differentiate slowly or not at all.

It is ``rules.operators`` by a name that nobody else has, imported when something of it is asked for.
"""

from typing import TYPE_CHECKING, Any

from rulescore.shipped import import_shipped

if TYPE_CHECKING:
    from rules.operators import *  # noqa: F403
    from rules.operators import __all__ as __all__


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":  # what the import system asks for
        raise AttributeError(name)
    ours = import_shipped("rules.operators")
    if name != "__all__" and name not in ours.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(ours, name)


def __dir__() -> list[str]:
    return sorted(import_shipped("rules.operators").__all__)
