"""Play the guess game step by step, until it is decided; and early, where calls are slow."""
