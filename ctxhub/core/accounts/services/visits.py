"""Notes when people look at the admin, in the background, for "since my last visit"."""

import threading
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth import get_user_model

from ctxhub.core.accounts.models.visit import Visit
from ctxhub.core.kit import clock
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.kit.transactions import touch_transaction

ENDS_AFTER = timedelta(minutes=30)
NOTED_EVERY = timedelta(minutes=1)


def note_visit(user_id: int) -> datetime | None:
    """Note that a person looks now, and return when their visit before this one ended; None at the first."""
    now = clock.now()
    visit = Visit.objects.filter(pk=user_id).first()
    before = _before(visit, now)
    with _lock:
        noted = _noted.get(user_id)
        if noted is None or not noted <= now < noted + NOTED_EVERY:
            _noted[user_id] = now
            LATER.put((user_id, now))
    return before


def _before(visit: Visit | None, now: datetime) -> datetime | None:
    if visit is None:
        return None
    return visit.last_at if now - visit.last_at > ENDS_AFTER else visit.before_at


def _write(entries: Sequence[tuple[int, datetime]]) -> None:
    latest = dict(entries)
    people = get_user_model().objects.filter(pk__in=latest).order_by("pk").values_list("pk", flat=True)
    for user_id in people:
        with touch_transaction():
            _store(user_id, latest[user_id])


def _store(user_id: int, at: datetime) -> None:
    visit, is_new = Visit.objects.select_for_update().get_or_create(pk=user_id, defaults={"last_at": at})
    if not is_new:
        visit.before_at, visit.last_at = _before(visit, at), max(at, visit.last_at)
        visit.save()


# When this process last noted each person: only a throttle.
_noted: dict[int, datetime] = {}
_lock = threading.Lock()
when_replaced.append(_noted.clear)
LATER = BackgroundWriter("noting visits of people", _write)
