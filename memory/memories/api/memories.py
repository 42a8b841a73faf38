"""REST views of memories and of their searches."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import in_parts, page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import READ_IN_PARTS, takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.outlines import clean_part
from ctxhub.core.hub.partial_reads import Opened
from ctxhub.core.kit.caller import WRITE
from memory.memories.api.memory_schemas import (
    AddedMemory,
    ChangedMemory,
    FuzzyAnswer,
    MemorySearchAnswer,
    OutlinedMemory,
)
from memory.memories.lists.memories import list_memories
from memory.memories.selectors.fuzzy import find_fuzzy
from memory.memories.selectors.memories import ListedMemory, get_memory, memory_item, opened_memory
from memory.memories.selectors.revisions import (
    ListedMemoryRevision,
    OneMemoryRevision,
    list_revisions,
    revision_item,
)
from memory.memories.selectors.search import search_memories
from memory.memories.services import memories as services


class MemoryViewSet(ProjectViewSet):
    queries = {"list": takes("memory", "list"), "retrieve": takes("memory", "get", without=["id"])}
    bodies = {
        "create": takes("memory", "add"),
        "partial_update": takes("memory", "update", without=["id"]),
        "restore": takes("memory", "restore", without=["id"]),
    }
    scopes = {"destroy": WRITE}

    @extend_schema(responses=page_of(ListedMemory))
    def list(self, request: Request, slug: str) -> Response:
        """Memories that pass every filter, newest first, by their digests."""
        return self.listed(Page.of(list_memories(self.project_id, **self.query)))

    @extend_schema(responses={201: AddedMemory})
    def create(self, request: Request, slug: str) -> Response:
        """Keep something in a context; a new name makes one. It is stored whatever is there."""
        return Response(self.write(services.add_memory, **self.body), status=201)

    @extend_schema(responses=in_parts(OutlinedMemory))
    def retrieve(self, request: Request, slug: str, memory_id: int) -> Response:
        """One memory, whole, or some lines or the headings of its content."""
        clean_part(**self.query)
        row = get_memory(self.project_id, memory_id)
        return Response(self.opened(opened_memory(row, **self.query)))

    @extend_schema(responses=ChangedMemory)
    def partial_update(self, request: Request, slug: str, memory_id: int) -> Response:
        """Change a memory; what is left out stays as it is. Another context moves it there.

        An empty text or null clears, metadata merges by key.
        """
        return Response(self.write(services.update_memory, memory_id=memory_id, **self.body))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, memory_id: int) -> Response:
        """Remove a memory, its revisions, and what relates it to others."""
        self.perform(services.delete_memory, memory_id=memory_id)
        return Response(status=204)

    @extend_schema(responses=ChangedMemory)
    def restore(self, request: Request, slug: str, memory_id: int) -> Response:
        """Make title and content what they were at a revision; that is a revision, too."""
        return Response(self.write(services.restore_memory, memory_id=memory_id, **self.body))

    def item_of(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return memory_item(get_memory(self.project_id, answer["id"]))


class MemoryRevisionViewSet(ProjectViewSet):
    queries = {
        "list": takes("memory", "revisions", without=["id", "revision", "lines", "tail"]),
        "retrieve": READ_IN_PARTS,
    }

    @extend_schema(responses=page_of(ListedMemoryRevision))
    def list(self, request: Request, slug: str, memory_id: int) -> Response:
        """What the memory said, newest first, the present state included."""
        return self.listed(Page.of(list_revisions(self.project_id, memory_id, **self.query)))

    @extend_schema(responses=in_parts(OneMemoryRevision))
    def retrieve(self, request: Request, slug: str, memory_id: int, revision: int) -> Response:
        """Title and content as they were, or some lines of the content."""
        requested = self.requested_lines()
        item = revision_item(self.project_id, memory_id, revision)
        return Response(self.opened(Opened(item, "content", requested)))


class MemorySearchViewSet(ProjectViewSet):
    queries = {"search": takes("memory", "search"), "fuzzy": takes("memory", "fuzzy")}

    @extend_schema(responses=MemorySearchAnswer)
    def search(self, request: Request, slug: str) -> Response:
        """The memories that answer best, each with an excerpt."""
        return self.listed(Page.of(search_memories(self.project_id, **self.query)))

    @extend_schema(responses=FuzzyAnswer)
    def fuzzy(self, request: Request, slug: str) -> Response:
        """Memories by words that may be mistyped, the nearest first."""
        return self.listed(Page.of(find_fuzzy(self.project_id, **self.query)))
