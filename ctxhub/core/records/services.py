"""Reads and writes what the hub notes of itself: its id, the last backup, restore and drill."""

import uuid
from datetime import datetime
from typing import Any

from ctxhub.core.kit import clock
from ctxhub.core.kit.transactions import touch_transaction
from ctxhub.core.records.models import HubRecord


def find_record(kind: HubRecord.Kind) -> HubRecord | None:
    return HubRecord.objects.filter(kind=kind).first()


def list_records() -> dict[str, HubRecord]:
    """By kind."""
    return {record.kind: record for record in HubRecord.objects.all()}


def note(kind: HubRecord.Kind, details: dict[str, Any], *, at: datetime | None = None) -> None:
    """Replace the record of this kind. No event tells of it."""
    with touch_transaction():
        HubRecord.objects.update_or_create(kind=kind, defaults={"at": at or clock.now(), "details": details})


def hub_id() -> str:
    """The id of the hub, made when it is first asked for. Backups have it, and what is restored keeps it."""
    found = find_record(HubRecord.Kind.HUB)
    if found is None:
        with touch_transaction():
            made = {"at": clock.now(), "details": {"id": str(uuid.uuid4())}}
            found, _ = HubRecord.objects.get_or_create(kind=HubRecord.Kind.HUB, defaults=made)
    return str(found.details["id"])
