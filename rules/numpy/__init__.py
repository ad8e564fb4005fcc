"""Rules for NumPy; importing this package registers all of them."""
