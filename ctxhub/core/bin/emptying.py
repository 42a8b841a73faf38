"""Removes from the bin for good: what has been there for 30 days, and what an administrator purges."""

from datetime import datetime

from typing_extensions import TypedDict

from ctxhub.core.bin.models import KEPT_FOR, BinItem
from ctxhub.core.bin.queries import get_item
from ctxhub.core.bin.sql import remove_entries
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.text.plurals import counted
from ctxhub.core.vocabulary.names import register_agent

REMOVED_AT_ONCE = 100


class Purged(TypedDict):
    ref: str
    result: str


def purge(*, caller: Caller, item_id: int) -> Purged:
    """Remove an entry of the bin at once, for example of what holds a secret. Raises NotFound."""
    caller.require(ADMIN, "Purging")
    with write_transaction(caller.project_id):
        item = get_item(caller.project_id, item_id)
        at = clock.now()
        agent_id = register_agent(caller, at)
        remove_entries([item.pk])
        change = Change(item.kind, "purged", item.ref, {})
        record(project_id=caller.project_id, agent_id=agent_id, changes=[change], at=at)
    return Purged(ref=item.ref, result="purged")


def remove_expired(project_id: int, now: datetime) -> dict[str, int]:
    """Remove what was deleted 30 days ago, at most 100 objects. Called inside the project's transaction."""
    expired = BinItem.objects.in_project(project_id).filter(deleted_at__lte=now - KEPT_FOR)
    ids = list(expired.order_by("deleted_at").values_list("pk", flat=True)[:REMOVED_AT_ONCE])
    if not ids:
        return {}
    remove_entries(ids)
    data = {"binned": len(ids), "note": f"{counted(len(ids), 'objects')} of the bin"}
    record(
        project_id=project_id,
        agent_id=None,
        changes=[Change("hub", "cleaned", "hub:cleanup", data)],
        at=now,
    )
    return {"binned": len(ids)}
