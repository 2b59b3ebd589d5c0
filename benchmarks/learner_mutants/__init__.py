"""Mutations of the fit, predict and release bodies of the five papers' learners, each with what must notice it."""
