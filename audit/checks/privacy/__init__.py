"""Check privacy claims: gather evidence, judge it, state the result."""
