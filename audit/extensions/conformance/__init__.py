"""Ask every library the same queries in the same cases, by a command; save the tables, and show them on a page."""
