"""Change the code by one expression at a time, and see whether a test or a check notices."""
