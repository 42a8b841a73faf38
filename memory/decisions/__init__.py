"""Decisions: versioned values with their reasons, and templates for them."""
