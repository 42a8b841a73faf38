"""Briefings: what an agent should know when it begins, and before it edits files."""
