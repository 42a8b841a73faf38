"""Export and import over REST, up to 50 MiB; the commands have no limit."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Annotated, Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BrowsableAPIRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.transfer.exporting import MEDIA_TYPE, MOST_BYTES, small_export
from ctxhub.core.transfer.importing import Target, import_file
from ctxhub.core.transfer.staging import FAIL, ON_CONFLICT
from ctxhub.rest.operations import operation
from ctxhub.rest.plain_text import PlainText
from ctxhub.rest.takes import Takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About

LINES = MEDIA_TYPE


class Lines(PlainText):
    """Renders nothing: an export is answered as it is. An error stays JSON."""

    media_type = LINES
    format = "jsonl"


class LinesBody(BaseParser):
    """Reads a body of any type: the view reads it as JSON Lines."""

    media_type = "*/*"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return bytes(stream.read(MOST_BYTES + 1))


class ExportQuery(TypedDict, total=False):
    with_log: Annotated[
        bool, About("Also the event log, what agents were given, their use, and what was refused.")
    ]


class ImportQuery(TypedDict, total=False):
    on_conflict: Annotated[
        str,
        About(
            "What becomes of objects that differ from those of the same UUID or name: the import fails (the"
            " default), they stay as they are, or they become those of the file.",
            schema={"enum": [*ON_CONFLICT]},
        ),
    ]
    dry_run: Annotated[bool, About("Write nothing; answer what would be new, and the first conflicts.")]


class ImportAnswer(TypedDict):
    """Numbers of objects by kind, and the refs of the first that differ."""

    new: dict[str, int]
    same: dict[str, int]
    replaced: dict[str, int]
    skipped: dict[str, int]
    conflicts: list[str]
    refs_left: dict[str, int]
    dry_run: bool


class ExportViewSet(ProjectViewSet):
    scopes = {"retrieve": ADMIN}
    renderer_classes = (JSONRenderer, BrowsableAPIRenderer, Lines)

    @operation(query=Takes(ExportQuery), operation_id="export", responses={(200, LINES): OpenApiTypes.BINARY})
    def retrieve(self, request: Request, slug: str) -> HttpResponse:
        """All that the project holds, as JSON Lines: a header, a line for each object, the checksum.

        Of more than 50 MiB: limit_reached; `manage.py export` has no limit.
        """
        with_log = self.query.get("with_log", False)
        body = small_export(self.caller.project, with_log=with_log, at_most=MOST_BYTES)
        name = f"{self.caller.project.slug}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return HttpResponse(body, content_type=LINES, headers=headers)


class ImportViewSet(ProjectViewSet):
    scopes = {"create": ADMIN}
    parser_classes = (LinesBody,)

    @operation(
        query=Takes(ImportQuery),
        operation_id="import",
        request={LINES: OpenApiTypes.BINARY},
        responses={200: ImportAnswer},
    )
    def create(self, request: Request, slug: str) -> Response:
        """Take an export into the project: all of it, or nothing. At most 50 MiB.

        A bad line is named in the error. Others see the new objects all at once, and are told nothing but
        that there was an import.
        """
        given: Any = request.data
        lines = given if isinstance(given, bytes) else b""  # Without a body there is a dict.
        if len(lines) > MOST_BYTES:
            raise LimitReached(
                f"The file has more than {MOST_BYTES // 2**20} MiB.",
                hint=f"On the hub's machine: manage.py import FILE --project {self.caller.project.slug}",
            )
        self.sha256 = hashlib.sha256(lines).hexdigest()
        if (before := self.answered_before()) is not None:
            return Response(before)
        with NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(lines)
            file.flush()
            answer = self._import(Path(file.name))
        return Response(self.once(lambda: answer))

    def _arguments(self) -> dict[str, Any]:
        """Under a request key it is this file alone."""
        return {**super()._arguments(), "body": self.sha256}

    def _import(self, path: Path) -> ImportAnswer:
        done = import_file(
            path,
            Target(self.caller.project),
            on_conflict=self.query.get("on_conflict", FAIL),
            dry_run=self.query.get("dry_run", False),
            by=self.caller.agent,
        )
        outcome = done.outcome
        return ImportAnswer(
            new=+outcome.new,
            same=+outcome.same,
            replaced=+outcome.replaced,
            skipped=+outcome.skipped,
            conflicts=outcome.conflicts,
            refs_left=+outcome.bare_refs,
            dry_run=done.is_dry,
        )
