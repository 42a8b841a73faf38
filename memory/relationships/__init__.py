"""Relationships between objects of any kind."""
