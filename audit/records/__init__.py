"""Hold checks as plain data, and say how they are shown: in words, in parts of a page, and in plots."""
