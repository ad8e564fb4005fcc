"""The right rules, one module a chapter of mathematics."""
