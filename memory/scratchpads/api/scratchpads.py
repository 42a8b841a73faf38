"""REST views of scratchpads, their revisions and their search."""

from collections.abc import Callable, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import in_parts, page_of
from ctxhub.core.api.etags import IF_MATCH, etag, expecting
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import READ_IN_PARTS, takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.outlines import clean_part
from ctxhub.core.hub.partial_reads import Opened
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import read_id
from memory.scratchpads.api.scratchpad_schemas import FoundPad, ListedPad
from memory.scratchpads.selectors import scratchpads as selectors
from memory.scratchpads.selectors.search import search_scratchpads
from memory.scratchpads.services import scratchpads as services


class PadsViewSet(ProjectViewSet):
    queries = {
        "list": takes("scratchpad", "list"),
        "of_workflow": takes("scratchpad", "list", without=["workflow_id"]),
        "search": takes("scratchpad", "search"),
    }
    bodies = {
        "create": takes(
            "scratchpad",
            "create",
            example={"workflow_id": 1, "name": "code_analysis", "content": "# Findings\n1. A slow query"},
        )
    }

    @extend_schema(responses=page_of(ListedPad))
    def list(self, request: Request, slug: str) -> Response:
        """The pads of a workflow in the order of their creation."""
        return self._list(**self.query)

    @extend_schema(responses=page_of(ListedPad))
    def of_workflow(self, request: Request, slug: str, workflow_id: int) -> Response:
        """The same below the workflow."""
        return self._list(workflow_id=workflow_id, **self.query)

    @extend_schema(responses={201: services.CreatePadAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Begin a pad in a workflow."""
        answer = self.perform(services.create_scratchpad, **self.body)
        return Response(answer, status=201)

    @extend_schema(responses=page_of(FoundPad))
    def search(self, request: Request, slug: str) -> Response:
        """Pads by what is written in them, best first; in one pad its lines."""
        return self.listed(Page.of(search_scratchpads(self.project_id, **self.query)))

    def _list(self, **query: Any) -> Response:
        return self.listed(Page.of(selectors.list_scratchpads(self.project_id, **query)))


class PadWrites(ProjectViewSet):
    """What a view does that writes to a pad: the revision it expects, once."""

    has_versions = True

    def _write(self, service: Callable[..., Mapping[str, Any]], **arguments: Any) -> Response:
        expected = expecting(self.request, {}).get("expected_version")
        if expected is not None:
            arguments["expected_revision"] = read_id(expected) or 0
        answer = self.once(lambda: dict(service(caller=self.caller, **arguments)))
        headers = etag(str(answer["revision"])) if "revision" in answer else {}
        return Response(answer, headers=headers)


class PadViewSet(PadWrites):
    instead = {
        "PUT": 'PATCH with {"content": ...} replaces the text; with a `mode` it edits a part.',
        "POST": "POST to append/ below this address adds to the text; PATCH edits it.",
    }
    queries = {"retrieve": takes("scratchpad", "get", without=["scratchpad_id", "scratchpad_ids"])}
    bodies = {
        "partial_update": takes(
            "scratchpad",
            "update",
            without=["scratchpad_id"],
            example={"content": "3. No index", "mode": "append_section", "section": "Findings"},
        ),
        "append": takes("scratchpad", "append", without=["scratchpad_id"]),
    }
    scopes = {"destroy": WRITE}

    @extend_schema(responses=in_parts(selectors.Pad))
    def retrieve(self, request: Request, slug: str, scratchpad_id: int) -> Response:
        """One pad, whole or in part. Its ETag is its revision."""
        clean_part(**self.query)
        row = selectors.get_scratchpad(self.project_id, scratchpad_id)
        pad = selectors.opened_pad(row, **self.query)
        return Response(self.opened(pad), headers=etag(str(row.revision)))

    @extend_schema(parameters=[IF_MATCH], responses=services.UpdateAnswer)
    def partial_update(self, request: Request, slug: str, scratchpad_id: int) -> Response:
        """Replace its text, or change some lines or a section of it."""
        return self._write(services.update_scratchpad, scratchpad_id=scratchpad_id, **self.body)

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def destroy(self, request: Request, slug: str, scratchpad_id: int) -> Response:
        """Remove it and what it was, for good."""
        self._write(services.delete_scratchpad, scratchpad_id=scratchpad_id)
        return Response(status=204)

    @extend_schema(parameters=[IF_MATCH], responses=services.AppendAnswer)
    def append(self, request: Request, slug: str, scratchpad_id: int) -> Response:
        """Add to its end, whoever else does at the same time."""
        return self._write(services.append_to_scratchpad, scratchpad_id=scratchpad_id, **self.body)


class PadRevisionViewSet(PadWrites):
    queries = {
        "list": takes("scratchpad", "revisions", without=["scratchpad_id", "revision", "lines", "tail"]),
        "retrieve": READ_IN_PARTS,
    }
    bodies = {"restore": takes("scratchpad", "restore", without=["scratchpad_id", "revision"])}

    @extend_schema(responses=page_of(selectors.ListedRevision))
    def list(self, request: Request, slug: str, scratchpad_id: int) -> Response:
        """What the pad was, newest first, the present state included."""
        return self.listed(Page.of(selectors.list_revisions(self.project_id, scratchpad_id, **self.query)))

    @extend_schema(responses=in_parts(selectors.Revision))
    def retrieve(self, request: Request, slug: str, scratchpad_id: int, revision: int) -> Response:
        """The pad as it was, or some lines of it."""
        requested = self.requested_lines()
        row = selectors.get_scratchpad(self.project_id, scratchpad_id)
        if (state := selectors.find_revision(self.project_id, scratchpad_id, revision)) is None:
            raise NotFound(f"Scratchpad {row.id} has no revision {shown(revision)}.")
        return Response(self.opened(Opened(selectors.revision_item(row, state), "content", requested)))

    @extend_schema(parameters=[IF_MATCH], responses=services.RestorePadAnswer)
    def restore(self, request: Request, slug: str, scratchpad_id: int, revision: int) -> Response:
        """Make the pad's text what it was; that is a state, too."""
        ids = {"scratchpad_id": scratchpad_id, "revision": revision}
        return self._write(services.restore_scratchpad, **ids, **self.body)
