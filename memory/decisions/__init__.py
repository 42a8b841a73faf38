"""Decisions: versioned values with their reasons, and the templates that they begin with."""
