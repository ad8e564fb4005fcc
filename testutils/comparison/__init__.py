"""Whether two values are alike, whether a tangent fits its primal, and when numbers agree."""
