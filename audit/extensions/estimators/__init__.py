"""Audit scikit-learn style estimators as their users call them, with all that a fit lets out."""
