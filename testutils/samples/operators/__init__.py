"""Sample inputs for the rules of `rules.operators`."""

from __future__ import annotations
