"""REST views of file changes: list, detail, batch and lock check."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import batch_of, in_parts, page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import READ_IN_PARTS, takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.partial_reads import Opened
from tracking.selectors import changes as selectors
from tracking.selectors.locks import Lock, check_lock
from tracking.services import changes as services


class ChangeViewSet(ProjectViewSet):
    queries = {"list": takes("file", "changes"), "retrieve": READ_IN_PARTS}
    bodies = {"create": takes("file", "record")}

    @extend_schema(responses=page_of(selectors.Change))
    def list(self, request: Request, slug: str) -> Response:
        """Changes that pass every filter, newest first; without a filter those of the last hour."""
        return self.listed(Page.of(selectors.list_changes(self.project_id, **self.query)))

    @extend_schema(responses={201: selectors.Change})
    def create(self, request: Request, slug: str) -> Response:
        """Tell the others that a file was changed."""
        answer = self.write(services.record_change, **self.body)
        return Response(answer, status=201)

    @extend_schema(responses=in_parts(selectors.Change))
    def retrieve(self, request: Request, slug: str, change_id: int) -> Response:
        """One change, its description whole, or some lines of it."""
        line_range = self.requested_lines()
        item = selectors.change_item(selectors.get_change(self.project_id, change_id))
        return Response(self.opened(Opened(item, "description", line_range, "change")))

    def item_of(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return selectors.change_item(selectors.get_change(self.project_id, answer["id"]))


class ChangeBatchViewSet(ProjectViewSet):
    bodies = {"create": takes("file", "record_batch", items=takes("file", "record", name="ChangeItem"))}

    @extend_schema(responses={200: batch_of(services.RecordAnswer)})
    def create(self, request: Request, slug: str) -> Response:
        """Record up to 50 changes at once: all or nothing, unless `atomic` is false."""
        return Response(self.perform(services.record_change_batch, **self.body))


class LockViewSet(ProjectViewSet):
    queries = {"retrieve": takes("file", "check_lock")}

    @extend_schema(responses=Lock)
    def retrieve(self, request: Request, slug: str) -> Response:
        """Whether somebody else is at a file: changed it a moment ago, or holds a lease on it."""
        return Response(check_lock(self.caller, **self.query))
