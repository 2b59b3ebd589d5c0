"""Run other public auditors on the outputs that this one gets, and count what each finds, misses, and accuses."""
