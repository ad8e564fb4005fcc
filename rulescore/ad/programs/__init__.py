"""Other people's programs, run as they are with differentiated values in them."""
