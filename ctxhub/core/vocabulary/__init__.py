"""Vocabulary: the tags, scopes, categories and layers that a project sorts its knowledge by."""
