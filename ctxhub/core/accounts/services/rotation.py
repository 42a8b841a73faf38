"""Rotates access tokens: a new secret takes the place of an old one, which stays good for a while."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User

from ctxhub.core.accounts.selectors.names_of_people import is_name_of_person, name_of_person
from ctxhub.core.accounts.services.access_tokens import NewToken, insert_token
from ctxhub.core.accounts.services.own_tokens import check_own_agent
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import Conflict, InvalidInput, shown
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import AccessToken

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
            expires_at=_end(old, now),
            created_by=by or old.created_by,
            owner=old.owner,
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


def _end(old: AccessToken, now: datetime) -> datetime | None:
    return now + (old.expires_at - old.created_at) if old.expires_at else None


def _end_after(old: AccessToken, end: datetime, new: AccessToken, now: datetime) -> None:
    old.replaced_by = new
    if end <= now:
        old.revoked_at = now
    elif old.expires_at is None or old.expires_at > end:
        old.expires_at = end
    old.save(update_fields=["replaced_by", "revoked_at", "expires_at"])
