"""The rows of memories as dataclasses."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Derived, Table
from ctxhub.core.paths.rows import PathRow, staleness
from memory.memories.models.memory import Difficulty, Memory, MemoryType


@frozen(kw_only=True)
class MemoryRow(PathRow):
    """`digest` and `tokens` derive from title and content; both are computed outside the write lock.

    `revision`: the number of the current title and content.
    """

    title: str
    context: str = ""
    context_id: int = 0
    digest: str = ""
    tokens: int = 0
    revision: int = 1
    type: int = MemoryType.NOTE
    difficulty: int | None = None
    stack: str = ""
    tags: Sequence[str] = ()
    content: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def revision_with(self, title: str, content: str) -> int:
        """The number of the revision with this title and content: the next one if either differs."""
        return self.revision + ((title, content) != (self.title, self.content))

    @property
    def type_label(self) -> str:
        return str(MemoryType(self.type).label)

    @property
    def difficulty_label(self) -> str | None:
        return str(Difficulty(self.difficulty).label) if self.difficulty else None


MEMORIES = Table(
    Memory,
    MemoryRow,
    derived={"folded_stack": Derived(of=["stack"], value=lambda row: row.stack.casefold())},
    computed=staleness("memory"),
)

# The columns that lists read: no contents.
LISTED = tuple(name for name in MEMORIES.fields if name not in ("content", "paths", "metadata"))
