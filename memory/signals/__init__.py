from memory.signals import constraints, decisions, templates

__all__ = ["constraints", "decisions", "templates"]
