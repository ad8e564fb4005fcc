"""Numbers, trees, and objects by their fields."""
