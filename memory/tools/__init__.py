from memory.tools import constraints, decisions, templates

__all__ = ["constraints", "decisions", "templates"]
