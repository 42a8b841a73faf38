"""Constraints: what must hold, for which paths, how urgently and why."""
