"""What must happen whoever writes."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.backends.signals import connection_created
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from ctxhub.core.models import AccessToken
from ctxhub.core.services.access_tokens import forget_tokens
from ctxhub.core.services.events import recorded
from ctxhub.core.services.retention import cleanup_sometimes


@receiver([post_save, post_delete], sender=AccessToken)
def forget_verified_tokens(**_: Any) -> None:
    """A revoked token ends at once in this process, also one that is read again before the commit."""
    forget_tokens()
    transaction.on_commit(forget_tokens)


@receiver(recorded)
def clean_up(project_id: int, at: datetime, **_: Any) -> None:
    """What has outlived the project's settings goes with the next write, at most once a minute."""
    cleanup_sometimes(project_id, at)


@receiver(connection_created)
def run_what_is_short_as_it_is(connection: Any, **_: Any) -> None:
    """PostgreSQL compiles what it expects to be long, which took 150 ms for queries of 2."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET jit = off")
