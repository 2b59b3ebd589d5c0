"""Choose events on training outputs, and plant violations in them."""
