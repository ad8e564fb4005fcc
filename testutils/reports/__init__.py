"""What was found, as text, as HTML and as pictures."""
