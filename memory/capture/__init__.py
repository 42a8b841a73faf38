"""Capture: saves a text as a memory if it is worth keeping and new."""
