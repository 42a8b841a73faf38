"""REST views of scratchpads, their revisions and their search."""

from collections.abc import Mapping
from typing import Annotated, Any

from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.hub.outlines import clean_part
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import read_id
from ctxhub.rest.answers import in_parts, written
from ctxhub.rest.etags import IF_MATCH, etag, expecting
from ctxhub.rest.operations import CREATED, deletes, lists, operation, performs, reads
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About, LinesOfHit, SizeOfHit, Time
from memory.scratchpads import queries, services


class ListedPad(TypedDict):
    id: int
    name: str
    length: Annotated[int, About("In characters.")]
    created_at: Time
    updated_at: Time
    content: Annotated[str | None, About("Null unless asked for.")]


class FoundPad(TypedDict):
    scratchpad_id: int
    name: str
    workflow_id: int
    snippet: Annotated[str | None, About("What is found stands between « and ».")]
    line: Annotated[int | None, About("In one pad: where it is.")]
    lines: LinesOfHit | None
    size: SizeOfHit | None


CreatedPad = written("CreatedPad", services.CreatePadAnswer, queries.Pad)


class PadsViewSet(ProjectViewSet):
    kind, named_by = "scratchpad", "scratchpad_id"

    def item(self, scratchpad_id: int) -> dict[str, Any]:
        return queries.scratchpad_item(queries.get_scratchpad(self.project_id, scratchpad_id))

    list = lists(
        takes("scratchpad", "list"),
        ListedPad,
        by=queries.list_scratchpads,
        orders=(queries.ORDERS, "id"),
        says="The pads of a workflow in the order of their creation.",
    )
    of_workflow = lists(
        takes("scratchpad", "list", at="workflow_id"),
        ListedPad,
        by=queries.list_scratchpads,
        orders=(queries.ORDERS, "id"),
        says="The pads of this workflow, in the order of their creation.",
    )
    create = performs(
        takes(
            "scratchpad",
            "create",
            example={"workflow_id": 1, "name": "code_analysis", "content": "# Findings\n1. A slow query"},
        ),
        CreatedPad,
        statuses=CREATED,
        says="Begin a pad in a workflow.",
    )
    search = lists(
        takes("scratchpad", "search"),
        FoundPad,
        says="Pads by what is written in them, best first; in one pad its lines.",
    )


class PadWrites(ProjectViewSet):
    """What a view does that writes to a pad: the revision that it expects, and its new one as ETag."""

    has_versions = True

    def expecting(self, arguments: dict[str, Any]) -> dict[str, Any]:
        expected = expecting(self.request, {}).get("expected_version")
        return arguments if expected is None else {**arguments, "expected_revision": read_id(expected) or 0}

    def headers_of(self, answer: Mapping[str, Any]) -> dict[str, str]:
        return etag(str(answer["revision"])) if "revision" in answer else {}


class PadViewSet(PadWrites):
    instead = {
        "PUT": 'PATCH with {"content": ...} replaces the text; with a `mode` it edits a part.',
        "POST": "POST to append/ below this address adds to the text; PATCH edits it.",
    }
    scopes = {"destroy": WRITE}

    # The actions expect no revision.
    partial_update = performs(
        takes(
            "scratchpad",
            "update",
            without=["scratchpad_id"],
            example={"content": "3. No index", "mode": "append_section", "section": "Findings"},
        ),
        by=services.update_scratchpad,
        of="scratchpad",
        parameters=[IF_MATCH],
        says="Replace its text, or change some lines or a section of it.",
    )
    append = performs(
        takes("scratchpad", "append", without=["scratchpad_id"]),
        by=services.append_to_scratchpad,
        of="scratchpad",
        parameters=[IF_MATCH],
        says="Add to its end, whoever else does at the same time.",
    )
    destroy = deletes(
        by=services.delete_scratchpad, parameters=[IF_MATCH], says="Remove it and what it was, for good."
    )

    @operation(
        query=takes("scratchpad", "get", without=["scratchpad_id", "scratchpad_ids"]),
        responses=in_parts(queries.Pad),
    )
    def retrieve(self, request: Request, slug: str, scratchpad_id: int) -> Response:
        """One pad, whole or in part. Its ETag is its revision."""
        clean_part(**self.query)
        row = queries.get_scratchpad(self.project_id, scratchpad_id)
        pad = queries.opened_pad(row, **self.query)
        return Response(self.opened(pad), headers=etag(str(row.revision)))


class PadRevisionViewSet(PadWrites):
    def item(self, scratchpad_id: int, revision: int) -> dict[str, Any]:
        row = queries.get_scratchpad(self.project_id, scratchpad_id)
        if (state := queries.find_revision(self.project_id, scratchpad_id, revision)) is None:
            raise NotFound(f"Scratchpad {row.id} has no revision {shown(revision)}.")
        return queries.revision_item(row, state)

    list = lists(
        takes("scratchpad", "revisions", at="scratchpad_id", without=["revision", "lines", "tail"]),
        queries.ListedRevision,
        by=queries.list_revisions,
        orders=(["revision"], "-revision"),
        says="What the pad was, newest first, the present state included.",
    )
    retrieve = reads(queries.Revision, text="content", says="The pad as it was, or some lines of it.")
    restore = performs(
        takes("scratchpad", "restore", without=["scratchpad_id", "revision"]),
        by=services.restore_scratchpad,
        of="scratchpad",
        parameters=[IF_MATCH],
        says="Make the pad's text what it was; that is a state, too.",
    )
