from memory.tools import decisions

__all__ = ["decisions"]
