"""Many methods side by side on one table."""
