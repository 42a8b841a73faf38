"""Contexts: named containers of memories."""
