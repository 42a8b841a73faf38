"""Pages about one project: its choice, tabs, and pages of the project beside the list of a model."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from ctxhub.console.access import access_of, chosen_project, shown_project
from ctxhub.console.base import ProjectAdmin
from ctxhub.console.urls import in_project
from ctxhub.core.kit.caller import READ
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project

LIST = "changelist"


@frozen
class Tab:
    title: str
    url: str
    is_current: bool


def project_tabs(
    request: HttpRequest, chosen: Project | None, url_of: Callable[[Project], str], scope: str = READ
) -> list[Tab]:
    """A tab for each project in which the person has the scope."""
    access = access_of(request)
    projects = [access.projects[project_id] for project_id in access.project_ids(scope)]
    return [Tab(str(each), url_of(each), each == chosen) for each in projects]


class ProjectPagesAdmin(ProjectAdmin):
    """Adds pages about all rows of a project, as tabs beside the list.

    A subclass names them in `project_pages` (title by name), and has a method `<name>_page(request, project)`
    for each, which returns `project_page(...)`; `project` is None if the person has several and chose none.
    """

    change_list_template = "ctxhub/tabbed_list.html"
    project_pages: ClassVar[Mapping[str, str]]
    list_title: ClassVar[str] = "List"
    # Names in the query string that the tabs keep.
    kept_by_tabs: ClassVar[Sequence[str]] = ()

    def get_urls(self) -> list[URLPattern]:
        pages = [self._pattern(name) for name in self.project_pages]
        return [*pages, *super().get_urls()]

    def url_of_page(self, name: str, project: Project | None, /, **query: Any) -> str:
        return in_project(self.url(name), project, **query)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        tabs = self._page_tabs(request, LIST, chosen_project(request))
        response: HttpResponse = super().changelist_view(
            request, {"page_tabs": tabs, **(extra_context or {})}
        )
        return response

    def project_page(
        self, request: HttpRequest, name: str, template: str, project: Project | None, **context: Any
    ) -> HttpResponse:
        """A page in a template that extends ctxhub/project_page.html."""
        return self.page(
            request,
            template,
            f"{self.menu.title_of(self.opts)}: {self.project_pages[name].lower()}",
            project=project,
            page_tabs=self._page_tabs(request, name, project),
            projects=project_tabs(request, project, partial(self.url_of_page, name), self.view_scope),
            **context,
        )

    def _pattern(self, name: str) -> URLPattern:
        def view(request: HttpRequest) -> HttpResponse:
            project = shown_project(request)
            if not access_of(request).may(self.view_scope, project.pk if project else None):
                raise PermissionDenied
            response: HttpResponse = getattr(self, f"{name}_page")(request, project)
            return response

        url_name = f"{self.opts.app_label}_{self.opts.model_name}_{name}"
        return path(f"{name}/", self.admin_site.admin_view(view), name=url_name)

    def _page_tabs(self, request: HttpRequest, current: str, project: Project | None) -> list[Tab]:
        titles = {LIST: self.list_title, **self.project_pages}
        kept = {name: request.GET[name] for name in self.kept_by_tabs if request.GET.get(name)}
        return [
            Tab(title, self.url_of_page(name, project, **kept), name == current)
            for name, title in titles.items()
        ]
