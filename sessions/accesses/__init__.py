"""Accesses of sessions to files, and dependencies between files."""
