"""One folder for each of the five papers: its algorithms, its statements as checks, and its faults."""
