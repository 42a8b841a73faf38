"""Scratchpads: texts that many agents write to at once, in workflows."""
