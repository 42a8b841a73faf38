"""Rate limit: requests per token and minute, CTXHUB_RATE_LIMIT, for each process; 0 means no limit."""

import math
import threading
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from ctxhub.core.events import waiting
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.kit.replaced_file import when_replaced

WINDOW_SECONDS = 60
HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


def count_request(token_id: int | None) -> None:
    """Count a request of a token. Raises LimitReached above the limit: `limit`, `retry_after` in seconds."""
    limit: int = settings.RATE_LIMIT
    if not limit or token_id is None or waiting.is_again():
        return
    now = time.monotonic()
    with _lock:
        started, count = _windows.get(token_id, (now, 0))
        if now - started >= WINDOW_SECONDS:
            started, count = now, 0
        _windows[token_id] = (started, count + 1)
    if count >= limit:
        wait = max(1, round(started + WINDOW_SECONDS - now))
        message = f"More than {limit} requests in a minute."
        raise LimitReached(message, hint=f"Wait {wait} s.", limit=limit, retry_after=wait)


def rate_headers(token_id: int | None) -> dict[str, str]:
    """What the answer to a counted request says of the rest; nothing without a limit."""
    limit: int = settings.RATE_LIMIT
    if not limit or token_id not in _windows:
        return {}
    started, count = _windows[token_id]
    ends_in = max(0, math.ceil(started + WINDOW_SECONDS - time.monotonic()))
    return _headers(limit, max(0, limit - count), ends_in)


def refusal_headers(details: Mapping[str, Any]) -> dict[str, str]:
    """What the answer to a request above the limit says; nothing for another error."""
    limit, wait = details.get("limit"), details.get("retry_after")
    return {} if limit is None or wait is None else _headers(limit, 0, wait)


def _headers(*values: int) -> dict[str, str]:
    return dict(zip(HEADERS, map(str, values), strict=True))


_windows: dict[int, tuple[float, int]] = {}
_lock = threading.Lock()
when_replaced.append(_windows.clear)
