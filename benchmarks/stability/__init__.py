"""Searches for broken stability maps: in a library's transformations, and in a pipeline with seeded faults."""
