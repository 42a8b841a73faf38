"""Adds, changes and deletes webhooks, tests them, and sends what was given up again. Administrators only."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db.models import Q

from ctxhub.core.accounts.access_tokens import new_secret
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.errors import InvalidInput, LimitReached, NotFound
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import LIST_LENGTH
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.text.plurals import counted
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.core.webhooks.addresses import clean_url, masked
from ctxhub.core.webhooks.due import wake_on_commit
from ctxhub.core.webhooks.inputs import (
    clean_kind,
    clean_nouns,
    clean_priority,
    clean_verbs,
)
from ctxhub.core.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookKind
from ctxhub.core.webhooks.queries import conditions_of, get_webhook
from ctxhub.core.webhooks.sealing import Unreadable, seal, unseal
from ctxhub.core.webhooks.sql import count_events, newest_event

MOST_WEBHOOKS = 20
# What a person changes; a worker may change the rest at the same time.
WRITTEN = (
    *("kind", "sealed_url", "shown", "nouns", "verbs", "priority", "is_active", "off_because", "off_at"),
    *("failures", "cursor"),
)


@frozen
class NewWebhook:
    """A new webhook: its row, and the secret, which is shown once and stored encrypted."""

    row: Webhook
    secret: str


def add_webhook(
    *,
    caller: Caller,
    url: str,
    kind: str = "json",
    nouns: Sequence[str] = (),
    verbs: Sequence[str] = (),
    priority: Sequence[str] = (),
    active: bool = True,
) -> NewWebhook:
    """Add a webhook, which is told what happens from now on.

    Raises LimitReached beyond 20 of a project, InvalidInput for an address that no webhook may have.
    """
    caller.require(ADMIN, "Adding a webhook")
    kind_of = clean_kind(kind)
    url = _clean_address(url, kind_of)
    words = {"nouns": clean_nouns(nouns), "verbs": clean_verbs(verbs), "priority": clean_priority(priority)}
    secret = new_secret()
    with write_transaction(caller.project_id):
        rows = Webhook.objects.in_project(caller.project_id)
        if rows.count() >= MOST_WEBHOOKS:
            raise LimitReached(f"A project has at most {MOST_WEBHOOKS} webhooks.", hint="Delete one first.")
        row = Webhook.objects.create(
            project=caller.project,
            kind=kind_of,
            sealed_url=seal(url),
            sealed_secret=seal(secret),
            shown=masked(url)[:300],
            is_active=active,
            cursor=newest_event(caller.project_id),
            **words,
        )
        _record(caller, row, "created", {"note": _said(row)})
    return NewWebhook(row, secret)


def change_webhook(*, caller: Caller, webhook_id: int, **changes: Any) -> list[str]:
    """Change what is given of url, kind, nouns, verbs, priority, active; returns the names of what differs.

    One that is switched on again goes on where it stopped. A new address or kind is tried at once.
    """
    caller.require(ADMIN, "Changing a webhook")
    with write_transaction(caller.project_id):
        row = get_webhook(caller.project_id, webhook_id, locked=True)
        new = _clean_changes(row, changes)
        if not new:
            return []
        if {"nouns", "verbs", "priority"} & new.keys():
            _pass_untold(row)
        _apply(row, new)
        row.save(update_fields=WRITTEN)
        if {"url", "kind", "active"} & new.keys():
            _try_at_once(row)
        _record(caller, row, "updated", {"changed": list(new)})
    return list(new)


def delete_webhook(*, caller: Caller, webhook_id: int) -> None:
    """Delete a webhook with its deliveries. What waits is not sent."""
    caller.require(ADMIN, "Deleting a webhook")
    with write_transaction(caller.project_id):
        row = get_webhook(caller.project_id, webhook_id)
        said = _said(row)
        ref = row.ref
        row.delete()
        _record_ref(caller, ref, "deleted", {"note": said})


def send_test(*, caller: Caller, webhook_id: int) -> WebhookDelivery:
    """Have a test sent, at once and whether the webhook is active or not. It is tried once."""
    caller.require(ADMIN, "Testing a webhook")
    now = clock.now()
    with write_transaction(caller.project_id):
        row = get_webhook(caller.project_id, webhook_id)
        delivery = WebhookDelivery.objects.create(
            project=caller.project, webhook=row, is_aside=True, next_at=now, created_at=now
        )
        _record(caller, row, "tested", {})
    return delivery


def send_again(*, caller: Caller, webhook_id: int, ids: Sequence[int]) -> list[int]:
    """Have dead deliveries sent again, marked and out of order; returns the ids of those that are.

    Raises NotFound for what the webhook has no delivery of. What is not dead stays as it is.
    """
    caller.require(ADMIN, "Sending again")
    if not ids or len(ids) > LIST_LENGTH:
        raise InvalidInput(f"ids must name 1 to {LIST_LENGTH} deliveries.")
    now = clock.now()
    with write_transaction(caller.project_id):
        row = get_webhook(caller.project_id, webhook_id)
        known = WebhookDelivery.objects.in_project(caller.project_id).filter(webhook=row, pk__in=ids)
        states = dict(known.order_by("pk").values_list("pk", "status"))
        if unknown := [row_id for row_id in ids if row_id not in states]:
            raise NotFound(f"This webhook has no delivery {unknown[0]}.")
        dead = [row_id for row_id, status in states.items() if status == DeliveryStatus.DEAD]
        if dead:
            known.filter(pk__in=dead).update(
                status=DeliveryStatus.WAITING, is_aside=True, tries=0, next_at=now
            )
            _record(caller, row, "sent_again", {"note": counted(len(dead), "deliveries")})
    return dead


# -- Pieces ----------------------------------------------------------------------------------------


def _clean_address(url: str, kind: WebhookKind) -> str:
    """The address as it is stored. Raises InvalidInput, without repeating it."""
    clean_url(url, allow_private=settings.WEBHOOK_PRIVATE, needs_https=_needs_https(kind))
    return url.strip()


def _needs_https(kind: WebhookKind) -> bool:
    """Where the address itself is what opens a chat. What is private may be anything."""
    return kind != WebhookKind.JSON and not settings.WEBHOOK_PRIVATE


def _clean_changes(row: Webhook, given: Mapping[str, Any]) -> dict[str, Any]:
    """The cleaned values of what differs, by their names in the API."""
    kind = clean_kind(given["kind"]) if "kind" in given else WebhookKind(row.kind)
    cleaned: dict[str, Any] = {}
    if "kind" in given:
        cleaned["kind"] = kind
    if "url" in given:
        cleaned["url"] = _clean_address(given["url"], kind)
    elif kind != row.kind:
        _check_stored_address(row, kind)
    for name, clean in (("nouns", clean_nouns), ("verbs", clean_verbs), ("priority", clean_priority)):
        if name in given:
            cleaned[name] = clean(given[name])
    if "active" in given:
        cleaned["active"] = bool(given["active"])
    old = {
        "url": _stored_address(row),
        "kind": row.kind,
        "nouns": row.nouns,
        "verbs": row.verbs,
        "priority": row.priority,
        "active": row.is_active,
    }
    return {name: value for name, value in cleaned.items() if value != old[name]}


def _check_stored_address(row: Webhook, kind: WebhookKind) -> None:
    if url := _stored_address(row):
        clean_url(url, allow_private=settings.WEBHOOK_PRIVATE, needs_https=_needs_https(kind))


def _stored_address(row: Webhook) -> str:
    try:
        return unseal(row.sealed_url)
    except Unreadable:
        return ""


def _apply(row: Webhook, new: Mapping[str, Any]) -> None:
    for name in ("kind", "nouns", "verbs", "priority"):
        if name in new:
            setattr(row, name, new[name])
    if "url" in new:
        row.sealed_url, row.shown = seal(new["url"]), masked(new["url"])[:300]
        try:
            unseal(row.sealed_secret)
        except Unreadable:
            raise InvalidInput(
                "The secret of this webhook cannot be read any more: delete it, and add it again."
            ) from None
    if "active" in new:
        row.is_active = new["active"]
        row.off_because, row.off_at = "", None
        if row.is_active:
            row.failures = 0


def _pass_untold(row: Webhook) -> None:
    """New conditions hold from now on: what happened before them, and was not to be told, is passed."""
    newest = newest_event(row.project_id)
    waits = WebhookDelivery.objects.in_project(row.project_id).filter(
        webhook=row, status=DeliveryStatus.WAITING, is_aside=False
    )
    if not count_events(row.project_id, conditions_of(row), row.cursor, newest, 1) and not waits.exists():
        row.cursor = newest


def _try_at_once(row: Webhook) -> None:
    waiting = Q(webhook=row, status=DeliveryStatus.WAITING)
    WebhookDelivery.objects.in_project(row.project_id).filter(waiting).update(next_at=clock.now())


def _said(row: Webhook) -> str:
    return f"{row.get_kind_display()}, {row.shown}"[:200]


def _record(caller: Caller, row: Webhook, verb: str, data: dict[str, Any]) -> None:
    _record_ref(caller, row.ref, verb, data)


def _record_ref(caller: Caller, ref: str, verb: str, data: dict[str, Any]) -> None:
    """Log it as an event of the hub, which is no news to agents, and wake the worker."""
    at = clock.now()
    agent_id = register_agent(caller, at)
    record(project_id=caller.project_id, agent_id=agent_id, changes=[Change("hub", verb, ref, data)], at=at)
    wake_on_commit()
