"""What is known of a derivative without its rule: finite differences that know their own error."""
