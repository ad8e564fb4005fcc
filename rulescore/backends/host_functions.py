"""What an adapter starts from that somebody writes for one more system; it lives in `rulescore.backends.host`."""

from __future__ import annotations

from rulescore.backends.host.calls import HostCall
from rulescore.backends.host.finding import Calls
from rulescore.backends.host.functions import HostFunction

__all__ = ["Calls", "HostCall", "HostFunction"]
