"""What people see of a project's knowledge."""

from memory.admin import decisions, overview

__all__ = ["decisions", "overview"]
