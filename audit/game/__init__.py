"""Play the guess game: scorers choose events on training outputs, and exact tests certify them on fresh ones."""
