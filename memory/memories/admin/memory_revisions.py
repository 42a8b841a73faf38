"""The revisions of a memory, for their page."""

from functools import partial
from typing import TYPE_CHECKING

from ctxhub.core.admin.revisions import Revisions
from memory.memories.models.memory import Memory
from memory.memories.selectors.memories import get_memory
from memory.memories.selectors.revisions import find_state, find_states

if TYPE_CHECKING:
    from memory.memories.sql.revisions import State


def revisions_of(memory: Memory) -> "Revisions[State]":
    """Title and content are compared as one text."""
    row = get_memory(memory.project_id, memory.pk)
    return Revisions(
        project_id=memory.project_id,
        present=row.revision,
        find=partial(find_states, memory.project_id, row),
        read=partial(find_state, memory.project_id, row),
        text=lambda state: as_text(state.title, state.content),
        change=lambda state: "added" if state.revision == 1 else "changed",
        size=lambda state: state.tokens,
        unit="tokens",
    )


def as_text(title: str, content: str) -> str:
    return f"{title}\n\n{content}"
