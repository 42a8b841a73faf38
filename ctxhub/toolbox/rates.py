"""Rate limit: requests per token and minute, CTXHUB_RATE_LIMIT; 0 means no limit.

On PostgreSQL all processes count together: each takes shares of the limit from the database and uses them
up by itself, so that few requests need a statement. On SQLite each process counts for itself.
"""

import math
import threading
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import Error, connection

from ctxhub.core.events import waiting
from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.replaced_file import when_replaced

WINDOW_SECONDS = 60
# So much of a limit a process takes at once: of what it does not use, others cannot make use either.
SHARE = 20
HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


@frozen
class Window:
    """A minute of a token in this process. `ends`: of `time.monotonic`.

    `used`: the requests of the window, of all processes as far as they are known here; `free`: what is left
    of a share.
    """

    ends: float
    used: int = 0
    free: int = 0


def count_request(token_id: int | None) -> None:
    """Count a request of a token. Raises LimitReached above the limit: `limit`, `retry_after` in seconds."""
    limit: int = settings.RATE_LIMIT
    if not limit or token_id is None or waiting.is_again():
        return
    window = _count(token_id) if connection.vendor == "sqlite" else _count_with_others(token_id, limit)
    if window.used > limit:
        wait = max(1, round(window.ends - time.monotonic()))
        message = f"More than {limit} requests in a minute."
        raise LimitReached(message, hint=f"Wait {wait} s.", limit=limit, retry_after=wait)


def needs_database(token_id: int | None) -> bool:
    """Whether counting the next request of the token asks the database."""
    limit: int = settings.RATE_LIMIT
    if not limit or connection.vendor == "sqlite" or token_id is None:
        return False
    window = _current(token_id)
    return not window.free and window.used <= limit


def rate_headers(token_id: int | None) -> dict[str, str]:
    """What the answer to a counted request says of the rest; nothing without a limit."""
    limit: int = settings.RATE_LIMIT
    if not limit or token_id not in _windows:
        return {}
    window = _windows[token_id]
    left = max(0, limit - window.used)
    return _headers(limit, left, max(0, math.ceil(window.ends - time.monotonic())))


def refusal_headers(details: Mapping[str, Any]) -> dict[str, str]:
    """What the answer to a request above the limit says; nothing for another error."""
    limit, wait = details.get("limit"), details.get("retry_after")
    return {} if limit is None or wait is None else _headers(limit, 0, wait)


def _headers(*values: int) -> dict[str, str]:
    return dict(zip(HEADERS, map(str, values), strict=True))


def _current(token_id: int) -> Window:
    now = time.monotonic()
    window = _windows.get(token_id)
    return window if window and window.ends > now else Window(now + WINDOW_SECONDS)


def _count(token_id: int) -> Window:
    with _lock:
        window = _current(token_id)
        _windows[token_id] = Window(window.ends, window.used + 1, max(0, window.free - 1))
        return _windows[token_id]


def _count_with_others(token_id: int, limit: int) -> Window:
    if not needs_database(token_id):
        return _count(token_id)
    share = max(1, limit // SHARE)
    try:
        taken, seconds = _take(token_id, share)
    except Error:  # The limit keeps nobody out where the request itself might do without a write.
        return _count(token_id)
    granted = share - max(0, taken - limit)
    with _lock:
        _windows[token_id] = Window(
            time.monotonic() + seconds, taken - share + 1 if granted > 0 else limit + 1, max(0, granted - 1)
        )
        return _windows[token_id]


def _take(token_id: int, share: int) -> tuple[int, float]:
    """Take a share of the minute of the database's clock: what all have taken by then, and seconds left."""
    [(taken, seconds)] = sql.rows(
        "INSERT INTO core_requestcount AS held (token_id, minute, taken)"
        " VALUES (%s, floor(extract(epoch FROM clock_timestamp()) / 60)::bigint, %s)"
        " ON CONFLICT (token_id) DO UPDATE SET minute = excluded.minute, taken = excluded.taken"
        " + CASE WHEN held.minute = excluded.minute THEN held.taken ELSE 0 END"
        " RETURNING taken, 60 - extract(epoch FROM clock_timestamp())::numeric %% 60",
        [token_id, share],
    )
    return int(taken), float(seconds)


_windows: dict[int, Window] = {}
_lock = threading.Lock()
when_replaced.append(_windows.clear)
