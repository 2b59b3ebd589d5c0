"""Check privacy claims about objects that answer, keep a budget, and are asked again by who has read the answers."""
