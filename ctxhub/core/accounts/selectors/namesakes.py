"""Who has a name already: agents and people that a person with a new name would be taken for."""

from collections.abc import Collection, Mapping

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from ctxhub.core.accounts.selectors.names_of_people import acting_name, name_key
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import Conflict, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import AccessToken, Agent, Membership


@frozen
class Clash:
    """An agent that has the name of a person. `tokens`: the ids of the usable tokens pinned to it."""

    agent: Agent
    username: str
    tokens: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """For an administrator: what the agent may still do, and what ends it."""
        if not self.tokens:
            return f"{self.agent.name} is refused as the name of a person; the agent needs another name."
        ids = " and ".join(map(str, self.tokens))
        which = f"Token {ids} is" if len(self.tokens) == 1 else f"Tokens {ids} are"
        return f"{which} pinned to {self.agent.name}, the name of a person: rotate with another agent."


def refuse_taken_username(
    username: str, *, project_ids: Collection[int] | None, account: int | None = None
) -> None:
    """Raise Conflict if the person would act as somebody else in one of the projects (None: in any).

    `account`: the id of an account that exists; it may go on as whom it was before.
    """
    key = name_key(acting_name(username))
    agents = Agent.unscoped.all() if project_ids is None else Agent.unscoped.filter(project__in=project_ids)
    if account is not None:
        agents = agents.filter(kind=Agent.Kind.AGENT)
    for name, project in agents.values_list("name", "project__slug").iterator():
        if name_key(name) == key:
            raise Conflict(f"An agent of {project} is called {shown(name)}. Choose another name.")
    for user_id, name in _people(project_ids).values_list("pk", "username").iterator():
        if user_id != account and name_key(acting_name(name)) == key:
            raise Conflict(f"Somebody is called {shown(name)}. Choose another name.")


def find_clashes(project_ids: Collection[int] | None = None) -> list[Clash]:
    """The agents with the name of a person, of these projects or of all, by project and name.

    One that no token is pinned to is listed until an administrator says that it is the person
    (`give_to_person`). The number of queries does not grow.
    """
    usernames = _usernames_by_key(project_ids)
    names = {key for _, key in usernames}
    agents = (
        Agent.unscoped.filter(folded__in=names).select_related("project").order_by("project__slug", "folded")
    )
    if project_ids is not None:
        agents = agents.filter(project__in=project_ids)
    found = [(agent, username) for agent in agents if (username := _username_of(agent, usernames))]
    pinned = _usable_tokens([agent.pk for agent, _ in found])
    return [
        Clash(agent, username, tokens)
        for agent, username in found
        if (tokens := pinned.get(agent.pk, ())) or agent.kind == Agent.Kind.AGENT
    ]


def _username_of(agent: Agent, usernames: Mapping[tuple[int | None, str], str]) -> str | None:
    return usernames.get((agent.project_id, agent.folded)) or usernames.get((None, agent.folded))


def _usernames_by_key(project_ids: Collection[int] | None) -> dict[tuple[int | None, str], str]:
    """Usernames by project (None for superusers) and by the name of the agent, case-folded."""
    members = Membership.objects.all()
    if project_ids is not None:
        members = members.filter(project__in=project_ids)
    superusers = User.objects.filter(is_superuser=True).values_list("username", flat=True)
    found: list[tuple[int | None, str]] = [*members.values_list("project_id", "user__username")]
    found += [(None, username) for username in superusers]
    return {(project_id, acting_name(name).casefold()): name for project_id, name in found}


def _usable_tokens(agent_ids: Collection[int]) -> dict[int, tuple[int, ...]]:
    """The ids of usable tokens by the agent that they are pinned to."""
    usable = Q(expires_at=None) | Q(expires_at__gt=clock.now())
    tokens = AccessToken.unscoped.filter(usable, agent__in=agent_ids, revoked_at=None).order_by("pk")
    found: dict[int, tuple[int, ...]] = {}
    for agent_id, token_id in tokens.values_list("agent_id", "pk"):
        found[int(agent_id or 0)] = (*found.get(int(agent_id or 0), ()), token_id)
    return found


def _people(project_ids: Collection[int] | None) -> QuerySet[User]:
    """The members of these projects, or of all, and the superusers."""
    if project_ids is None:
        return User.objects.filter(Q(memberships__isnull=False) | Q(is_superuser=True)).distinct()
    return User.objects.filter(Q(memberships__project__in=project_ids) | Q(is_superuser=True)).distinct()
