"""A package with a counter in it."""
