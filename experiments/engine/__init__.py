"""How cells are run and kept, and what is measured in them."""
