"""Comparisons: several implementations of one claim, audited in one run and put side by side."""
