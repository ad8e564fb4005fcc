"""Entries that are kept by their results: variables beneath their public functions."""
