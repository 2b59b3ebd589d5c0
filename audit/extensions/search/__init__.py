"""Search datasets and parameters for the case that breaks a claim."""
