"""Sample inputs for the shipped rules, laid out like ``rules``."""
