"""From a file to numbers and back.

`read_table` reads a file into a `Sheet`, `prepare` makes numbers of it: it chooses
columns, treats missing values and scales. `write_answers` writes the rows back with
what was found. Nothing here knows of the command line. What is wrong with a table is an
`InputError`, whose message is written for the person who caused it.
"""
