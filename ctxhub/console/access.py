"""What a person may see and do in the admin: their scopes in each project, queried once per request."""

from collections.abc import Mapping
from dataclasses import field
from urllib.parse import parse_qs

from django.http import HttpRequest

from ctxhub.core.accounts.people import SCOPES_OF_ROLE, is_superuser, projects_of
from ctxhub.core.kit.caller import ALL_SCOPES, READ
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Membership, Project


@frozen
class Access:
    """The projects a person can see, by id and ordered by slug, and the person's scopes in each."""

    projects: Mapping[int, Project] = field(default_factory=dict)
    scopes: Mapping[int, frozenset[str]] = field(default_factory=dict)
    sees_all: bool = False

    def may(self, scope: str, project_id: int | None = None) -> bool:
        """Whether the person holds the scope in the project, or without `project_id` in any project."""
        if project_id is not None:
            return scope in self.scopes.get(project_id, ())
        return self.sees_all or any(scope in scopes for scopes in self.scopes.values())

    def project_ids(self, scope: str = READ) -> list[int]:
        return [project_id for project_id, scopes in self.scopes.items() if scope in scopes]

    def named(self, slug: str) -> Project | None:
        return next((project for project in self.projects.values() if project.slug == slug), None)


def access_of(request: HttpRequest) -> Access:
    """The person's access, cached on the request."""
    cache = request.__dict__
    if "ctxhub_access" not in cache:
        cache["ctxhub_access"] = _query_access(request)
    access: Access = cache["ctxhub_access"]
    return access


def named_slug(request: HttpRequest) -> str:
    """The slug in the URL (`?project=apollo`, or in `_changelist_filters`), visible to the person or not."""
    from_list = parse_qs(request.GET.get("_changelist_filters", "")).get("project", [""])
    return request.GET.get("project") or from_list[-1]


def chosen_project(request: HttpRequest) -> Project | None:
    """The project in the URL, if the person can see it."""
    slug = named_slug(request)
    return access_of(request).named(slug) if slug else None


def shown_project(request: HttpRequest) -> Project | None:
    """The project in the URL, or the only project that the person can see."""
    projects = list(access_of(request).projects.values())
    return chosen_project(request) or (projects[0] if len(projects) == 1 else None)


def shown_project_ids(request: HttpRequest) -> list[int]:
    """The id of the project in the URL, otherwise the ids of all projects the person can see."""
    project = chosen_project(request)
    return [project.pk] if project else access_of(request).project_ids()


def _query_access(request: HttpRequest) -> Access:
    user = request.user
    if not user.is_authenticated:
        return Access()
    if is_superuser(user):
        projects = {project.pk: project for project in projects_of(user)}
        return Access(projects, dict.fromkeys(projects, ALL_SCOPES), sees_all=True)
    memberships = Membership.objects.filter(user=user).select_related("project").order_by("project__slug")
    return Access(
        {each.project_id: each.project for each in memberships},
        {each.project_id: SCOPES_OF_ROLE[Membership.Role(each.role)] for each in memberships},
    )
