"""Programs that were written to break the enumeration, each with its true law by independent computation."""
