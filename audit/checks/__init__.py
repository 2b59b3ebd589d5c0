"""The check of privacy claims, and the base of every kind of check."""
