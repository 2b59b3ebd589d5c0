"""Privacy claims: the check, what it gathers, and how it is judged."""
