"""Memories, the contexts they belong to, and the relationships between all nouns."""
