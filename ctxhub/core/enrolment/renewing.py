"""A token that makes the one in its own place, before it ends."""

from datetime import timedelta

from ctxhub.core.accounts.access_tokens import NewToken, find_token, verify
from ctxhub.core.accounts.own_tokens import rotate_token
from ctxhub.core.kit import clock
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import Conflict, NotAllowed

RENEWABLE_BEFORE = timedelta(days=30)
GRACE = timedelta(days=7)


def renew(secret: str) -> NewToken:
    """A token like it, for as long again; it stays good for a week itself. Once, and within its last 30 days
    or the second half of its life.

    Raises Unauthenticated for a token that is not usable, NotAllowed where whoever approved it did not allow
    this, and Conflict too early and for the second time.
    """
    verify(secret)
    row = find_token(secret)
    assert row is not None
    if not row.renews or row.expires_at is None:
        raise NotAllowed("The token may not renew itself.", hint="Connect again, or make a new token.")
    earliest = row.expires_at - min(RENEWABLE_BEFORE, (row.expires_at - row.created_at) / 2)
    if row.replaced_by_id is None and clock.now() < earliest:
        raise Conflict(f"It is too early: the token renews itself from {format_time(earliest)} on.")
    return rotate_token(row, grace=GRACE, by=row.owner)
