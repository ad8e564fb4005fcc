"""Checks of many functions: the command line, pytest, and properties by hypothesis."""
