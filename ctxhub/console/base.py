"""The base admin of a project's rows: visibility, permissions, and writes through services."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, TypeVar

from django.contrib import messages
from django.contrib.admin import ShowFacets
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import mark_safe

from ctxhub.console.access import access_of, chosen_project, named_slug, shown_project
from ctxhub.console.columns import agent_cell, column
from ctxhub.console.dates import DatedList
from ctxhub.console.lists import FilteredList
from ctxhub.console.rows.admin import RowsAdmin
from ctxhub.console.service_form import ServiceForm, sentence
from ctxhub.console.unfold_compat import ChangeList
from ctxhub.core.accounts.people import find_person
from ctxhub.core.kit.batches import in_batches
from ctxhub.core.kit.caller import ADMIN, ALLOW_SECRET, READ, WRITE, Caller, acting, current
from ctxhub.core.kit.errors import CtxhubError, LooksLikeCredential, NotAllowed
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Import, Project
from ctxhub.core.refusals.services import count_refusal

T = TypeVar("T")

# Hidden on small screens: see admin.css.
NOTHING = mark_safe('<span class="ctx-none">-</span>')


@frozen
class Menu:
    """Where the sidebar shows a model. `page`: which page of ProjectPagesAdmin it opens; "": the list.

    `title`: in place of the model's name.
    """

    group: str
    icon: str
    page: str = ""
    title: str = ""

    def title_of(self, opts: Any) -> str:
        return self.title or str(opts.verbose_name_plural).capitalize()


class ProjectAdmin(RowsAdmin):
    """Shows the rows of the person's projects and allows what their role allows there.

    A row of any other project is not found. A write runs as the person's agent, in one transaction of the
    project; a service's error is shown on the form.
    """

    menu: ClassVar[Menu]
    view_scope: ClassVar[str] = READ
    add_scope: ClassVar[str | None] = WRITE
    change_scope: ClassVar[str | None] = WRITE
    delete_scope: ClassVar[str | None] = ADMIN
    project_lookup: ClassVar[str] = "project"
    adds_to_project: ClassVar[bool] = True
    ref_kind: ClassVar[str | None] = None
    refs_are_numbers: ClassVar[bool] = True
    # How rows come about, for a person who sees an empty list.
    when_empty: ClassVar[str] = ""
    why_missing: ClassVar[str] = "Perhaps it was deleted?"

    change_form_template = "ctxhub/form.html"
    empty_value_display = NOTHING
    list_per_page = 50
    show_facets = ShowFacets.NEVER

    # -- Visibility --------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        access = access_of(request)
        if access.sees_all:
            return rows
        return rows.filter(**{f"{self.project_lookup}__in": access.project_ids(self.view_scope)})

    def get_field_queryset(self, db: str | None, db_field: Any, request: HttpRequest) -> QuerySet[Any] | None:
        """Limits the choices of a foreign key to rows of the projects the person can see."""
        related = db_field.related_model
        if isinstance(related, type) and issubclass(related, ProjectRow | Import):
            return related._base_manager.filter(project__in=access_of(request).project_ids())
        return super().get_field_queryset(db, db_field, request)

    def get_list_display(self, request: HttpRequest) -> Any:
        """Adds the column `project` if the list may show rows of several projects."""
        columns = super().get_list_display(request)
        shows_project = self.project_lookup == "project" and shown_project(request) is None
        return [*columns, "project"] if shows_project else columns

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return DatedList if self.date_hierarchy else FilteredList

    def project_of(self, row: Any) -> Project:
        project: Project = row.project
        return project

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Also finds a row by a ref pasted from the log, by its number or its name."""
        kind, _, name = search_term.strip().partition(":")
        if kind == self.ref_kind and self.refs_are_numbers and _is_id(name):
            return queryset.filter(pk=int(name)), False
        term = name if kind == self.ref_kind else search_term
        results: tuple[QuerySet[Any], bool] = super().get_search_results(request, queryset, term)
        return results

    by = column("Agent", lambda row: agent_cell(row.agent), ordering="agent__name")

    # -- Permissions -------------------------------------------------------------------------------

    def has_module_permission(self, request: HttpRequest) -> bool:
        return access_of(request).may(self.view_scope)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, self.view_scope, obj)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the person may add in the project in the URL, or without one in any project."""
        if self.adds_to_project and obj is None and named_slug(request):
            return self.project_to_add_to(request) is not None
        return self._may(request, self.add_scope, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, self.change_scope, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, self.delete_scope, obj)

    def _may(self, request: HttpRequest, scope: str | None, row: Any) -> bool:
        if scope is None:
            return False
        return access_of(request).may(scope, self.project_of(row).pk if row is not None else None)

    # -- The project of a new row ------------------------------------------------------------------

    def project_to_add_to(self, request: HttpRequest) -> Project | None:
        """The project in the URL, or without one the only project that the person may add to."""
        if not self.adds_to_project:
            return None
        projects = self._projects_to_add_to(request)
        if slug := named_slug(request):
            return next((project for project in projects if project.slug == slug), None)
        return projects[0] if len(projects) == 1 else None

    def _projects_to_add_to(self, request: HttpRequest) -> list[Project]:
        access = access_of(request)
        return [access.projects[pk] for pk in access.project_ids(self.add_scope)] if self.add_scope else []

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response: HttpResponse
        if not self.adds_to_project:
            response = super().add_view(request, form_url, extra_context)
            return response
        if not self._may(request, self.add_scope, None):
            self.count_denied(request)
            raise PermissionDenied
        project = self.project_to_add_to(request)
        if project is None:
            self.count_denied(request)
            return self._ask_for_project(request)
        title = f"Add {self.opts.verbose_name} to {project}"
        response = super().add_view(request, form_url, {"title": title, **(extra_context or {})})
        return response

    def _ask_for_project(self, request: HttpRequest) -> TemplateResponse:
        return self.page(
            request,
            "ctxhub/choose_project.html",
            f"Add {self.opts.verbose_name}",
            projects=self._projects_to_add_to(request),
            problem=self._why_not_addable(request),
        )

    def _why_not_addable(self, request: HttpRequest) -> str:
        """Why the person cannot add to the project in the URL; "" if the URL names none."""
        if project := chosen_project(request):
            return f"You can read {project}, but you cannot add {self.opts.verbose_name_plural} to it."
        slug = named_slug(request)
        return f"You are not a member of any project named {slug!r}." if slug else ""

    # -- Writing -----------------------------------------------------------------------------------

    @contextmanager
    def acting_in(self, request: HttpRequest, project: Project | None) -> Iterator[None]:
        """One transaction of the project, in which the person acts as the agent with their username."""
        caller = find_person(request.user, project.slug) if project else None  # type: ignore[arg-type]
        if caller is None or project is None:
            yield
            return
        caller = caller.for_call(allow_secret=ALLOW_SECRET in request.POST)
        with acting(caller), write_transaction(project.pk):
            yield
        for told in caller.told_of_kept().values():
            messages.warning(request, told)

    def write_each(self, request: HttpRequest, rows: Iterable[Any], write: Callable[[Any], T]) -> list[T]:
        """Call `write` with each row and return the results, in one transaction per project."""
        results: list[T] = []
        for project, project_rows in self.by_project(rows):
            with self.acting_in(request, project):
                results.extend(write(row) for row in project_rows)
        return results

    def try_to_write(
        self, request: HttpRequest, row: Any, write: Callable[[], T], refuse: Callable[[str], object]
    ) -> T | None:
        """Call `write` in the row's project. On a service's error, call `refuse` with it and return None."""
        try:
            with self.acting_in(request, self.project_of(row)):
                return write()
        except CtxhubError as error:
            self.count_refusal(request, row, error)
            refuse(sentence(error))
            return None

    def count_refusal(self, request: HttpRequest, row: Any, error: CtxhubError) -> None:
        """Count a refused write for the person's agent. `row`: the row, or the project of a new one.

        The page of the refusal then offers an administrator to store what looks like a credential.
        """
        project = row if isinstance(row, Project) else self.project_of(row)
        if caller := find_person(request.user, project.slug):  # type: ignore[arg-type]
            count_refusal(caller, error, getattr(row, "ref", ""))
            request.__dict__["offers_to_allow"] = isinstance(error, LooksLikeCredential) and caller.may(ADMIN)

    def count_denied(self, request: HttpRequest, object_id: str | None = None) -> None:
        """Count a write that the person's role does not allow. To look at a form is none."""
        if request.method != "POST":
            return
        row = self.get_object(request, unquote(object_id)) if object_id else chosen_project(request)
        if row is not None:
            self.count_refusal(request, row, NotAllowed(f"POST {request.path}: your role does not allow it."))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Django's form page. A service's error is shown on the form, and nothing is written."""
        try:
            return self._form_or_refusal(request, object_id, form_url, extra_context)
        except PermissionDenied:
            self.count_denied(request, object_id)
            raise

    def _form_or_refusal(
        self, request: HttpRequest, object_id: str | None, form_url: str, extra_context: dict[str, Any] | None
    ) -> HttpResponse:
        # Rows that nobody can change have no history of changes.
        extra_context = {"show_history": self.change_scope is not None, **(extra_context or {})}
        response: HttpResponse
        if request.method != "POST":
            response = super().changeform_view(request, object_id, form_url, extra_context)
            return response
        try:
            with self.acting_in(request, self._project_of_request(request, object_id)):
                response = super().changeform_view(request, object_id, form_url, extra_context)
        except CtxhubError as error:
            self._count_refused_form(request, object_id, error)
            request.__dict__["ctxhub_refusal"] = error
            response = super().changeform_view(request, object_id, form_url, extra_context)
        return response

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        if not issubclass(self.form, ServiceForm):
            return super().get_form(request, obj, change=change, **kwargs)
        # A service form declares all its fields and takes none from the model.
        form: type[Any] = super().get_form(request, obj, change=change, **{**kwargs, "fields": ()})
        form.refusal = request.__dict__.get("ctxhub_refusal")
        form.project = self.project_of(obj) if obj is not None else self.project_to_add_to(request)
        return form

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, unquote(object_id))
        if (
            row is not None
            and self.has_delete_permission(request, row)
            and (reason := self.why_not_deletable(row))
        ):
            messages.error(request, reason)
            return HttpResponseRedirect(self.url("change", row.pk))
        response: HttpResponse
        if request.method != "POST":
            response = super().delete_view(request, object_id, extra_context)
            return response
        try:
            response = in_batches(partial(self._delete, request, object_id, extra_context))
        except CtxhubError as error:
            self._count_refused_form(request, object_id, error)
            messages.error(request, sentence(error))
            response = HttpResponseRedirect(self.url("change", unquote(object_id)))
        except PermissionDenied:
            self.count_denied(request, object_id)
            raise
        return response

    def _count_refused_form(self, request: HttpRequest, object_id: str | None, error: CtxhubError) -> None:
        row = self.get_object(request, unquote(object_id)) if object_id else self.project_to_add_to(request)
        if row is not None:
            self.count_refusal(request, row, error)

    def _delete(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None
    ) -> HttpResponse:
        with self.acting_in(request, self._project_of_request(request, object_id)):
            response: HttpResponse = super().delete_view(request, object_id, extra_context)
        return response

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        in_batches(lambda: self.write_each(request, queryset, lambda row: self.delete_model(request, row)))

    def get_deleted_objects(
        self, objs: Iterable[Model], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """One line per row to be deleted. Django's collection of all related rows could be large."""
        rows = list(objs)
        forbidden = not all(self.has_delete_permission(request, row) for row in rows)
        return (
            [self.deletion_line(row) for row in rows],
            {str(self.opts.verbose_name_plural): len(rows)},
            {str(self.opts.verbose_name)} if forbidden else set(),
            [reason for row in rows if (reason := self.why_not_deletable(row))],
        )

    def deletion_line(self, row: Any) -> str:
        return f"{self.opts.verbose_name} {row}"

    def why_not_deletable(self, row: Any) -> str:
        """Why the row cannot be deleted; "" if it can."""
        return ""

    def by_project(self, rows: Iterable[Any]) -> list[tuple[Project, Sequence[Any]]]:
        groups: dict[Project, list[Any]] = defaultdict(list)
        for row in rows:
            groups[self.project_of(row)].append(row)
        return list(groups.items())

    def _project_of_request(self, request: HttpRequest, object_id: str | None) -> Project | None:
        if object_id is None:
            return self.project_to_add_to(request)
        row = self.get_object(request, unquote(object_id))
        return self.project_of(row) if row is not None else None

    # -- Custom pages ------------------------------------------------------------------------------

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form of a row, or the page in its place."""
        if page := self.page_for_form(request, unquote(object_id)):
            return page
        response: HttpResponse = super().change_view(request, object_id, form_url, extra_context)
        return response

    def page_for_form(self, request: HttpRequest, object_id: str) -> HttpResponse | None:
        """What a person sees in place of the form of a row; None: the form."""
        return None

    def missing(self, request: HttpRequest, object_id: object) -> HttpResponse:
        """Redirects to the list with a message that the row does not exist."""
        text = f"There is no {self.opts.verbose_name} {object_id} here. {self.why_missing}"
        messages.warning(request, text.strip())
        return HttpResponseRedirect(self.url("changelist"))

    def url(self, name: str, *arguments: Any) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{name}", args=arguments)

    def page(self, request: HttpRequest, template: str, title: str, **context: Any) -> TemplateResponse:
        request.current_app = self.admin_site.name
        return TemplateResponse(
            request,
            template,
            {**self.admin_site.each_context(request), "title": title, "opts": self.opts, **context},
        )


def _is_id(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 19


def person() -> Caller:
    """The caller of the current admin write: the signed-in person."""
    caller = current()
    assert caller is not None
    return caller
