"""What was found: as data, on the terminal and on a page."""
