"""What writes to arrays, and what shares their memory."""
