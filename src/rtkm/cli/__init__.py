"""Behind the command line: tables in, prepared rows to the models, answers out.

`read_table` reads a file into a `Sheet`, `prepare` makes numbers of it, and
`write_answers` writes the rows back with what was found. What is wrong with a file is
an `InputError`, whose message is written for the person who caused it.
"""
