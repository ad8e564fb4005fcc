"""The operators: functions of our own, with rules, for what AD systems differentiate slowly or not at all.

It is ``rules.operators`` by a name that nobody else has, imported when something of it is asked for.
"""

from typing import TYPE_CHECKING

from rulescore.shipped import door

if TYPE_CHECKING:
    from rules.operators import *  # noqa: F403
    from rules.operators import __all__ as __all__

__getattr__, __dir__ = door(__name__, "rules.operators")
