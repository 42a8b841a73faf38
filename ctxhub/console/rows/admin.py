"""The base of every admin here: lists of rows instead of tables, whose titles name what they show."""

from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.text import capfirst

from ctxhub.console.access import chosen_project
from ctxhub.console.lists import FilteredList
from ctxhub.console.rows.row_list import bulk_actions
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.rows.steps import row_after, taken_step
from ctxhub.console.unfold_compat import ChangeList, ModelAdmin
from ctxhub.core.text.plurals import counted


class RowsAdmin(ModelAdmin):
    """`row_parts` says which column stands where in a row; the columns themselves are `list_display`.

    `sparkline_of`: the field of events that `sparkline_key` of a row is compared with; "": none is drawn.
    """

    row_parts: ClassVar[RowParts] = RowParts()
    sparkline_of: ClassVar[str] = ""

    change_list_template = "ctxhub/list.html"
    list_fullwidth = True

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return FilteredList

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method == "GET" and (step := taken_step(request)):
            return self._step(request, *step)
        response: HttpResponse = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data and "cl" in response.context_data:
            shown = response.context_data
            shown["title"] = list_title(request, shown["cl"])
            form = shown["action_form"]
            shown["bulk_actions"] = bulk_actions(form.fields["action"].choices) if form else []
        return response

    def sparkline_key(self, row: Any) -> Any:
        return row.pk

    def _step(self, request: HttpRequest, direction: int, row_id: str, at: int) -> HttpResponse:
        """Redirects to the row beside one, or at an end of the list to the list."""
        query = request.GET.urlencode()
        back = f"{request.path}?{query}" if query else request.path
        if not self.has_view_permission(request):
            return HttpResponseRedirect(back)
        try:
            changelist: Any = self.get_changelist_instance(request)
        except IncorrectLookupParameters:
            return HttpResponseRedirect(back)
        if (found := row_after(changelist, direction, row_id, at)) and (url := changelist.row_url(*found)):
            return HttpResponseRedirect(url)
        messages.info(request, f"That was the {'last' if direction > 0 else 'first'} of this list.")
        return HttpResponseRedirect(back)


def list_title(request: HttpRequest, changelist: Any) -> str:
    """Such as "Decisions in apollo: words “pool”, 2 filters"."""
    project = chosen_project(request)
    title = f"{capfirst(str(changelist.opts.verbose_name_plural))}{f' in {project}' if project else ''}"
    number = sum(not each.is_project for each in changelist.active_filters())
    told = [
        *([f"“{changelist.query}”"] if changelist.query else []),
        *([counted(number, "filters")] if number else []),
    ]
    return ", ".join([title, *told])
