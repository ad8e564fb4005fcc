"""Functions of our own with rules: pooling over segments, distances of sets, rotary embedding, and neural operations."""

from __future__ import annotations
