"""Canaries: records planted in training data, and the bounds that guesses about them give."""
