"""REST views of file changes: list, detail, batch and lock check."""

from typing import Any

from ctxhub.rest.answers import batch_of, written
from ctxhub.rest.operations import CREATED, lists, performs, reads, shows, writes
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from tracking.changes import queries, services

RecordedChange = written("RecordedChange", services.RecordAnswer, queries.Change)


class ChangeViewSet(ProjectViewSet):
    kind = "change"

    def item(self, change_id: int) -> dict[str, Any]:
        return queries.change_item(queries.get_change(self.project_id, change_id))

    list = lists(
        takes("file", "changes"),
        queries.Change,
        by=queries.list_changes,
        orders=(["at"], "-at"),
        says="Changes that pass every filter, newest first; without a filter those of the last hour.",
    )
    create = writes(
        takes("file", "record"),
        RecordedChange,
        statuses=CREATED,
        says="Tell the others that a file was changed.",
    )
    retrieve = reads(
        queries.Change,
        text="description",
        kind="change",
        says="One change, its description whole, or some lines of it.",
    )


class ChangeBatchViewSet(ProjectViewSet):
    # The action checks the items, which are checked here already.
    create = performs(
        takes("file", "record_batch", items=takes("file", "record", name="ChangeItem")),
        batch_of(services.RecordAnswer),
        by=services.record_change_batch,
        says="Record up to 50 changes at once: all or nothing, unless `atomic` is false.",
    )


class LockViewSet(ProjectViewSet):
    retrieve = shows(
        takes("file", "check_lock"),
        says="Whether somebody else is at a file: changed it a moment ago, or holds a lease on it.",
    )
