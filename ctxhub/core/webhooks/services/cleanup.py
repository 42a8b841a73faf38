"""Removes deliveries after 7 days, and encrypts again what an earlier secret key has encrypted."""

from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings

from ctxhub.core.accounts.models import Config
from ctxhub.core.events.cleanup import cleanup_tasks
from ctxhub.core.webhooks.models import Webhook
from ctxhub.core.webhooks.rules.sealing import Unreadable, is_sealed_by_earlier_key, seal_again
from ctxhub.core.webhooks.sql import remove_old

KEPT = timedelta(days=7)
REMOVED_AT_ONCE = 500


def clean_deliveries(project_id: int, now: datetime, _: Config) -> None:
    """They are the record of what was sent, no rows that a person counts."""
    remove_old(project_id, now - KEPT, REMOVED_AT_ONCE)
    if settings.SECRET_KEY_FALLBACKS:
        _seal_again(project_id)


def _seal_again(project_id: int) -> None:
    """So that the earlier key can be dropped. What no key reads stays, and is told where it is used."""
    for row in Webhook.objects.in_project(project_id).only("pk", "project_id", "sealed_url", "sealed_secret"):
        if is_sealed_by_earlier_key(row.sealed_url) or is_sealed_by_earlier_key(row.sealed_secret):
            with suppress(Unreadable):
                row.sealed_url = seal_again(row.sealed_url)
                row.sealed_secret = seal_again(row.sealed_secret)
                row.save(update_fields=["sealed_url", "sealed_secret"])


cleanup_tasks.append(clean_deliveries)
