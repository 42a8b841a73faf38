"""What access tokens tell a person: theirs, and those of the projects they administrate, soon expire."""

from django.db.models import Q
from django.urls import reverse

from ctxhub.console.needs.sources import SHOWN, FoundNeeds, Name, Need, PageLink, Part, Reader
from ctxhub.core.accounts.access_tokens import expiring_tokens
from ctxhub.core.kit import clock
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import AccessToken
from ctxhub.core.text.plurals import counted


def tokens_that_expire(reader: Reader) -> FoundNeeds:
    theirs = Q(owner=reader.user_id) | Q(owner=None, project__in=reader.administrated)
    found = list(expiring_tokens(reader.project_ids).filter(theirs).select_related("agent"))
    return FoundNeeds(
        [_need(token, reader) for token in found[:SHOWN]],
        len(found),
        "access tokens",
        "that soon expire",
        reader.list_url("core_accesstoken"),
    )


def _need(token: AccessToken, reader: Reader) -> Need:
    assert token.expires_at
    whose = "Your access token " if token.owner_id == reader.user_id else "The access token "
    days = (token.expires_at - clock.now()).days
    when = f"in {counted(days, 'days')}" if days else "within a day"
    agent: list[Part] = []
    if token.agent:
        agent = [" of the agent ", Name(token.agent.name, token.agent_id)]
    return Need(
        f"token-{token.pk}",
        token.project_id,
        Priority.MEDIUM if days else Priority.HIGH,
        "key",
        [whose, Name(token.name), *agent, f" expires {when}"],
        token.created_at,
        [PageLink("Rotate", reverse("admin:core_accesstoken_rotate", args=[token.pk]))],
    )
