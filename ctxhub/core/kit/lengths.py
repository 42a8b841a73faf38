"""Lengths of columns, in characters, which models share with the checks of what calls send."""

SESSION_NAME_LENGTH = 100
PATH_LENGTH = 1_000
