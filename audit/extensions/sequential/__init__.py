"""Play the guess game step by step, until it is decided; and early, at what is slow to call."""
