"""Record, walk back, push forward."""
