"""The empirical engine: scorers, events, the guess game, and what it would have caught."""
