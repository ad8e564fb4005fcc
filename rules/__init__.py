"""Derivative rules, in folders that mirror the namespaces they cover."""
