"""REST views of memories and of their searches."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.hub.outlines import Outline
from ctxhub.core.kit.caller import WRITE
from ctxhub.rest.answers import in_parts, joined, written
from ctxhub.rest.operations import CREATED, deletes, lists, reads, shows, writes
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About, LinesOfHit, SizeOfHit, StaleChanges
from memory.memories import services
from memory.memories.queries import (
    ORDERS,
    ListedMemory,
    Memory,
    TypeLabel,
    get_memory,
    list_memories,
    memory_item,
)
from memory.memories.revisions import ListedMemoryRevision, OneMemoryRevision, list_revisions, revision_item
from memory.memories.services import delete_memory

OutlinedMemory = joined("Memory", Memory, Outline)
AddedMemory = written("AddedMemory", services.AddAnswer, Memory)
ReplacedMemory = written("ReplacedMemory", services.ReplaceAnswer, Memory)
ChangedMemory = written("ChangedMemory", services.UpdateAnswer, Memory)


class MemoryHit(services.SimilarMemory):
    excerpt: Annotated[str, About("What of it answers.")]
    type: TypeLabel
    context: str
    stack: str
    tokens: Annotated[int, About("What title and excerpt cost.")]
    lines: NotRequired[LinesOfHit | None]
    size: NotRequired[SizeOfHit | None]
    stale: NotRequired[StaleChanges | None]


class SearchMeta(TypedDict):
    search_method: Annotated[str, About("any, or corrected where words were put right.")]
    excerpt_strategy: str


class Hits(TypedDict):
    next: Annotated[str | None, About("Null where there is no further page: ask for more with `limit`.")]
    count: Annotated[int, About("How many items there are.")]
    omitted: NotRequired[Annotated[int, About("Left out to keep to `max_tokens`.")]]
    hint: NotRequired[Annotated[str, About("What the filters name that is not there.")]]


class MemorySearchAnswer(Hits):
    items: Annotated[list[MemoryHit], About("Best first.")]
    total: Annotated[int, About("How many memories answer, counted to 1,000.")]
    more: NotRequired[Annotated[bool, About("There are more than `total`.")]]
    total_tokens: Annotated[int, About("What titles and excerpts cost together.")]
    avg_tokens: int
    meta: SearchMeta
    did_you_mean: NotRequired[Annotated[str, About("The question without its slips.")]]


class NearMemory(services.SimilarMemory):
    excerpt: str
    distance: Annotated[int, About("The edits of all words together.")]


class FuzzyAnswer(Hits):
    items: Annotated[list[NearMemory], About("The nearest first.")]


class MemoryViewSet(ProjectViewSet):
    scopes = {"destroy": WRITE}
    kind = "memory"

    def item(self, memory_id: int) -> dict[str, Any]:
        return memory_item(get_memory(self.project_id, memory_id))

    list = lists(
        takes("memory", "list"),
        ListedMemory,
        by=list_memories,
        orders=(ORDERS, "-updated"),
        says="Memories that pass every filter, newest first, by their digests.",
    )
    create = writes(
        takes("memory", "add"),
        AddedMemory,
        statuses=CREATED,
        says="Keep something in a context; a new name makes one. It is stored whatever is there.",
    )
    retrieve = shows(
        takes("memory", "get", at="id"),
        in_parts(OutlinedMemory),
        says="One memory, whole, or some lines or the headings of its content.",
    )
    update = writes(
        takes("memory", "add", name="ReplaceMemory"),
        ReplacedMemory,
        by=services.replace_memory,
        says="Make a memory what the body says and nothing else. What is left out goes back to its default: "
        "the context to general, the type to note, the rest is empty. A new name of a context makes one.",
    )
    partial_update = writes(
        takes("memory", "update", at="id"),
        ChangedMemory,
        says="Change a memory; what is left out stays as it is. Another context moves it there.\n\n"
        "An empty text or null clears, metadata merges by key.",
    )
    destroy = deletes(by=delete_memory, says="Remove a memory, its revisions, and what relates it to others.")
    restore = writes(
        takes("memory", "restore", at="id"),
        ChangedMemory,
        says="Make title and content what they were at a revision; that is a revision, too.",
    )


class MemoryRevisionViewSet(ProjectViewSet):
    def item(self, memory_id: int, revision: int) -> dict[str, Any]:
        return revision_item(self.project_id, memory_id, revision)

    list = lists(
        takes("memory", "revisions", at="id", without=["revision", "lines", "tail"]),
        ListedMemoryRevision,
        by=list_revisions,
        orders=(["revision"], "-revision"),
        says="What the memory said, newest first, the present state included.",
    )
    retrieve = reads(
        OneMemoryRevision,
        text="content",
        says="Title and content as they were, or some lines of the content.",
    )


class MemorySearchViewSet(ProjectViewSet):
    search = shows(
        takes("memory", "search"),
        MemorySearchAnswer,
        says="The memories that answer best, each with an excerpt.",
    )
    fuzzy = shows(
        takes("memory", "fuzzy"),
        FuzzyAnswer,
        says="Memories by words that may be mistyped, the nearest first.",
    )
