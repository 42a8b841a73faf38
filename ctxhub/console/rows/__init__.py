"""The lists of the admin: a row for each object, filters with counts, their order, steps from row to row."""
