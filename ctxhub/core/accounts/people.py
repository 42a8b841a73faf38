"""People: what they may see and do, the agents as which they act, and who has a name already."""

from collections.abc import Collection, Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AbstractUser, User
from django.db import transaction
from django.db.models import BigIntegerField, Exists, OuterRef, Q, QuerySet, Value
from django.dispatch import Signal
from typing_extensions import TypedDict

from ctxhub.core.accounts.names_of_people import acting_name, forget_names, name_key
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import ADMIN, ALL_SCOPES, READ, WRITE, Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import Conflict, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.models import AccessToken, Agent, Membership, Preference, Project
from ctxhub.toolbox.argument_types import Time

SUPERUSER = "superuser"
SCOPES_OF_ROLE = {
    Membership.Role.VIEWER: frozenset({READ}),
    Membership.Role.MEMBER: frozenset({READ, WRITE}),
    Membership.Role.ADMIN: ALL_SCOPES,
}


class NamedProject(TypedDict):
    slug: str
    name: str
    created: Time


def find_person(user: AbstractBaseUser, slug: str) -> Caller | None:
    """The caller for a person in a project, as the agent named by their username; None without access."""
    if is_superuser(user):
        project = Project.objects.filter(slug=slug).first()
        return _person(user, project, ALL_SCOPES) if project else None
    memberships = Membership.objects.filter(user_id=user.pk, project__slug=slug).select_related("project")
    if (membership := memberships.first()) is None:
        return None
    return _person(user, membership.project, SCOPES_OF_ROLE[Membership.Role(membership.role)])


def scopes_of(user: AbstractBaseUser, role: int | None) -> frozenset[str]:
    """What an account with this role in a project may do there; nothing once it may not sign in."""
    if is_superuser(user):
        return ALL_SCOPES
    return SCOPES_OF_ROLE[Membership.Role(role)] if role is not None and user.is_active else frozenset()


def find_role(user: AbstractBaseUser, project_id: int) -> str | None:
    """The role of a person in a project: viewer, member or admin; superuser for one everywhere."""
    if is_superuser(user):
        return SUPERUSER
    memberships = Membership.objects.filter(user_id=user.pk, project_id=project_id)
    role = memberships.values_list("role", flat=True).first()
    return None if role is None else str(Membership.Role(role).label)


def projects_of(user: AbstractBaseUser) -> QuerySet[Project]:
    """The projects a person can see: a superuser all, others those they are a member of."""
    if is_superuser(user):
        return Project.objects.all()
    return Project.objects.filter(memberships__user_id=user.pk)


def list_projects(projects: QuerySet[Project], *, limit: int = 20, cursor: str | None = None) -> Listing:
    """A page of projects: rows slug, name, created."""
    return page_of(
        projects,
        ("slug", "name", "created"),
        lambda found: [list(project_item(project).values()) for project in found],
        limit=limit,
        cursor=cursor,
    )


def project_item(project: Project) -> dict[str, Any]:
    """A project as REST shows it."""
    return dict(NamedProject(slug=project.slug, name=project.name, created=format_time(project.created_at)))


def people_of(project_id: int) -> list[str]:
    """The names as which the people of a project act: its members, whatever their role.

    Where it has none the superusers, who run the hub alone.
    """
    found = sql.rows(_MEMBERS_OR_SUPERUSERS, [False, project_id, True, True, True, True])
    is_alone = all(alone for _, alone in found)
    return sorted({acting_name(username) for username, alone in found if alone == is_alone}, key=str.casefold)


_MEMBERS_OR_SUPERUSERS = """
    SELECT u.username, %s FROM core_membership m JOIN auth_user u ON u.id = m.user_id
    WHERE m.project_id = %s AND u.is_active = %s
    UNION SELECT username, %s FROM auth_user WHERE is_superuser = %s AND is_active = %s"""


# Sent in the transaction in which a person no longer asks for broadcasts. Argument: name.
broadcasts_declined = Signal()


def wants_broadcasts(user: AbstractBaseUser) -> bool:
    """Whether what goes to everyone is also for this person."""
    return Preference.objects.filter(user_id=user.pk, broadcasts=True).exists()


def choose_broadcasts(user: AbstractBaseUser, *, wanted: bool) -> None:
    """From now on; what they owe of before ends where they decline."""
    with transaction.atomic():
        Preference.objects.update_or_create(user_id=user.pk, defaults={"broadcasts": wanted})
        if not wanted:
            broadcasts_declined.send(Preference, name=acting_name(user.get_username()))


def who_asked_for_broadcasts(project_id: int) -> list[str]:
    """The names as which people act who can see a project and asked for its broadcasts."""
    asked = Preference.objects.filter(broadcasts=True, user__is_active=True)
    of_project = Membership.objects.filter(user=OuterRef("user"), project=project_id)
    here = asked.filter(Q(user__is_superuser=True) | Exists(of_project)).order_by("user")
    return [acting_name(name) for name in here.values_list("user__username", flat=True)]


def is_superuser(user: object) -> bool:
    return isinstance(user, AbstractUser) and user.is_active and user.is_superuser


def _person(user: AbstractBaseUser, project: Project, scopes: frozenset[str]) -> Caller:
    return Caller(
        project=project,
        agent=acting_name(user.get_username()),
        scopes=scopes,
        is_person=True,
        keeps_secrets=ADMIN in scopes,
    )


# Sent in the transaction that renames the agent of a person. Arguments: project_id, was, name.
person_renamed = Signal()


def check_username(user: AbstractUser, username: str, *, joins: Collection[int] = ()) -> None:
    """Raise Conflict if the person would act as somebody else, in their projects or in those they join."""
    refuse_taken_username(
        username,
        project_ids=None if user.is_superuser else {*joins, *_projects_of(user)},
        account=user.pk,
    )


def check_new_member(membership: Membership) -> None:
    """Raise Conflict if the person would act as an agent of the project. Waits for its writers."""
    acquire_write_lock(membership.project_id)
    refuse_taken_username(
        membership.user.get_username(), project_ids=[membership.project_id], account=membership.user_id
    )


def rename_person(user: AbstractUser, was: str) -> None:
    """Give the agents as which a person has acted their new username, so that their mail follows them."""
    old, new = acting_name(was), acting_name(user.get_username())
    agents = Agent.unscoped.filter(folded=old.casefold(), kind=Agent.Kind.HUMAN)
    if not user.is_superuser:
        agents = agents.filter(project__in=_projects_of(user))
    for agent in agents.order_by("project_id"):
        with write_transaction(agent.project_id):
            others = Agent.objects.in_project(agent.project_id).filter(folded=new.casefold())
            if not others.exclude(pk=agent.pk).exists():
                agent.name = new
                agent.save(update_fields=["name"])
                person_renamed.send(None, project_id=agent.project_id, was=old, name=new)
    forget_names()


def give_to_person(agent: Agent) -> None:
    """Say that the agent is the person of its name, whom other agents no longer speak as."""
    with write_transaction(agent.project_id):
        agent.kind = Agent.Kind.HUMAN
        agent.save(update_fields=["kind"])
    forget_names()


def _projects_of(user: AbstractUser) -> list[int]:
    memberships = Membership.objects.filter(user_id=user.pk)
    return list(memberships.values_list("project_id", flat=True))


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
    superusers = User.objects.filter(is_superuser=True).annotate(project=Value(None, BigIntegerField()))
    found = (
        members.order_by()
        .values_list("project_id", "user__username")
        .union(superusers.values_list("project", "username"), all=True)
    )
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
