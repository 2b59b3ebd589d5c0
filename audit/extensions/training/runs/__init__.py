"""Training runs: the record of one, and its comparison with the claim."""
