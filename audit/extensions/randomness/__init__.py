"""Check that the outputs of a mechanism are independent."""
