"""Short cuts, which override the engine and the tracers, mean the same, and can be left out."""
