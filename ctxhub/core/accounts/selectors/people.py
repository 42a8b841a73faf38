"""Access of people: their scopes in a project, and the projects they can see."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AbstractUser
from django.db.models import QuerySet
from typing_extensions import TypedDict

from ctxhub.core.accounts.selectors.names_of_people import acting_name
from ctxhub.core.kit.caller import ADMIN, ALL_SCOPES, READ, WRITE, Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import Membership, Project
from ctxhub.core.toolbox.argument_types import Time

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
