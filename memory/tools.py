"""Registers the tools of all nouns, in the order in which help lists them."""

# ruff: noqa: I001
import memory.constraints.tools
import memory.memories.tools.contexts
import memory.memories.tools.memories
import memory.memories.tools.captures
import memory.memories.tools.grep
import memory.memories.tools.relationships
import memory.decisions.tools
import memory.templates.tools
import memory.scratchpads.tools
import memory.snapshots.tools.snapshots
import memory.snapshots.tools.causes
import memory.snapshots.tools.predictions
