"""The base admin of a noun: its list, the read page of a row, its form, its row actions."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from unfold.decorators import display

from ctxhub.console.base import person
from ctxhub.console.columns import chips
from ctxhub.console.dates import DatedList
from ctxhub.console.indexed import IndexedAdmin
from ctxhub.console.lists import FilteredList, ReadableRows
from ctxhub.console.logged import EVENTS_STAY
from ctxhub.console.row_actions import RowActionAdmin
from ctxhub.console.row_panels import panels_of
from ctxhub.console.text_refs import pages_of_texts
from ctxhub.console.unfold_compat import ChangeList
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.registry import Deletion, find_noun


class ReadableList(ReadableRows, FilteredList): ...


class ReadableDatedList(ReadableRows, DatedList): ...


class NounAdmin(RowActionAdmin, IndexedAdmin):
    """A subclass adds columns, a form and the content of the read page.

    `long`: columns that the list does not read. `texts`: fields of the page in which refs become links. A
    list with the column `tagged` reads the tags of its rows, and the page has them in `tags`.
    `read_template` extends ctxhub/detail.html. If `has_change_form` is False, rows cannot be edited, and the
    URL of the form redirects to the read page.
    """

    page_name = "read"
    list_select_related: ClassVar[Any] = ("project", "agent")
    read_template: ClassVar[str]
    has_change_form: ClassVar[bool] = True
    long: ClassVar[Sequence[str]] = ()
    texts: ClassVar[Sequence[str]] = ()

    # -- The list ----------------------------------------------------------------------------------

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """A list whose rows link to the read page."""
        return ReadableDatedList if self.date_hierarchy else ReadableList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request).defer(*self.long)
        return rows.prefetch_related("tags") if "tagged" in self.list_display else rows

    @display(description="Tags")
    def tagged(self, row: Any) -> SafeString | str:
        names = sorted(tag.name for tag in row.tags.all())
        return chips(names, lambda name: row.shown_in.narrowed_to(tag=name))

    # -- The page ----------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        actions = [
            self.row_path(action.name, partial(self.row_action_view, action=action))
            for action in self.row_actions
        ]
        return [
            self.row_path("read", self.read_page, route=""),
            *self.get_row_urls(),
            *actions,
            *super().get_urls(),
        ]

    def get_row_urls(self) -> list[URLPattern]:
        """Further URLs of a row, made with `row_path`."""
        return []

    def row_path(
        self, view_name: str, view: Callable[[HttpRequest, Any], HttpResponse], route: str | None = None
    ) -> URLPattern:
        """The URL pattern of a view of one row: `<id>/raw/` for "raw". The view gets the row."""

        def view_of_id(request: HttpRequest, row_id: int) -> HttpResponse:
            row = self.find_row(request, row_id)
            return self.missing(request, row_id) if row is None else view(request, row)

        return path(
            f"<int:row_id>/{f'{view_name}/' if route is None else route}",
            self.admin_site.admin_view(view_of_id),
            name=f"{self.opts.app_label}_{self.opts.model_name}_{view_name}",
        )

    def find_row(self, request: HttpRequest, row_id: int) -> Any | None:
        """The row of a page in one query: with the long columns, and with the related rows of the list."""
        related = self.list_select_related if isinstance(self.list_select_related, list | tuple) else ()
        rows = self.get_queryset(request).defer(None)
        return (rows.select_related(*related) if related else rows).filter(pk=row_id).first()

    def read_page(self, request: HttpRequest, row: Any) -> HttpResponse:
        context = {"row_panels": panels_of(self.ref_kind, row), **self._read_context(row)}
        return self.row_page(
            request, row, self.read_template, **{**context, **self.get_read_context(request, row)}
        )

    def _read_context(self, row: Any) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        if "tagged" in self.list_display:
            shown["tags"] = sorted((tag.name for tag in row.tags.all()), key=str.casefold)
        if self.texts:
            texts = [getattr(row, name) for name in self.texts]
            shown["text_pages"] = pages_of_texts(row.project_id, texts)
        return shown

    def get_read_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Template context of the read page besides the row."""
        return {}

    def row_page(
        self, request: HttpRequest, row: Any, template: str, *, title: str = "", **context: Any
    ) -> TemplateResponse:
        """A page of one row, in a template that extends ctxhub/detail.html."""
        standard = {
            "row": row,
            "project": self.project_of(row),
            "list_url": self.url("changelist"),
            "change_url": self.url("change", row.pk),
            "delete_url": self.url("delete", row.pk),
            "history_url": self.url("history", row.pk),
            "may_change": self.has_change_permission(request, row),
            "may_delete": self.has_delete_permission(request, row),
        }
        title = title or capfirst(str(self.opts.verbose_name))
        return self.page(request, template, title, **{**standard, **context})

    # -- Deleting ----------------------------------------------------------------------------------

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """As the tool `delete` does. What it keeps, people delete through the ORM."""
        deletion = noun.deletion if (noun := find_noun(self.ref_kind)) else None
        if not isinstance(deletion, Deletion):
            super().delete_model(request, obj)
            return
        name = self.ref_of(obj).partition(":")[2]
        row = deletion.find(person(), [name])[name]
        if isinstance(row, CtxhubError):
            raise row
        deletion.delete(person(), [row])

    def deletion_line(self, row: Any) -> str:
        return f"{row}. {EVENTS_STAY}"

    # -- The form ----------------------------------------------------------------------------------

    def page_for_form(self, request: HttpRequest, object_id: str) -> HttpResponse | None:
        """A person who cannot edit the row is redirected to the read page."""
        if not self.has_change_form:
            return self._to_page(request, object_id)
        row = self.get_object(request, object_id)
        if row is not None and request.method == "GET" and not self._is_editable(request, row):
            return HttpResponseRedirect(self.page_of_id(row.pk))
        return None

    def _to_page(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row_id = read_id(object_id)
        return HttpResponseRedirect(self.page_of_id(row_id)) if row_id else self.missing(request, object_id)

    def why_not_editable(self, row: Any) -> str:
        """Why nobody may change the row at present; "" if it can be changed."""
        return ""

    def _is_editable(self, request: HttpRequest, row: Any) -> bool:
        """Whether the person can change the row now. Tells a person with permission why not."""
        may_change, reason = self.has_change_permission(request, row), self.why_not_editable(row)
        if may_change and reason:
            messages.warning(request, reason)
        return may_change and not reason

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.page_of_id(obj.pk))

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.page_of_id(obj.pk))
