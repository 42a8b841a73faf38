"""Tokens that members make for their own agents: always pinned, within their role, and expiring."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q

from ctxhub.core.accounts.selectors.names_of_people import (
    acting_name,
    agent_keys,
    find_names_of_people,
    free_name,
    is_name_of_person,
    name_of_person,
)
from ctxhub.core.accounts.services.access_tokens import NewToken, clean_scopes, insert_token
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import READ, WRITE, Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, LimitReached, NotAllowed, shown
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import AccessToken, Agent, Project

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
) -> NewToken:
    """Create a token for an agent of the person's own; 90 days if no end is given, a year at most.

    `caller`: the person in the project. `scopes`: of theirs; None: read, and write if they may. The agent is
    new, or one that only their own tokens were pinned to: else Conflict, with a free name. Raises NotAllowed
    for the name of a person and for scopes beyond their role, LimitReached beyond 50 usable tokens.
    """
    agent = clean_agent(agent)
    granted = _scopes(caller, scopes)
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


def _scopes(caller: Caller, scopes: Iterable[str] | None) -> list[str]:
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
