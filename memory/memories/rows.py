"""The rows of memories as dataclasses."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Derived, Table
from ctxhub.core.paths.rows import PathRow, staleness
from ctxhub.core.text.front_matter import title_in_front_matter
from ctxhub.core.text.sentences import in_one_line, paragraphs, sentence_at, shortened
from ctxhub.core.text.token_count import count_tokens
from memory.memories.models import Difficulty, Memory, MemoryType

# A longer first sentence is truncated, so that even a list of twenty costs few tokens.
SENTENCE_CHARACTERS = 100
CUT_CHARACTERS = 77


def digest_of(title: str, content: str) -> str:
    """The first sentence outside code, on one line, truncated if long; the title if the content has none.

    What only repeats the title, as a heading often does, is passed over.
    """
    titles = {in_one_line(known).casefold() for known in (title, title_in_front_matter(content))}
    line = next((line for line in paragraphs(content) if line.casefold() not in titles), "")
    return _shortened(sentence_at(line, 0, 2 * SENTENCE_CHARACTERS) if line else in_one_line(title))


def tokens_of(title: str, content: str) -> int:
    return count_tokens(title) + count_tokens(content)


def _shortened(sentence: str) -> str:
    return sentence if len(sentence) < SENTENCE_CHARACTERS else shortened(sentence, CUT_CHARACTERS)


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
