"""Registers the tools of all nouns, in the order in which help lists them."""

# ruff: noqa: I001
import memory.constraints.tools
import memory.memories.tools
import memory.capture.tools
import memory.grep.tools
import memory.contexts.tools
import memory.relationships.tools
import memory.decisions.tools
import memory.templates.tools
import memory.scratchpads.tools
import memory.snapshots.tools
import memory.predictions.tools
