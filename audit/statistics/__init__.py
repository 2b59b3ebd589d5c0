"""Bounds and tests with finite-sample guarantees, without a check."""
