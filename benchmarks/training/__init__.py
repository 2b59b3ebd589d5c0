"""Training runs: a correct DP-SGD in NumPy, the same loop with one known fault each, and what convicts them."""
