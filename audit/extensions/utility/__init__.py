"""Utility theorems as checks: inequalities, guarantees, consistency, rates, lower bounds."""
