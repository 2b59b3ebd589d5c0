"""Interactive mechanisms: searches for the worst analyst, costs of a conversation, real libraries."""
