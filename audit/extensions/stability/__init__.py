"""Stability maps: transformations without noise, held to the distances and domains that they claim."""
