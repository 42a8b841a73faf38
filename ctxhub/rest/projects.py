"""Lists and creates projects, and returns the caller's agent and scopes in one."""

from typing import Annotated, NotRequired

from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.accounts.access_tokens import Scope
from ctxhub.core.accounts.people import NamedProject, is_superuser, list_projects, project_item
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.errors import NotAllowed
from ctxhub.core.models import Project
from ctxhub.rest.answers import page_of
from ctxhub.rest.filters import ProjectFilter
from ctxhub.rest.operations import operation
from ctxhub.rest.pages import Page
from ctxhub.rest.project import visible_projects
from ctxhub.rest.takes import ONLY_A_PAGE, Takes
from ctxhub.rest.views import HubViewSet, ProjectViewSet
from ctxhub.toolbox.argument_types import About


class CreateProject(TypedDict):
    slug: Annotated[str, About("Letters, digits, - and _: it stands in every address.")]
    name: NotRequired[str]


class ProjectSeen(NamedProject):
    agent: Annotated[str, About("Who you are there.")]
    scopes: list[Scope]


class ProjectsViewSet(HubViewSet):
    filters = {"list": ProjectFilter}
    queryset = Project.objects.none()

    @operation(query=ONLY_A_PAGE, responses=page_of(NamedProject))
    def list(self, request: Request) -> Response:
        """The projects you may see; a token sees its own."""
        projects = self.filtered(visible_projects(request).order_by("slug"))
        return self.listed(Page.of(list_projects(projects, **self.query)))

    @operation(
        body=Takes(CreateProject, example={"slug": "apollo", "name": "Apollo"}), responses={201: NamedProject}
    )
    def create(self, request: Request) -> Response:
        """A new project, with the layers and tags every team needs. A superuser's."""
        project = create_project(**self.body)
        return Response(project_item(project), status=201)

    def check_place(self, request: Request, **where: object) -> None:
        if self.action == "create" and not is_superuser(request.user):
            raise NotAllowed("Only a superuser, signed in, makes projects.")


class ProjectSeenViewSet(ProjectViewSet):
    @operation(responses=ProjectSeen)
    def retrieve(self, request: Request, slug: str) -> Response:
        """The project, and who you are in it."""
        scopes = [scope for scope in ("read", "write", "admin") if self.caller.may(scope)]
        return Response({**project_item(self.caller.project), "agent": self.caller.agent, "scopes": scopes})
