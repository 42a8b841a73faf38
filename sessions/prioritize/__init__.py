"""Chooses which files of a session fit into a token budget, and in which form."""
