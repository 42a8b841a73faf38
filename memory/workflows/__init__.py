"""Workflows: pieces of work that several agents share scratchpads for."""
