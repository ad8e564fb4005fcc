"""What stands in the place of an array, which differentiation takes a call, what its rule sees and returns."""
