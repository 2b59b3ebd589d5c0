"""The kinds of checks of privacy, precision, randomness and utility, and what every kind shares."""
