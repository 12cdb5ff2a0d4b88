"""The paper, re-run: its experiments, one module each."""
