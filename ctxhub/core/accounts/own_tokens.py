"""Tokens that members make for their own agents, and new secrets in the place of old ones."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q

from ctxhub.core.accounts.access_tokens import UNKNOWN, NewToken, Origin, clean_scopes, insert_token
from ctxhub.core.accounts.names_of_people import (
    acting_name,
    agent_keys,
    find_names_of_people,
    free_name,
    is_name_of_person,
    name_of_person,
)
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import READ, WRITE, Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, LimitReached, NotAllowed, shown
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import AccessToken, Agent, Project

GRACE = timedelta(hours=24)
LONGEST_GRACE = timedelta(days=30)


def rotate_token(
    token: AccessToken, *, grace: timedelta = GRACE, agent: str = "", by: User | None = None
) -> NewToken:
    """Create a token like it, for as long again, and end the old one after `grace` (0: at once).

    `agent`: pin the new one to this agent. That is needed if the old one is pinned to the name of a person
    (else NotAllowed). Raises Conflict for a token that has ended or was rotated before: of two rotations at
    once, one succeeds.
    """
    if not timedelta(0) <= grace <= LONGEST_GRACE:
        raise InvalidInput(f"grace: from 0 to {LONGEST_GRACE.days} days.")
    agent = clean_agent(agent) if agent else ""
    with write_transaction(token.project_id):
        tokens = AccessToken.objects.in_project(token.project_id)
        old = tokens.select_related("project", "agent", "owner").get(pk=token.pk)
        now = clock.now()
        _refuse_ended(old)
        pinned = agent or (old.agent.name if old.agent else "")
        if pinned:
            _check_agent(old, pinned)
        new = insert_token(
            project=old.project,
            name=old.name,
            agent=pinned,
            scopes=old.scopes,
            expires_at=_rotation_end(old, now),
            created_by=by or old.created_by,
            owner=old.owner,
            origin=Origin(old.client, old.host, old.renews),
        )
        _end_after(old, now + grace, new.row, now)
    return new


def clean_grace(text: str, name: str = "grace") -> timedelta:
    """How long the old token stays good: "24h", "90m", "7d", or "0". Raises InvalidInput."""
    try:
        span = timedelta(0) if text.strip() == "0" else clock.find_span(text)
    except OverflowError:
        span = None
    if span is None:
        raise InvalidInput(
            f"{name}: {shown(text)} is not a length of time.", hint='Use "24h", "90m", "7d" or "0".'
        )
    return span


def _refuse_ended(old: AccessToken) -> None:
    if old.replaced_by_id:
        raise Conflict(f"Token {old.pk} was rotated before: token {old.replaced_by_id} is in its place.")
    if old.revoked_at:
        raise Conflict(f"Token {old.pk} was revoked; make a new one.")
    if not old.is_usable:
        raise Conflict(f"Token {old.pk} has expired; make a new one.")


def _check_agent(old: AccessToken, agent: str) -> None:
    if is_name_of_person(old.project_id, agent):
        raise name_of_person(old.project_id, agent)
    is_kept = old.agent is not None and old.agent.folded == agent.casefold()
    if old.owner and not is_kept:
        check_own_agent(old.project, old.owner, agent)


def _rotation_end(old: AccessToken, now: datetime) -> datetime | None:
    return now + (old.expires_at - old.created_at) if old.expires_at else None


def _end_after(old: AccessToken, end: datetime, new: AccessToken, now: datetime) -> None:
    old.replaced_by = new
    if end <= now:
        old.revoked_at = now
    elif old.expires_at is None or old.expires_at > end:
        old.expires_at = end
    old.save(update_fields=["replaced_by", "revoked_at", "expires_at"])


LASTS = timedelta(days=90)
LASTS_AT_MOST = timedelta(days=365)
MOST_USABLE = 50


def create_own_token(
    *,
    caller: Caller,
    owner: User,
    agent: str,
    name: str = "",
    scopes: Iterable[str] | None = None,
    expires_at: datetime | None = None,
    origin: Origin = UNKNOWN,
) -> NewToken:
    """Create a token for an agent of the person's own; 90 days if no end is given, a year at most.

    `caller`: the person in the project. `scopes`: of theirs; None: read, and write if they may. The agent is
    new, or one that only their own tokens were pinned to: else Conflict, with a free name. Raises NotAllowed
    for the name of a person and for scopes beyond their role, LimitReached beyond 50 usable tokens.
    """
    agent = clean_agent(agent)
    granted = own_scopes(caller, scopes)
    ends = _end(expires_at)
    with write_transaction(caller.project_id):
        check_own_agent(caller.project, owner, agent)
        _check_number(caller.project, owner)
        return insert_token(
            project=caller.project,
            name=name or agent,
            agent=agent,
            scopes=granted,
            expires_at=ends,
            created_by=owner,
            owner=owner,
            origin=origin,
        )


def check_own_agent(project: Project, owner: User, agent: str) -> None:
    """Raise NotAllowed for the name of a person, Conflict for an agent that is not the member's own alone."""
    if is_name_of_person(project.pk, agent):
        raise name_of_person(project.pk, agent)
    row = Agent.objects.in_project(project).filter(folded=agent.casefold()).first()
    if row is None:
        return
    tokens = AccessToken.objects.in_project(project).filter(agent=row)
    if not tokens.exists() or tokens.filter(~Q(owner=owner) | Q(owner=None)).exists():
        raise Conflict(
            f"agent {shown(agent)} is not yours alone: others speak as it. "
            f"Choose another, such as {offered_name(project.pk, owner, agent)!r}."
        )


def offered_name(project_id: int, owner: User, client: str) -> str:
    """A name for a person's agent that nobody in the project has: `grace-claude`, `grace-claude-2`."""
    taken = agent_keys(project_id) | find_names_of_people(project_id)
    return free_name(acting_name(owner.get_username()), taken, ending=f"-{client[:40]}")


def own_scopes(caller: Caller, scopes: Iterable[str] | None) -> list[str]:
    """The scopes of a token of the person's own. Raises NotAllowed for those beyond their role."""
    if scopes is None:
        return [scope for scope in (READ, WRITE) if caller.may(scope)]
    granted = clean_scopes(scopes)
    if beyond := [scope for scope in granted if not caller.may(scope)]:
        allowed = ", ".join(clean_scopes(caller.scopes))
        raise NotAllowed(f"Your role does not allow the scope {beyond[0]!r}; it allows {allowed}.")
    return granted


def _end(expires_at: datetime | None) -> datetime:
    now = clock.now()
    if expires_at is None:
        return now + LASTS
    if expires_at > now + LASTS_AT_MOST:
        raise InvalidInput(f"expires_at may be {LASTS_AT_MOST.days} days ahead at most.")
    return expires_at


def _check_number(project: Project, owner: User) -> None:
    tokens = AccessToken.objects.in_project(project).filter(owner=owner, revoked_at=None)
    if tokens.filter(expires_at__gt=clock.now()).count() >= MOST_USABLE:
        raise LimitReached(f"You have {MOST_USABLE} tokens here already. Revoke one that you do not use.")
