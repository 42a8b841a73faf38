"""Vocabulary: the tags, scopes, categories and layers by which a project classifies its objects."""
