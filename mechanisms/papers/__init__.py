"""Five research papers, a folder each: every numbered algorithm in a file of its own, with its claims."""
