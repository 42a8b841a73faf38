"""Reads webhooks and their deliveries: their items in answers, and lists."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from typing_extensions import TypedDict

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookKind
from ctxhub.core.webhooks.sql import Conditions
from ctxhub.toolbox.argument_types import About, Time, one_of

KINDS = tuple(str(label) for label in WebhookKind.labels)
STATUSES = tuple(str(label) for label in DeliveryStatus.labels)


class WebhookItem(TypedDict):
    id: int
    ref: str
    url: Annotated[str, About("Masked: whoever has all of it can write there.")]
    kind: Annotated[str, one_of(*KINDS)]
    nouns: Annotated[list[str], About("Empty: all, but those of the hub itself (`hub`).")]
    verbs: Annotated[list[str], About("Empty: all.")]
    priority: Annotated[list[str], About("Empty: any, and events without one.")]
    active: bool
    failures: Annotated[int, About("How many tries failed in a row; after 20 it is switched off.")]
    off_because: Annotated[str | None, About("Why the hub has switched it off; null: it has not.")]
    off_at: Time | None
    cursor: Annotated[str, About("The last event that is dealt with.")]
    created: Time


class DeliveryItem(TypedDict):
    id: int
    delivery: Annotated[str, About("X-Ctxhub-Delivery: the same at each try.")]
    event: Annotated[str | None, About("The event, of several the last; null: a test.")]
    events: Annotated[int, About("How many events it tells: more than one are a summary for a chat.")]
    status: Annotated[str, one_of(*STATUSES)]
    redelivered: Annotated[bool, About("It was dead and is sent again, out of order.")]
    tries: int
    next: Annotated[str | None, About("When it is tried again.", {"format": "date-time"})]
    code: Annotated[int | None, About("The HTTP status of the last answer.")]
    answer: Annotated[str, About("The first KiB of the last answer.")]
    problem: Annotated[str, About("Why there was no answer, or why it does not count.")]
    created: Time
    tried: Time | None


WEBHOOK_COLUMNS = tuple(WebhookItem.__annotations__)
DELIVERY_COLUMNS = tuple(DeliveryItem.__annotations__)


def webhooks_of(project_id: int) -> QuerySet[Webhook]:
    return Webhook.objects.in_project(project_id).order_by("-created_at")


def deliveries_of(project_id: int, webhook_id: int) -> QuerySet[WebhookDelivery]:
    """Newest first."""
    return WebhookDelivery.objects.in_project(project_id).filter(webhook=webhook_id).order_by("-created_at")


def get_webhook(project_id: int, webhook_id: int, *, locked: bool = False) -> Webhook:
    """Raises NotFound, also for a webhook of another project. `locked`: until the transaction ends."""
    rows = Webhook.objects.in_project(project_id).filter(pk=webhook_id)
    row = (rows.select_for_update() if locked else rows).first()
    if row is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    return row


def conditions_of(row: Webhook) -> Conditions:
    return Conditions(row.nouns, row.verbs, row.priority)


def list_webhooks(rows: QuerySet[Webhook], *, limit: int = 20, cursor: str | None = None) -> Listing:
    return page_of(rows, WEBHOOK_COLUMNS, _webhook_rows, limit=limit, cursor=cursor)


def list_deliveries(
    rows: QuerySet[WebhookDelivery], *, limit: int = 20, cursor: str | None = None
) -> Listing:
    return page_of(rows, DELIVERY_COLUMNS, _delivery_rows, limit=limit, cursor=cursor)


def _webhook_rows(rows: Sequence[Webhook]) -> list[list[Any]]:
    return [list(webhook_item(row).values()) for row in rows]


def _delivery_rows(rows: Sequence[WebhookDelivery]) -> list[list[Any]]:
    return [list(delivery_item(row).values()) for row in rows]


def webhook_item(row: Webhook) -> dict[str, Any]:
    return dict(
        WebhookItem(
            id=row.pk,
            ref=row.ref,
            url=row.shown,
            kind=str(WebhookKind(row.kind).label),
            nouns=row.nouns,
            verbs=row.verbs,
            priority=row.priority,
            active=row.is_active,
            failures=row.failures,
            off_because=row.off_because or None,
            off_at=_time(row.off_at),
            cursor=f"e{row.cursor}",
            created=format_time(row.created_at),
        )
    )


def delivery_item(row: WebhookDelivery) -> dict[str, Any]:
    return dict(
        DeliveryItem(
            id=row.pk,
            delivery=row.key,
            event=f"e{row.event_id}" if row.event_id is not None else None,
            events=row.events,
            status=str(DeliveryStatus(row.status).label),
            redelivered=row.is_aside and row.event_id is not None,
            tries=row.tries,
            next=_time(row.next_at),
            code=row.code,
            answer=row.answer,
            problem=row.problem,
            created=format_time(row.created_at),
            tried=_time(row.tried_at),
        )
    )


def _time(moment: datetime | None) -> str | None:
    return format_time(moment) if moment else None
