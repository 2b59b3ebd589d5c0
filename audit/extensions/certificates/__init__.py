"""Compare certificates, and state their results for signing tools."""
