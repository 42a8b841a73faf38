"""What people see of a project's knowledge."""

from memory.admin import constraints, decisions, overview, templates

__all__ = ["constraints", "decisions", "overview", "templates"]
