"""What the paper says, what was found, and whether they agree."""
