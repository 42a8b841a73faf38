"""Row actions: a button on the page of a row, and an action of the list for the selected rows."""

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import AdminSite
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from ctxhub.console.logged import LoggedAdmin
from ctxhub.console.service_form import sentence
from ctxhub.core.kit.errors import CtxhubError, NotAllowed
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.plurals import counted

Run = Callable[..., None]


@frozen
class RowAction:
    """`run(model_admin, request, rows, **fields of the form)` changes the rows and adds a message.

    `template` is the confirmation page, with the fields of `form`; without one the action runs at once.
    """

    run: Run
    description: str
    template: str = ""
    form: type[forms.Form] = forms.Form

    @property
    def name(self) -> str:
        return self.run.__name__


def row_action(
    description: str, *, template: str = "", form: type[forms.Form] = forms.Form
) -> Callable[[Run], RowAction]:
    """Decorator that makes a method of a RowActionAdmin an action; `description` is its label in the list.

    A method `close` becomes the list's action `close_selected` and the URL `<id>/close/` of a row.
    """

    def declare(run: Run) -> RowAction:
        return RowAction(run, description, template, form)

    return declare


class RowActionAdmin(LoggedAdmin):
    """Runs the row actions that its class declares, if the person may change every row."""

    def __init__(self, model: type[Model], admin_site: AdminSite) -> None:
        super().__init__(model, admin_site)
        self.row_actions = _declared(type(self))
        self.actions = [*(self.actions or ()), *map(_on_selected_rows, self.row_actions)]

    def row_action_view(self, request: HttpRequest, row: Any, action: RowAction) -> HttpResponse:
        """The confirmation page. Without one, a GET request changes nothing and redirects to the row."""
        back = self.page_of_id(row.pk)
        if not action.template and request.method != "POST":
            return HttpResponseRedirect(back)
        return self.run_row_action(request, action, [row], back)

    def run_row_action(
        self, request: HttpRequest, action: RowAction, rows: Sequence[Any], back: str
    ) -> HttpResponse:
        if problem := self.why_not(request, action, rows):
            self._count_refused(request, rows, NotAllowed(f"{action.description}: {problem}"))
            messages.error(request, problem)
        elif action.template:
            return self._ask_and_run(request, action, rows, back)
        else:
            self._run_at_once(request, action, rows)
        return HttpResponseRedirect(back)

    def why_not(self, request: HttpRequest, action: RowAction, rows: Sequence[Any]) -> str:
        """Why the action cannot run on these rows; "" if it can."""
        if all(self.has_change_permission(request, row) for row in rows):
            return ""
        return f"You can read these {self.opts.verbose_name_plural}, but you cannot change them."

    def get_row_action_context(self, request: HttpRequest, rows: Sequence[Any]) -> dict[str, Any]:
        """Template context of the confirmation page besides the rows and the form."""
        return {}

    def _run_at_once(self, request: HttpRequest, action: RowAction, rows: Sequence[Any]) -> None:
        try:
            action.run(self, request, rows)
        except CtxhubError as error:
            self._count_refused(request, rows, error)
            messages.error(request, sentence(error))

    def _ask_and_run(
        self, request: HttpRequest, action: RowAction, rows: Sequence[Any], back: str
    ) -> HttpResponse:
        """Runs the action once confirmed. A service's error is shown on the confirmation page."""
        form = action.form(request.POST if "confirmed" in request.POST else None)
        if form.is_valid():
            try:
                action.run(self, request, rows, **form.cleaned_data)
            except CtxhubError as error:
                self._count_refused(request, rows, error)
                form.add_error(None, sentence(error))
            else:
                return HttpResponseRedirect(back)
        return self.page(
            request,
            action.template,
            f"{action.name.replace('_', ' ').capitalize()} {_named(rows)}",
            form=form,
            rows=rows,
            back=back,
            action_name=request.POST.get("action", ""),
            **self.get_row_action_context(request, rows),
        )

    def _count_refused(self, request: HttpRequest, rows: Sequence[Any], error: CtxhubError) -> None:
        """Count it for the first row: one attempt is one refusal."""
        if request.method == "POST" and rows:
            self.count_refusal(request, rows[0], error)


def _named(rows: Sequence[Any]) -> str:
    """What a page is about, for its title: one row by its name, several by their number."""
    if len(rows) == 1:
        return f"{rows[0]._meta.verbose_name} {rows[0]}"
    return counted(len(rows), str(rows[0]._meta.verbose_name_plural)) if rows else ""


def _declared(admin_class: type) -> list[RowAction]:
    """The row actions of a class and its bases, in the order of their definition."""
    members = (member for each in reversed(admin_class.__mro__) for member in vars(each).values())
    return [member for member in members if isinstance(member, RowAction)]


def _on_selected_rows(action: RowAction) -> Callable[..., HttpResponse]:
    """The list's action for the selected rows."""

    @admin.action(description=action.description, permissions=["change"])
    def run(model_admin: RowActionAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        back = model_admin.url("changelist") if action.template else request.get_full_path()
        return model_admin.run_row_action(request, action, list(queryset), back)

    run.__name__ = f"{action.name}_selected"
    return run
