"""Call the code under audit, and describe where it is from."""
