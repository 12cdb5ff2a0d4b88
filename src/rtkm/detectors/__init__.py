"""One detector a file."""
