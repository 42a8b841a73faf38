"""Imports a Free Context database into a project. Only `reader` knows its schema."""
