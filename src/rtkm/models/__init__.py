"""A fitted model as a file."""
