"""The command `dp-audit conformance`, the saved tables of libraries, and their page."""
