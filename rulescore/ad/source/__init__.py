"""The source of functions: where a function is defined, and what it is with its calls made known to somebody."""
