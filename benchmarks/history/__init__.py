"""What asv times at every commit it is asked for; `make asv` times this one."""
