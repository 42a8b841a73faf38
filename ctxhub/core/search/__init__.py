"""Search: the index on both engines, questions, ranking, excerpts."""
