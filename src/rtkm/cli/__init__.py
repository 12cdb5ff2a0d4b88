"""The command line: tables in, prepared rows to the models, answers out.

`main` takes the arguments and returns an exit code. Every command has a file of its
name, with `add`, which declares its arguments, and `run`. `read_table` reads a file
into a `Sheet`, `prepare` makes numbers of it, `find` puts what a model found into one
dictionary, which the terminal, the report and `--json` share, and `write_answers`
writes the rows back with what was found. What is wrong with a file is an `InputError`,
whose message is written for the person who caused it.
"""
