"""Progress notifications, for requests with a progress token."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from ctxhub.core.kit.progress import following
from ctxhub.core.text.plurals import counted
from ctxhub.mcp.requests import Request

TOKEN = "progressToken"  # noqa: S105
SECONDS_BETWEEN = 0.25

Message = dict[str, Any]
Tell = Callable[[Message], None]
"""Sends a notification; from any thread."""


@contextmanager
def telling(request: Request, tell: Tell | None) -> Iterator[None]:
    """Tell the progress of the block to the client, if it asked for that and can be told."""
    token = request.meta.get(TOKEN)
    if token is None or tell is None:
        yield
        return
    with following(_Notifying(token, tell)):
        yield


class _Notifying:
    """Tells the first step, the last, and at most four a second between them; each is further than before."""

    def __init__(self, token: Any, tell: Tell) -> None:
        self._token, self._tell = token, tell
        self._done, self._told_at = 0, 0.0

    def __call__(self, done: int, total: int | None, what: str) -> None:
        now = monotonic()
        is_due = not self._done or done == total or now - self._told_at >= SECONDS_BETWEEN
        if done <= self._done or not is_due:
            return
        self._done, self._told_at = done, now
        of_all = {} if total is None else {"total": total}
        message = counted(done, what) if total is None else f"{done:,} of {counted(total, what)}"
        params = {"progressToken": self._token, "progress": done, **of_all, "message": message}
        self._tell({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
