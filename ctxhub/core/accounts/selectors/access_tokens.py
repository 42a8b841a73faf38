"""Lists the access tokens of a project, without their secrets."""

from datetime import datetime

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, read_cursor, total_of
from ctxhub.core.models import AccessToken

COLUMNS = ("id", "name", "agent", "start", "scopes", "created", "expires", "last_used", "revoked")


def list_tokens(project_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    """A page of tokens, newest first, with revoked and expired ones."""
    limit = clean_limit(limit)
    everything = AccessToken.objects.in_project(project_id)
    tokens = everything.select_related("agent").order_by("-pk")
    if cursor:
        tokens = tokens.filter(pk__lt=read_cursor(cursor, int)[0])
    found = list(tokens[: limit + 1])
    return Listing(
        columns=COLUMNS,
        rows=[token_row(token) for token in found[:limit]],
        next=make_cursor(found[limit - 1].pk) if len(found) > limit else None,
        extra=total_of(everything[: COUNTED_TO + 1].count()),
        cursor_after=lambda count: make_cursor(found[count - 1].pk),
    )


def token_row(token: AccessToken) -> list[object]:
    """The values of `COLUMNS`. `start` tells tokens apart; the secret is not stored."""
    return [
        *(token.pk, token.name, token.agent.name if token.agent else None, token.start, token.scopes),
        *(_time(at) for at in (token.created_at, token.expires_at, token.last_used_at, token.revoked_at)),
    ]


def _time(moment: datetime | None) -> str | None:
    return format_time(moment) if moment else None
