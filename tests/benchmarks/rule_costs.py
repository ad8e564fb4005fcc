"""Why some pullbacks cost more than `MUCH` times the primal."""

from __future__ import annotations

REASONS: dict[str, str] = {}
