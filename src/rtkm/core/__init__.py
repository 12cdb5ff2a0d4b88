"""The engine of a fit: checked rows, the words of `Table`, iterates and the loop."""
