"""What a person may see and do in the admin: their scopes in each project, looked up once a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from django.http import HttpRequest

from ctxhub.core.accounts.selectors.people import SCOPES_OF_ROLE, is_superuser, projects_of
from ctxhub.core.kit.caller import ALL_SCOPES, READ
from ctxhub.core.models import Membership, Project


@dataclass(frozen=True, slots=True)
class Access:
    """The projects a person can see, by id, in the order of their slugs; and the scopes they hold there."""

    projects: Mapping[int, Project] = field(default_factory=dict)
    scopes: Mapping[int, frozenset[str]] = field(default_factory=dict)
    sees_all: bool = False

    def may(self, scope: str, project_id: int | None = None) -> bool:
        """Whether the person holds the scope in the project; without one, whether they hold it anywhere."""
        if project_id is not None:
            return scope in self.scopes.get(project_id, ())
        return self.sees_all or any(scope in held for held in self.scopes.values())

    def project_ids(self, scope: str = READ) -> list[int]:
        return [project_id for project_id, held in self.scopes.items() if scope in held]

    def named(self, slug: str) -> Project | None:
        return next((project for project in self.projects.values() if project.slug == slug), None)


def access_of(request: HttpRequest) -> Access:
    kept = request.__dict__
    if "ctxhub_access" not in kept:
        kept["ctxhub_access"] = _look_up(request)
    access: Access = kept["ctxhub_access"]
    return access


def named_slug(request: HttpRequest) -> str:
    """The project that the address names (`?project=apollo`, also among a list's filters), seen or not."""
    listed = parse_qs(request.GET.get("_changelist_filters", "")).get("project", [""])
    return request.GET.get("project") or listed[-1]


def chosen_project(request: HttpRequest) -> Project | None:
    """The project that the address names, if the person sees it."""
    slug = named_slug(request)
    return access_of(request).named(slug) if slug else None


def shown_project_ids(request: HttpRequest) -> list[int]:
    """The project that the address names, else all that the person can see."""
    project = chosen_project(request)
    return [project.pk] if project else access_of(request).project_ids()


def _look_up(request: HttpRequest) -> Access:
    user = request.user
    if not user.is_authenticated:
        return Access()
    if is_superuser(user):
        projects = {project.pk: project for project in projects_of(user)}
        return Access(projects, dict.fromkeys(projects, ALL_SCOPES), sees_all=True)
    places = Membership.objects.filter(user=user).select_related("project").order_by("project__slug")
    return Access(
        {place.project_id: place.project for place in places},
        {place.project_id: SCOPES_OF_ROLE[Membership.Role(place.role)] for place in places},
    )
