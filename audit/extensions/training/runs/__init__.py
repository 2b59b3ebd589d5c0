"""Training runs: what is recorded of one, and its comparison with the claim."""
