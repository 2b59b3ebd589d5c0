"""Audit the bits of floating-point outputs."""
