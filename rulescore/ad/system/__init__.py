"""The storeys put together."""
