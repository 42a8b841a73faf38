"""Connects the signal receivers of all nouns."""

import memory.constraints.history
import memory.relationships.history
