"""What errors say, and which line of the user's code they name."""
