"""The admin of the bin: what was deleted, restored by members and purged by administrators."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.enums import ActionVariant

from ctxhub.console.base import Menu, ProjectAdmin, person
from ctxhub.console.columns import agent_cell, column, mono, preview, time_in_full
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.unfold_compat import DropdownFilter, action
from ctxhub.core.bin.emptying import purge
from ctxhub.core.bin.models import KEPT_FOR, BinItem, BinState
from ctxhub.core.bin.queries import along_in_words, kinds_in_bins
from ctxhub.core.hub.ref_outcomes import Outcome
from ctxhub.core.hub.undoing import restore_entries
from ctxhub.core.kit.batches import in_batches
from ctxhub.core.kit.caller import ADMIN, WRITE
from ctxhub.core.models import Project
from ctxhub.core.templatetags.moments import in_full, moment

STATES = {"kept": "success", "partly": "warning", "not kept": "danger"}
LABELS = {BinState.KEPT: "kept", BinState.PARTIAL: "partly", BinState.NOT_KEPT: "not kept"}


class KindFilter(DropdownFilter):
    title = parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in kinds_in_bins()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(BinItem)
class BinItemAdmin(ProjectAdmin):
    menu = Menu("Activity", "delete")
    add_scope = change_scope = None
    delete_scope = ADMIN
    when_empty = (
        "What agents deleted with `delete`, and people on these pages: it lies here for 30 days, and can"
        " be restored."
    )
    why_missing = "Perhaps it was restored, or its 30 days are over?"
    actions = ("restore_selected",)
    actions_detail = ("restore",)

    list_display = ("on", "what", "with_it", "by", "when", "until", "kept")
    row_parts = RowParts(text="what")
    list_select_related = ("project", "agent")
    list_filter = (ProjectFilter, KindFilter, AgentFilter)
    search_fields = ("ref", "title")
    search_help_text = "Ref or title"
    date_hierarchy = "deleted_at"
    fields = ("project", "on", "what", "with_it", "by", "deleted", "ends", "kept")

    # -- Restoring ---------------------------------------------------------------------------------

    def has_restore_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Whether the person may restore anything: what the kind needs, the service checks."""
        row = self.get_object(request, object_id) if object_id else None
        return self._may(request, WRITE, row)

    @action(description="Restore", icon="undo", permissions=["restore"], variant=ActionVariant.PRIMARY)
    def restore(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self.get_object(request, object_id)
        rows = self.get_queryset(request).filter(pk=row.pk if row else None)
        return self._restore(request, rows, self.url("change", object_id))

    @admin.action(description="Restore the selected objects", permissions=["restore"])
    def restore_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        return self._restore(request, queryset, self.url("changelist"))

    def _restore(self, request: HttpRequest, rows: QuerySet[Any], back: str) -> HttpResponse:
        chosen: Sequence[Any] = list(rows.select_related("project"))
        if not chosen:
            return HttpResponseRedirect(self.url("changelist"))
        if "confirmed" not in request.POST:
            return self.page(
                request,
                "ctxhub/restore.html",
                "Restore",
                rows=chosen,
                back=back,
                action_name=request.POST.get("action", ""),
            )
        for project, of_project in self.by_project(chosen):
            self._tell(request, of_project, self._restored(request, project, of_project))
        return HttpResponseRedirect(self.url("changelist"))

    def _restored(self, request: HttpRequest, project: Project, rows: Sequence[Any]) -> dict[int, Outcome]:
        ids = [row.pk for row in rows]
        return in_batches(partial(self._restore_in, request, project, ids))

    def _restore_in(self, request: HttpRequest, project: Project, ids: Sequence[int]) -> dict[int, Outcome]:
        with self.acting_in(request, project):
            return restore_entries(caller=person(), item_ids=ids)

    def _tell(self, request: HttpRequest, rows: Sequence[Any], outcomes: dict[int, Outcome]) -> None:
        restored = [row.ref for row in rows if not outcomes[row.pk].error]
        if restored:
            messages.success(request, f"Restored: {', '.join(restored)}.")
        for row in rows:
            if error := outcomes[row.pk].error:
                self.count_refusal(request, row, error)
                messages.error(request, f"{row.ref}: {outcomes[row.pk].note} {error.hint or ''}".strip())

    # -- Purging -----------------------------------------------------------------------------------

    def delete_model(self, request: HttpRequest, obj: BinItem) -> None:
        purge(caller=person(), item_id=obj.pk)

    def deletion_line(self, row: BinItem) -> str:
        return f"{row.ref}: it leaves the bin now, and cannot be restored any more."

    # -- Columns -----------------------------------------------------------------------------------

    on = column("Ref", lambda row: mono(row.ref), ordering="ref")
    what = column("Title", lambda row: preview(row.title), ordering="title")
    with_it = column("With it", lambda row: along_in_words(row).removeprefix("with "))
    by = column("Deleted by", lambda row: agent_cell(row.agent), ordering="agent__name")
    when = column("Deleted", lambda row: moment(row.deleted_at), ordering="deleted_at")
    until = column("Kept until", lambda row: moment(row.deleted_at + KEPT_FOR), ordering="deleted_at")
    ends = column("Kept until", lambda row: in_full(row.deleted_at + KEPT_FOR))
    kept = column("State", lambda row: LABELS[BinState(row.state)], label=STATES)

    deleted = time_in_full("deleted_at", "Deleted")
