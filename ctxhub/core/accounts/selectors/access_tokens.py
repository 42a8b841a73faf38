"""Lists the access tokens of a project, without their secrets."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from django.db.models import Q, QuerySet
from typing_extensions import TypedDict

from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from ctxhub.core.kit.clock import format_time, now
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import AccessToken
from ctxhub.core.toolbox.argument_types import About, Time, one_of

COLUMNS = ("id", "name", "agent", "start", "scopes", "created", "expires", "last_used", "revoked")

Scope = Annotated[str, one_of(READ, WRITE, ADMIN)]


class Token(TypedDict):
    id: int
    name: str
    agent: Annotated[str | None, About("The only agent it speaks for; null: any.")]
    start: Annotated[str, About("How it begins.")]
    scopes: list[Scope]
    created: Time
    expires: Time | None
    last_used: Time | None
    revoked: Time | None


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
    return page_of(tokens, COLUMNS, _rows, limit=limit, cursor=cursor)


def _rows(tokens: Sequence[AccessToken]) -> list[list[Any]]:
    return [list(token_item(token).values()) for token in tokens]


def token_item(token: AccessToken) -> dict[str, Any]:
    """A token as REST shows it. `start` tells tokens apart; the secret is not stored."""
    return dict(
        Token(
            id=token.pk,
            name=token.name,
            agent=token.agent.name if token.agent else None,
            start=token.start,
            scopes=token.scopes,
            created=format_time(token.created_at),
            expires=_time(token.expires_at),
            last_used=_time(token.last_used_at),
            revoked=_time(token.revoked_at),
        )
    )


def _time(moment: datetime | None) -> str | None:
    return format_time(moment) if moment else None
