"""Look for released seeds."""
