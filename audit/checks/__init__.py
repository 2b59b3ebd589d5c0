"""The kinds of checks of privacy, precision, randomness and utility, and the base of every kind."""
