"""Search: the index on both engines, queries, ranking, excerpts."""
