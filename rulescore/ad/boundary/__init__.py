"""What crosses between the caller and a differentiation."""
