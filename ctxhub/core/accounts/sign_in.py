"""Limits failed sign-ins: after five in 15 minutes, a wait that doubles with each further failure.

Five are free for a name and address together, 30 for an address with any names, 50 for a name from any
addresses. An attempt is counted before its password is checked, so parallel attempts cannot pass together.

Anybody can fail as somebody else. So the two wide limits last only until fewer than so many failures are
younger than 15 minutes, and do not hold for a browser that has signed in with the name before (`is_known`).
"""

import logging
import math
from datetime import datetime, timedelta

from django.db.models import Max, Q, QuerySet, Sum

from ctxhub.core.accounts.models import SignInFailure
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import LimitReached, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.transactions import acquire_write_lock, touch_transaction
from ctxhub.core.text.plurals import counted

FREE_FAILURES = 5
MOST_OF = {"address": 30, "name": 50}
COUNTED_FOR = timedelta(minutes=15)
LONGEST_WAIT_MINUTES = 60
REMEMBERED_FOR = timedelta(days=1)  # After a wait, so that patience does not buy five more attempts.
MOST_ROWS = 10_000
NAME_CHARACTERS, ADDRESS_CHARACTERS = 150, 45
NO_PROJECT = 0  # Sign-ins have a write lock of their own.
ELSEWHERE = " A browser that you have signed in with before need not wait."

logger = logging.getLogger(__name__)


@frozen
class Flood:
    """Too many failures of one name or one address. `part`: which of the two `value` is."""

    part: str
    value: str
    failures: int
    until: datetime


def count_attempt(*, name: str, address: str, is_known: bool = False, free: int = FREE_FAILURES) -> None:
    """Count an attempt as failed until `clear_failures`. Raises LimitReached during a wait.

    `free`: the failures after which the waits begin.
    """
    now, key = clock.now(), _key(name, address)
    with touch_transaction():
        acquire_write_lock(NO_PROJECT)
        if not is_known:
            _refuse_floods(key, now)
        row, is_new = SignInFailure.objects.select_for_update().get_or_create(
            **key, defaults={"first_at": now, "last_at": now}
        )
        _refuse_waiting(row, now)
        if _is_over(row, now):
            row.count, row.first_at, row.until = 0, now, None
        row.count, row.last_at = row.count + 1, now
        row.until = _end_of_wait(row.count, free, now)
        row.save()
    if is_new:
        _make_room(now)


def refuse_after_failure(*, name: str, address: str, is_known: bool = False) -> None:
    """Log a wait that the failed attempt has begun. Raises LimitReached then."""
    now, key = clock.now(), _key(name, address)
    for flood in _floods_of(key, now):
        logger.warning(
            "%d failed sign-ins %s %s: refused until %s",
            flood.failures,
            "as" if flood.part == "name" else "from",
            shown(flood.value),
            flood.until.isoformat(timespec="seconds"),
        )
    if not is_known:
        _refuse_floods(key, now)
    if (row := SignInFailure.objects.filter(**key).first()) and row.until:
        logger.warning(
            "%d failed sign-ins as %s from %s: refused until %s",
            row.count,
            shown(row.name),
            shown(row.address),
            row.until.isoformat(timespec="seconds"),
        )
        _refuse_waiting(row, now)


def clear_failures(*, name: str, address: str) -> None:
    with touch_transaction():
        SignInFailure.objects.filter(**_key(name, address)).delete()


def forget_failures(rows: QuerySet[SignInFailure]) -> int:
    """Remove the counts, and with them their waits; return how many."""
    with touch_transaction():
        return rows.delete()[0]


def list_floods() -> list[Flood]:
    """The names and addresses that are refused at the moment, since too many attempts of them have failed."""
    now = clock.now()
    recent = SignInFailure.objects.filter(last_at__gt=now - COUNTED_FOR)
    floods = []
    for part, most in MOST_OF.items():
        totals = recent.values(part).annotate(failures=Sum("count"), at=Max("last_at"))
        for value in totals.filter(failures__gte=most).order_by("-at").values_list(part, flat=True):
            floods += _floods_of({part: value}, now)
    return floods


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


def _floods_of(key: dict[str, str], now: datetime) -> list[Flood]:
    found = (_find_flood(part, key[part], now) for part in MOST_OF if part in key)
    return [flood for flood in found if flood]


def _find_flood(part: str, value: str, now: datetime) -> Flood | None:
    """It ends when fewer failures than the limit are younger than 15 minutes."""
    recent = SignInFailure.objects.filter(**{part: value}, last_at__gt=now - COUNTED_FOR)
    failures, until = 0, None
    for count, last_at in recent.order_by("-last_at").values_list("count", "last_at"):
        failures += count
        if until is None and failures >= MOST_OF[part]:
            until = last_at + COUNTED_FOR
    return Flood(part, value, failures, until) if until else None


def _refuse_floods(key: dict[str, str], now: datetime) -> None:
    if floods := _floods_of(key, now):
        _refuse(max(flood.until for flood in floods), now, ELSEWHERE)


def _key(name: str, address: str) -> dict[str, str]:
    return {"name": name.casefold()[:NAME_CHARACTERS], "address": address[:ADDRESS_CHARACTERS]}


def _refuse_waiting(row: SignInFailure, now: datetime) -> None:
    if row.until and row.until > now:
        _refuse(row.until, now)


def _refuse(until: datetime, now: datetime, advice: str = "") -> None:
    seconds = math.ceil((until - now).total_seconds())
    wait = counted(math.ceil(seconds / 60), "minutes") if seconds > 60 else counted(seconds, "seconds")
    raise LimitReached(f"Too many failed sign-ins. Try again in {wait}.{advice}", retry_after=seconds)


def _is_over(row: SignInFailure, now: datetime) -> bool:
    if row.until:
        return row.until + REMEMBERED_FOR <= now
    return row.first_at + COUNTED_FOR <= now


def _end_of_wait(failures: int, free: int, now: datetime) -> datetime | None:
    if failures < free:
        return None
    doublings = min(failures - free, 6)
    return now + timedelta(minutes=min(2**doublings, LONGEST_WAIT_MINUTES))
