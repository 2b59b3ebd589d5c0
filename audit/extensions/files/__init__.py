"""Audit outputs, scores and counts that were drawn elsewhere."""
