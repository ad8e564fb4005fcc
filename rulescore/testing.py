"""The testers: tools to prove rules right, finite differences, random tangents and sample inputs.

It is the package ``testutils`` by a name that nobody else has, imported when something of it is asked for.
"""

from typing import TYPE_CHECKING, Any

from rulescore.shipped import import_shipped

if TYPE_CHECKING:
    from testutils import *  # noqa: F403
    from testutils import __all__ as __all__
    from testutils import strategies as strategies


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":  # what the import system asks for
        raise AttributeError(name)
    if name == "strategies":
        return import_shipped("testutils.strategies")
    ours = import_shipped("testutils")
    if name != "__all__" and name not in ours.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(ours, name)


def __dir__() -> list[str]:
    return sorted(import_shipped("testutils").__all__)
