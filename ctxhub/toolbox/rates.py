"""Rate limit: requests per token and minute, CTXHUB_RATE_LIMIT, for each process; 0 means no limit."""

import threading
import time

from django.conf import settings

from ctxhub.core.events import waiting
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.kit.replaced_file import when_replaced

WINDOW_SECONDS = 60


def count_request(token_id: int | None) -> None:
    """Count a request of a token. Raises LimitReached above the limit; its `retry_after` is in seconds."""
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
        raise LimitReached(message, hint=f"Wait {wait} s.", retry_after=wait)


_windows: dict[int, tuple[float, int]] = {}
_lock = threading.Lock()
when_replaced.append(_windows.clear)
