"""REST views of the bin: what was deleted, restoring it, and purging it."""

from typing import Annotated, NotRequired

from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.bin.emptying import purge
from ctxhub.core.bin.queries import ORDERS, BinRow, list_bin
from ctxhub.core.hub.ref_outcomes import DeletedRow
from ctxhub.core.hub.undoing import undo_deletions
from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from ctxhub.rest.operations import lists, operation
from ctxhub.rest.takes import PageArguments, Takes, takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About


class BinArguments(PageArguments, total=False):
    kind: Annotated[str, About("Only of this kind: memory, decision.")]
    by: Annotated[str, About("Only what this agent deleted.")]


class RestoredRows(TypedDict):
    items: list[DeletedRow]
    count: int
    dry_run: NotRequired[bool]
    hint: NotRequired[str]


class BinViewSet(ProjectViewSet):
    has_authors = False
    # Restoring needs what deleting needs, by kind; a dry run needs none of it.
    scopes = {"restore": None, "destroy": ADMIN}

    list = lists(
        Takes(BinArguments),
        BinRow,
        by=list_bin,
        orders=(ORDERS, "-deleted"),
        says="What was deleted in the last 30 days, the last deleted first; without its content.",
    )

    @operation(body=takes("delete", without=("undo",), name="Restore"), responses={200: RestoredRows})
    def restore(self, request: Request, slug: str) -> Response:
        """Bring back up to 50 deleted objects, each by itself, with id, history and relationships."""
        self._refuse_readers()
        return Response(self.once(lambda: undo_deletions(caller=self.caller, **self.body)))

    @operation(responses={204: None})
    def destroy(self, request: Request, slug: str, entry: int) -> Response:
        """Remove an entry of the bin at once, for good: what holds a secret."""
        self.once(lambda: purge(caller=self.caller, item_id=entry))
        return Response(status=204)

    def _refuse_readers(self) -> None:
        """A dry run needs to read, anything else to delete: which scope that is, the kind says."""
        if self.body.get("dry_run"):
            self.caller.require(READ, "A dry run")
        elif not self.caller.may(ADMIN):
            self.caller.require(WRITE, "POST bin/restore/")
