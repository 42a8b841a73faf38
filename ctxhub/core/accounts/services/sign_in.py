"""Limits failed sign-ins: after five in 15 minutes, a wait that doubles with each further failure.

An attempt is counted before its password is checked, so parallel attempts cannot pass together.
"""

import logging
import math
from datetime import datetime, timedelta

from django.db.models import Q

from ctxhub.core.accounts.models.sign_in_failure import SignInFailure
from ctxhub.core.events.services.cleanup import cleanup_tasks
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import LimitReached, shown
from ctxhub.core.kit.transactions import touch_transaction
from ctxhub.core.text.plurals import counted

FREE_FAILURES = 5
COUNTED_FOR = timedelta(minutes=15)
LONGEST_WAIT_MINUTES = 60
REMEMBERED_FOR = timedelta(days=1)  # After a wait, so that patience does not buy five more attempts.
MOST_ROWS = 10_000
NAME_CHARACTERS, ADDRESS_CHARACTERS = 150, 45

logger = logging.getLogger(__name__)


def count_attempt(*, name: str, address: str) -> None:
    """Count an attempt as failed until `clear_failures`. Raises LimitReached during a wait."""
    now, key = clock.now(), _key(name, address)
    with touch_transaction():
        row, is_new = SignInFailure.objects.select_for_update().get_or_create(
            **key, defaults={"first_at": now, "last_at": now}
        )
        _refuse_waiting(row, now)
        if _is_over(row, now):
            row.count, row.first_at, row.until = 0, now, None
        row.count, row.last_at = row.count + 1, now
        row.until = _end_of_wait(row.count, now)
        row.save()
    if is_new:
        _make_room(now)


def refuse_after_failure(*, name: str, address: str) -> None:
    """Log a wait that the failed attempt has begun. Raises LimitReached then."""
    key = _key(name, address)
    if (row := SignInFailure.objects.filter(**key).first()) and row.until:
        logger.warning(
            "%d failed sign-ins as %s from %s: refused until %s",
            row.count,
            shown(row.name),
            shown(row.address),
            row.until.isoformat(timespec="seconds"),
        )
        _refuse_waiting(row, clock.now())


def clear_failures(*, name: str, address: str) -> None:
    with touch_transaction():
        SignInFailure.objects.filter(**_key(name, address)).delete()


def remove_old_failures(now: datetime) -> None:
    """Remove counts that no longer matter."""
    is_old = Q(until=None, last_at__lt=now - COUNTED_FOR) | Q(until__lt=now - REMEMBERED_FOR)
    SignInFailure.objects.filter(is_old).delete()


def _make_room(now: datetime) -> None:
    """Remove old counts, and the oldest beyond 10,000: anyone can make up names."""
    with touch_transaction():
        remove_old_failures(now)
        newest = SignInFailure.objects.order_by("-last_at").values_list("last_at", flat=True)
        for last_at in newest[MOST_ROWS : MOST_ROWS + 1]:
            SignInFailure.objects.filter(last_at__lte=last_at).delete()


def _key(name: str, address: str) -> dict[str, str]:
    return {"name": name.casefold()[:NAME_CHARACTERS], "address": address[:ADDRESS_CHARACTERS]}


def _refuse_waiting(row: SignInFailure, now: datetime) -> None:
    if not row.until or row.until <= now:
        return
    seconds = math.ceil((row.until - now).total_seconds())
    wait = counted(math.ceil(seconds / 60), "minutes") if seconds > 60 else counted(seconds, "seconds")
    raise LimitReached(f"Too many failed sign-ins. Try again in {wait}.", retry_after=seconds)


def _is_over(row: SignInFailure, now: datetime) -> bool:
    if row.until:
        return row.until + REMEMBERED_FOR <= now
    return row.first_at + COUNTED_FOR <= now


def _end_of_wait(failures: int, now: datetime) -> datetime | None:
    if failures < FREE_FAILURES:
        return None
    doublings = min(failures - FREE_FAILURES, 6)
    return now + timedelta(minutes=min(2**doublings, LONGEST_WAIT_MINUTES))


cleanup_tasks.append(lambda _, now, __: remove_old_failures(now))
