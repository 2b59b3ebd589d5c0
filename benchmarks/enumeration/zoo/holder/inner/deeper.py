"""A part of a part."""

y = 0
