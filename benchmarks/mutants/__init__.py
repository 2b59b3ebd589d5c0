"""Change the code by one expression at a time, and see whether a check or a test notices."""
