"""Accountants: brackets of the true epsilon, and the check that holds an accountant to them."""
