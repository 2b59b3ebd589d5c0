"""Read outputs of any type: as numbers and symbols, as columns, as fingerprints."""
