"""The command line: parsing and calling, nothing else.

`main` takes the arguments and returns an exit code. Every command has a file of its
name, with `add`, which declares its arguments, and `run`.
"""
