from memory.tools import constraints, contexts, decisions, memories, relationships, scratchpads, templates

__all__ = ["constraints", "contexts", "decisions", "memories", "relationships", "scratchpads", "templates"]
