"""Creates, lists, authenticates and revokes access tokens. Their secrets are shown once."""

import hashlib
import hmac
import logging
import secrets
import threading
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import Error
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from typing_extensions import TypedDict

from ctxhub.core.accounts.names_of_people import is_name_of_person, name_of_person
from ctxhub.core.accounts.people import scopes_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, ALL_SCOPES, READ, WRITE, Caller
from ctxhub.core.kit.clock import format_time, now
from ctxhub.core.kit.errors import InvalidInput, Unauthenticated, unknown_word
from ctxhub.core.kit.failures import is_unwritable, log_failure
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_new_name
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.kit.restored import refuse_other_key
from ctxhub.core.kit.transactions import try_touch_transaction, write_transaction
from ctxhub.core.models import AccessToken, Agent, Membership, Project
from ctxhub.core.vocabulary.names import name_agent
from ctxhub.toolbox.argument_types import About, Time, one_of
from ctxhub.toolbox.rates import count_request, needs_database

PREFIX = "ctx_"


def new_secret() -> str:
    """40 random characters behind a prefix by which logs and texts mask them."""
    return PREFIX + secrets.token_urlsafe(30)


def digest_of(secret: str) -> str:
    return _digest(secret, settings.SECRET_KEY)


def digests_of(secret: str) -> list[str]:
    """The digests by the current and by earlier keys."""
    return [_digest(secret, key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def _digest(secret: str, key: str) -> str:
    return hmac.new(key.encode(), secret.encode(errors="replace"), hashlib.sha256).hexdigest()


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


UNUSED_AFTER = timedelta(days=90)
STATES = ("active", "unused", "expired", "revoked")


def tokens_of(project_id: int) -> QuerySet[AccessToken]:
    """All tokens, newest first, with revoked and expired ones."""
    return AccessToken.objects.in_project(project_id).select_related("agent", "owner").order_by("-created_at")


def in_state(tokens: QuerySet[AccessToken], state: str) -> QuerySet[AccessToken]:
    """`STATES`: a revoked token is revoked, whether it has expired or not; an unused one is active, too."""
    if state == "revoked":
        return tokens.filter(revoked_at__isnull=False)
    if state == "unused":
        used = Coalesce("last_used_at", "created_at")
        tokens = tokens.alias(used=used).filter(used__lt=now() - UNUSED_AFTER)
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


CACHED_SECONDS = 5.0
USE_NOTED_EVERY = timedelta(minutes=1)


@frozen
class Origin:
    """What asked for a token, as it said, and whether the token may make one in its own place."""

    client: str = ""
    host: str = ""
    renews: bool = False


UNKNOWN = Origin()


@frozen
class NewToken:
    """A new token: its row, and the secret, which is not stored."""

    row: AccessToken
    secret: str


def create_token(
    *,
    project: Project,
    name: str = "",
    agent: str = "",
    scopes: Iterable[str] = (READ, WRITE),
    expires_at: datetime | None = None,
    created_by: User | None = None,
    origin: Origin = UNKNOWN,
) -> NewToken:
    """Create a token of a project; with `agent` it can act as that agent only.

    Raises NotAllowed if it would speak as a person: calls that name no agent speak as the name of the token.
    """
    agent = clean_new_name(agent, "agent", at_most=WORD_LENGTH) if agent else ""
    with write_transaction(project.pk):
        if is_name_of_person(project.pk, agent or name):
            raise name_of_person(project.pk, agent or name)
        return insert_token(
            project=project,
            name=name,
            agent=agent,
            scopes=clean_scopes(scopes),
            expires_at=expires_at,
            created_by=created_by,
            origin=origin,
        )


def insert_token(
    *,
    project: Project,
    name: str,
    agent: str,
    scopes: list[str],
    expires_at: datetime | None,
    created_by: User | None,
    owner: User | None = None,
    origin: Origin = UNKNOWN,
) -> NewToken:
    """Insert the row of a token, in the transaction of the caller, which has checked the agent."""
    if expires_at and expires_at <= clock.now():
        raise InvalidInput("expires_at lies in the past.")
    secret = new_secret()
    row = AccessToken.objects.create(
        project=project,
        name=clean_new_name(name or agent or f"token-{secret[4:10]}", "name", at_most=WORD_LENGTH),
        agent=_agent_row(project, agent) if agent else None,
        digest=digest_of(secret),
        start=secret[:10],
        scopes=scopes,
        expires_at=expires_at,
        created_by=created_by,
        owner=owner,
        client=origin.client,
        host=origin.host,
        renews=origin.renews,
    )
    return NewToken(row, secret)


def revoke_token(token: AccessToken) -> AccessToken:
    """Revoke a token now. Other processes notice within seconds, when their cache expires."""
    if token.revoked_at is None:
        token.revoked_at = clock.now()
        token.save(update_fields=["revoked_at"])
    return token


def clean_scopes(scopes: Iterable[str]) -> list[str]:
    names = [scope.strip().lower() for scope in scopes]
    for scope in names:
        if scope not in ALL_SCOPES:
            raise unknown_word("scopes", scope, [READ, WRITE, ADMIN])
    if not names:
        raise InvalidInput("scopes: name at least one of read, write, admin.")
    return [scope for scope in (READ, WRITE, ADMIN) if scope in names]


def authenticate(secret: str) -> Caller:
    """The caller of a token. Raises Unauthenticated, with a hint for the fix, or LimitReached."""
    caller = find_verified(secret) or verify(secret)
    count_request(caller.token_id)
    return caller


def authenticate_remembered(secret: str) -> Caller | None:
    """Like `authenticate`, but only from the cache, without a query; None where that is not enough."""
    caller = find_verified(secret)
    if caller is None or needs_database(caller.token_id):
        return None
    count_request(caller.token_id)
    return caller


def find_verified(secret: str) -> Caller | None:
    """The caller of a token that was verified within seconds; counts no request."""
    valid_until, caller = _verified.get(digest_of(secret), (0.0, None))
    return caller if valid_until > time.monotonic() else None


def find_remembered(secret: str) -> Caller | None:
    """The caller of a token that this process has verified at some time; it may have expired since."""
    return _verified.get(digest_of(secret), (0.0, None))[1]


def verify(secret: str) -> Caller:
    """Like `authenticate`, but counts no request."""
    with _lock:
        generation = _generation
    row = find_token(secret)
    if row is None:
        refuse_other_key()
    _refuse_unusable(secret, row)
    assert row is not None
    caller = _caller(row)
    _note_use(row)
    with _lock:
        if len(_verified) > 1_000:
            _verified.clear()
        if generation == _generation:  # Nothing was revoked since the row was read.
            _verified[digest_of(secret)] = (
                time.monotonic() + _cacheable_seconds(row),
                caller,
            )
    return caller


def find_token(secret: str) -> AccessToken | None:
    """The row of a token, usable or not, with `owner_role`; does not update `last_used_at`."""
    rows = with_owner_role(AccessToken.unscoped.select_related("project", "agent", "owner"))
    return rows.filter(digest__in=digests_of(secret)).first()


def callers_now(token_ids: Iterable[int]) -> dict[int, Caller]:
    """The callers of these tokens as their rows are now, by token id, in one query; without unusable ones."""
    found = with_owner_role(AccessToken.unscoped.select_related("project", "agent", "owner"))
    callers = {}
    for row in found.filter(pk__in=list(token_ids)):
        with suppress(Unauthenticated):
            _refuse_unusable("", row)
            callers[row.pk] = _caller(row)
    return callers


def forget_tokens() -> None:
    """Clear the cache: the next request with any token reads its row again."""
    global _generation
    with _lock:
        _generation += 1
        _verified.clear()


def _cacheable_seconds(row: AccessToken) -> float:
    left = (row.expires_at - clock.now()).total_seconds() if row.expires_at else CACHED_SECONDS
    return min(left, CACHED_SECONDS)


def _refuse_unusable(secret: str, row: AccessToken | None) -> None:
    if secret.startswith("${"):
        raise Unauthenticated(
            f"The token is the literal text {secret[:40]}: your client did not fill in the variable.",
            hint="Set the variable in the environment your client starts in, then restart it.",
        )
    if row is None:
        raise Unauthenticated(
            "The token is not known here.", hint="Make one: manage.py token create --project P"
        )
    if row.revoked_at:
        raise Unauthenticated(
            "The token was revoked.", hint="Ask an administrator of the project for a new one."
        )
    if not row.is_usable:
        raise Unauthenticated(
            "The token has expired.", hint="Ask an administrator of the project for a new one."
        )


def _scopes_now(row: AccessToken) -> frozenset[str]:
    """The scopes of the token that the role of its owner still allows. Raises Unauthenticated without one."""
    allowed = owner_allows(row)
    if row.owner and not allowed:
        raise Unauthenticated(
            f"{row.owner.get_username()}, whose token it is, is no member of the project.",
            hint="Ask an administrator of the project for an invitation.",
        )
    return allowed & frozenset(row.scopes)


def _caller(row: AccessToken) -> Caller:
    scopes = _scopes_now(row)
    return Caller(
        project=row.project,
        agent=row.agent.name if row.agent else row.name,
        scopes=scopes,
        pinned=row.agent is not None,
        keeps_secrets=ADMIN in scopes,
        token_id=row.pk,
        token_ends_at=row.expires_at,
        maker_id=row.created_by_id,
    )


def _note_use(row: AccessToken) -> None:
    now = clock.now()
    if row.last_used_at is None or now - row.last_used_at > USE_NOTED_EVERY:
        try:
            with try_touch_transaction() as may_write:
                if may_write:
                    AccessToken.objects.in_project(row.project_id).filter(pk=row.pk).update(last_used_at=now)
        except Error as error:  # A full or read-only disk stops no read.
            if not is_unwritable(error):
                raise
            log_failure(f"noting token {row.pk}", error, level=logging.WARNING)


def _agent_row(project: Project, name: str) -> Agent:
    agent_id = name_agent(Caller(project=project, agent=name), clock.now())
    return Agent.objects.in_project(project).get(pk=agent_id)


# Cache of verified tokens by digest, valid for seconds: a query costs more than the rest of a call.
_verified: dict[str, tuple[float, Caller]] = {}
_generation = 0
_lock = threading.Lock()
when_replaced.append(forget_tokens)
