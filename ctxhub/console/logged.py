"""The admin of rows that have a ref: resolves refs to pages, links pages to the log, writes by services."""

from typing import Any, ClassVar

from django.contrib.admin import AdminSite
from django.contrib.admin.utils import unquote
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from ctxhub.console import refs
from ctxhub.console.base import ProjectAdmin
from ctxhub.console.columns import column
from ctxhub.console.urls import list_url
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.templatetags.moments import moment

# The last sentence on every confirmation of a deletion.
EVENTS_STAY = "Its events stay in the log."


class LoggedAdmin(ProjectAdmin):
    """A ref (`decision:api/auth`) is `ref_kind`, a colon and the value of `ref_field`."""

    ref_kind: ClassVar[str]
    ref_field: ClassVar[str] = "pk"
    page_name: ClassVar[str] = "change"
    sparkline_of = "ref"

    def __init__(self, model: type[Model], admin_site: AdminSite) -> None:
        super().__init__(model, admin_site)
        refs.pages[self.ref_kind] = self.page_of_ref

    # -- Refs --------------------------------------------------------------------------------------

    def page_of_ref(self, project_id: int, name: str) -> str | None:
        row_id = self.find_id(project_id, name)
        return self.page_of_id(row_id) if row_id else None

    def page_of_id(self, row_id: int) -> str:
        return self.url(self.page_name, row_id)

    def find_id(self, project_id: int, name: str) -> int | None:
        """The id of the row with this ref name; None if there is none."""
        if (value := self.ref_value(name)) is None:
            return None
        rows = self.model.objects.in_project(project_id).filter(**{self.ref_field: value})
        row_id: int | None = rows.values_list("pk", flat=True).first()
        return row_id

    def ref_value(self, name: str) -> int | str | None:
        """The value of `ref_field` in the row of this ref name; None if there can be none."""
        if self.refs_are_numbers:
            return read_id(name)
        return name.casefold() if self.ref_field == "folded" else name

    def ref_of(self, row: Any) -> str:
        ref: str = row.ref
        return ref

    def sparkline_key(self, row: Any) -> str:
        return self.ref_of(row)

    # -- The log -----------------------------------------------------------------------------------

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirects to the log of this row. The log has every change, Django's history only the admin's."""
        row = self.get_object(request, unquote(object_id))
        return self.missing(request, object_id) if row is None else HttpResponseRedirect(self.log_url(row))

    def log_url(self, row: Any) -> str:
        return list_url("core_event", self.project_of(row), ref=self.ref_of(row))

    # -- Common columns ----------------------------------------------------------------------------

    updated = column("Updated", lambda row: moment(row.updated_at), ordering="updated_at")

    # -- Writing -----------------------------------------------------------------------------------

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Writes through the service and reads a new row back as the service has stored it."""
        if change:
            self.change_row(request, obj, form)
        else:
            obj.pk = self.add_row(request, obj, form)
            obj.refresh_from_db()

    def add_row(self, request: HttpRequest, row: Any, form: Any) -> int:
        """Calls the service with the form's values and returns the id of the new row."""
        raise NotImplementedError

    def change_row(self, request: HttpRequest, row: Any, form: Any) -> None:
        raise NotImplementedError
