"""Lists the access tokens of a project, without their secrets."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.db.models import OuterRef, Q, QuerySet, Subquery
from typing_extensions import TypedDict

from ctxhub.core.accounts.selectors.people import scopes_of
from ctxhub.core.kit.caller import ADMIN, ALL_SCOPES, READ, WRITE
from ctxhub.core.kit.clock import format_time, now
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import AccessToken, Membership
from ctxhub.core.toolbox.argument_types import About, Time, one_of

COLUMNS = (
    *("id", "name", "agent", "owner", "start", "scopes"),
    *("created", "expires", "last_used", "revoked", "replaced_by"),
)

Scope = Annotated[str, one_of(READ, WRITE, ADMIN)]


class Token(TypedDict):
    id: int
    name: str
    agent: Annotated[str | None, About("The only agent it speaks for; null: any.")]
    owner: Annotated[str | None, About("The member whose own it is; null: the project's.")]
    start: Annotated[str, About("How it begins.")]
    scopes: list[Scope]
    created: Time
    expires: Time | None
    last_used: Time | None
    revoked: Time | None
    replaced_by: Annotated[int | None, About("The token that it was rotated to.")]


def with_owner_role(tokens: QuerySet[AccessToken]) -> QuerySet[AccessToken]:
    """Read with each token, as `owner_role`, the role of its owner in the project: None without one."""
    role = Membership.objects.filter(user=OuterRef("owner"), project=OuterRef("project")).values("role")
    return tokens.annotate(owner_role=Subquery(role[:1]))


def owner_allows(token: AccessToken) -> frozenset[str]:
    """What the role of its owner allows to a token read `with_owner_role`: nothing once they left."""
    return scopes_of(token.owner, token.owner_role) if token.owner else ALL_SCOPES  # type: ignore[attr-defined]


# How long before its end the people of a token, and its agent, are told.
TOLD_BEFORE = timedelta(days=7)


def expiring_tokens(project_ids: Collection[int]) -> QuerySet[AccessToken]:
    """The usable tokens that expire within a week and that nothing takes the place of, the first first."""
    soon = AccessToken.unscoped.filter(project__in=project_ids, revoked_at=None, replaced_by=None)
    return soon.filter(expires_at__gt=now(), expires_at__lte=now() + TOLD_BEFORE).order_by("expires_at")


STATES = ("active", "expired", "revoked")


def tokens_of(project_id: int) -> QuerySet[AccessToken]:
    """All tokens, newest first, with revoked and expired ones."""
    return AccessToken.objects.in_project(project_id).select_related("agent", "owner").order_by("-created_at")


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
            owner=token.owner.get_username() if token.owner else None,
            start=token.start,
            scopes=token.scopes,
            created=format_time(token.created_at),
            expires=_time(token.expires_at),
            last_used=_time(token.last_used_at),
            revoked=_time(token.revoked_at),
            replaced_by=token.replaced_by_id,
        )
    )


def _time(moment: datetime | None) -> str | None:
    return format_time(moment) if moment else None
