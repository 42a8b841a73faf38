"""Imports databases of WakeIQX, of which only the summaries of contexts are stored."""
