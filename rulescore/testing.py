"""The testers: tools to prove rules right, finite differences, random tangents and sample inputs.

It is the package ``testutils`` by a name that nobody else has, imported when something of it is asked for.
"""

from typing import TYPE_CHECKING

from rulescore.shipped import door

if TYPE_CHECKING:
    from testutils import *  # noqa: F403
    from testutils import __all__ as __all__
    from testutils import strategies as strategies

__getattr__, __dir__ = door(__name__, "testutils", "strategies")
