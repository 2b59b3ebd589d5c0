"""Tables of what is proved of, and what attacks show about, private learning via stability."""
