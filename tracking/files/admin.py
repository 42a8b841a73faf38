"""File admin: the files that agents have touched, each with its content, importance, changes and leases."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import agent_chips, agent_name, column, mono
from ctxhub.console.filters import ProjectFilter
from ctxhub.console.numbered_lines import numbered_lines
from ctxhub.console.pages import NounAdmin
from ctxhub.console.row_actions import row_action
from ctxhub.console.row_panels import RowPanel
from ctxhub.console.urls import list_url
from ctxhub.core.accounts.agents import ids_of_names
from ctxhub.core.templatetags.agents import SYSTEM
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted
from tracking.files.inputs import MOST_IMPORTANCE
from tracking.files.queries import open_resources
from tracking.files.services import mark_files
from tracking.models import FileChange, Resource


class MarkForm(forms.Form):
    importance = forms.IntegerField(
        min_value=0,
        max_value=MOST_IMPORTANCE,
        required=False,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="0 to 100, instead of the computed importance. Left blank: it is computed.",
    )


CHANGES_SHOWN = 10
# What the parts of the importance of a file mean.
PARTS = {
    "recency": "how lately it was accessed",
    "frequency": "how often it was accessed",
    "access": "the strongest access: edited, executed, referenced, viewed",
    "dependencies": "how much other files need it",
    "type": "code more than documentation and data",
    "mark": "set by somebody; nothing else counts",
}


# Further parts of the page of a file. Apps above this one append their own.
file_panels: list[Callable[[Resource], RowPanel]] = []


@admin.register(Resource)
class ResourceAdmin(NounAdmin):
    menu = Menu("Activity", "description")
    ref_kind = "resource"
    refs_are_numbers = False
    ref_field = "path"
    read_template = "ctxhub/file.html"
    when_empty = (
        "Every file that somebody named: it comes with `file record`, `session track` or `session save`."
    )
    has_change_form = False
    add_scope = delete_scope = None

    list_display = ("named", "kind", "cost", "last_change", "by", "log")
    list_filter = (ProjectFilter, ("type", ChoicesDropdownFilter))
    list_select_related = ("project",)
    search_help_text = "Words of path or content"
    ordering = ("path", "pk")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Resource]:
        rows: QuerySet[Resource] = super().get_queryset(request)
        newest = FileChange.unscoped.filter(resource=OuterRef("pk")).order_by("-at", "-pk")
        return rows.annotate(
            changed_at=Subquery(newest.values("at")[:1]),
            changed_by=Subquery(newest.values("agent__name")[:1]),
            changed_by_id=Subquery(newest.values("agent")[:1]),
        )

    named = column("File", lambda file: mono(file.path), ordering="path")
    kind = column("Type", lambda file: file.get_type_display(), ordering="type")
    cost = column("Tokens", lambda file: "" if file.tokens is None else f"{file.tokens:,}", ordering="tokens")
    last_change = column("Last change", lambda file: moment(file.changed_at))
    by = column(
        "Agent",
        lambda file: agent_name(file.changed_by or SYSTEM, file.changed_by_id) if file.changed_at else "",
    )
    log = column(
        "Changes",
        lambda file: format_html(
            '<a class="ctx-link ctx-nowrap" href="{}">Its changes</a>', list_of_changes(file)
        ),
    )

    # -- Reading -----------------------------------------------------------------------------------

    def get_read_context(self, request: HttpRequest, row: Resource) -> dict[str, Any]:
        item = open_resources(row.project_id, [row.path], full=True).get(row.path, {})
        line = request.GET.get("line", "")
        changes = FileChange.objects.in_project(row.project_id).filter(resource=row).select_related("agent")
        return {
            "item": item,
            "parts": _parts(item),
            "lines": numbered_lines(item["content"], line) if "content" in item else None,
            "is_open": bool(line),
            "changes": changes.order_by("-at", "-pk")[:CHANGES_SHOWN],
            "holders": _holders(row.project_id, item),
            "list_of_changes": list_of_changes(row),
            "panels": [make(row) for make in file_panels],
        }

    # -- Writing -----------------------------------------------------------------------------------

    @row_action(
        "Set the importance of the selected files", template="ctxhub/set_importance.html", form=MarkForm
    )
    def set_importance(self, request: HttpRequest, files: Sequence[Resource], importance: int | None) -> None:
        changed = 0
        for project, own in self.by_project(files):
            with self.acting_in(request, project):
                paths = [file.path for file in own]
                changed += mark_files(caller=person(), paths=paths, importance=importance)
        messages.success(request, _marked(changed, importance))


def _parts(item: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Name, meaning and points of the parts of the importance, the largest first."""
    parts = sorted(item.get("importance_parts", {}).items(), key=lambda part: -part[1])
    return [(name.capitalize(), PARTS.get(name, ""), points) for name, points in parts]


def _marked(changed: int, importance: int | None) -> str:
    if not changed:
        return "Nothing has changed."
    now = "computed" if importance is None else importance
    return f"The importance of {counted(changed, 'files')} is now {now}."


def list_of_changes(file: Resource) -> str:
    return list_url("tracking_filechange", file.project, q=file.path)


def _holders(project_id: int, item: Mapping[str, Any]) -> SafeString:
    """Who has leased the file, as linked chips."""
    names = list(dict.fromkeys(lease["by"] for lease in item.get("leases", ())))
    ids = ids_of_names(project_id, (name.casefold() for name in names))
    return agent_chips((name, ids.get(name.casefold())) for name in names)
