"""Lists the access tokens of a project, without their secrets."""

from datetime import datetime

from django.db.models import Q, QuerySet

from ctxhub.core.kit.clock import format_time, now
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import AccessToken

COLUMNS = ("id", "name", "agent", "start", "scopes", "created", "expires", "last_used", "revoked")


STATES = ("active", "expired", "revoked")


def tokens_of(project_id: int) -> QuerySet[AccessToken]:
    """All tokens, newest first, with revoked and expired ones."""
    return AccessToken.objects.in_project(project_id).select_related("agent").order_by("-created_at")


def in_state(tokens: QuerySet[AccessToken], state: str) -> QuerySet[AccessToken]:
    """`STATES`: a revoked token is revoked, whether it has expired or not."""
    if state == "revoked":
        return tokens.filter(revoked_at__isnull=False)
    expired = Q(expires_at__lte=now())
    return tokens.filter(expired if state == "expired" else ~expired, revoked_at__isnull=True)


def list_tokens(tokens: QuerySet[AccessToken], *, limit: int = 20, cursor: str | None = None) -> Listing:
    """A page of tokens: rows as in `COLUMNS`."""
    return page_of(tokens, COLUMNS, lambda found: [*map(token_row, found)], limit=limit, cursor=cursor)


def token_row(token: AccessToken) -> list[object]:
    """The values of `COLUMNS`. `start` tells tokens apart; the secret is not stored."""
    return [
        *(token.pk, token.name, token.agent.name if token.agent else None, token.start, token.scopes),
        *(_time(at) for at in (token.created_at, token.expires_at, token.last_used_at, token.revoked_at)),
    ]


def _time(moment: datetime | None) -> str | None:
    return format_time(moment) if moment else None
