"""Many directions at once, and the rules of batching."""
