"""Leaks as careless code has them: noise, vectors, learning, services, and what stands beside a private number."""
