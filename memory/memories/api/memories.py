"""REST views of memories and of their searches."""

from typing import Any

from ctxhub.core.api.answers import in_parts
from ctxhub.core.api.operations import CREATED, deletes, lists, reads, shows, writes
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.caller import WRITE
from memory.memories.api.memory_schemas import (
    AddedMemory,
    ChangedMemory,
    FuzzyAnswer,
    MemorySearchAnswer,
    OutlinedMemory,
)
from memory.memories.selectors.memories import ListedMemory, get_memory, memory_item
from memory.memories.selectors.revisions import ListedMemoryRevision, OneMemoryRevision, revision_item
from memory.memories.services.memories import delete_memory


class MemoryViewSet(ProjectViewSet):
    scopes = {"destroy": WRITE}

    def item(self, memory_id: int) -> dict[str, Any]:
        return memory_item(get_memory(self.project_id, memory_id))

    list = lists(
        takes("memory", "list"),
        ListedMemory,
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
