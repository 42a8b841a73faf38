"""What webhooks tell an administrator: which the hub has switched off."""

from django.urls import reverse

from ctxhub.core.admin.needs.sources import SHOWN, Ago, Found, Link, Name, Need, Reader, sources
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Webhook


def webhooks_that_were_switched_off(reader: Reader) -> Found:
    off = Webhook.unscoped.filter(
        project__in=[each for each in reader.administrated if each in reader.projects],
        is_active=False,
        off_at__isnull=False,
    )
    found = list(off.order_by("-off_at"))
    return Found(
        [_need(row) for row in found[:SHOWN]],
        len(found),
        "webhooks",
        "that were switched off",
        reader.list_url("core_webhook"),
    )


def _need(row: Webhook) -> Need:
    assert row.off_at
    return Need(
        f"webhook-{row.pk}",
        row.project_id,
        Priority.HIGH,
        "webhook",
        ["The webhook ", Name(str(row)), " was switched off ", Ago(row.off_at), f": {row.off_because}"],
        row.off_at,
        [Link("Look", reverse("admin:core_webhook_change", args=[row.pk]))],
    )


sources.append(webhooks_that_were_switched_off)
