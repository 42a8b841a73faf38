"""Lease admin: who holds what and until when; administrators may release leases by force."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe
from unfold.contrib.filters.admin import BooleanRadioFilter
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.console.access import access_of, shown_project
from ctxhub.console.base import Menu, person
from ctxhub.console.columns import agent_cell, column, mono, preview, time_in_full
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.logged import LoggedAdmin
from ctxhub.console.project_pages import ProjectPagesAdmin
from ctxhub.console.refusals import refused_line
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.service_form import sentence
from ctxhub.console.silence import COLOURS
from ctxhub.console.unfold_compat import DropdownFilter, action
from ctxhub.console.urls import next_url
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.errors import CtxhubError, NotAllowed
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.models import Project
from ctxhub.core.templatetags.moments import ago, moment
from tracking.board.page import board_context
from tracking.leases.release_button import release_button
from tracking.leases.services import release_by_force
from tracking.leases.silence import presence_of_holder, silent_leases, with_silence
from tracking.models import Lease

STATES = ("live", "silent", "expired", "released")
STATE_COLOURS = {**COLOURS, "live": "success", "expired": "info", "released": "info"}


class ReleaseForm(forms.Form):
    reason = forms.CharField(
        required=False,
        max_length=500,
        widget=UnfoldAdminTextInputWidget,
        help_text="For the log, and for the holder.",
    )


class StateFilter(DropdownFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, state) for state in STATES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        now = clock.now()
        live = Q(released_at=None, expires_at__gt=now)
        states = {
            "live": live,
            "silent": Q(pk__in=silent_leases().values("pk")),
            "expired": Q(released_at=None, expires_at__lte=now),
            "released": Q(released_at__isnull=False),
        }
        return queryset.filter(states.get(str(self.value()), Q()))


@admin.register(Lease)
class LeaseAdmin(ProjectPagesAdmin, LoggedAdmin):
    menu = Menu("Activity", "lock_clock")
    project_pages = {"board": "Board"}
    ref_kind = "lease"
    when_empty = "Paths that agents reserve while they work on them, with `file lease`."
    add_scope = change_scope = delete_scope = None

    list_display = ("patterns", "holder", "in_session", "mode", "state", "left", "why", "taken")
    row_parts = RowParts(title="patterns", text="why", state=("state", "release"))
    list_after_template = "ctxhub/release_form.html"
    list_filter = (ProjectFilter, StateFilter, AgentFilter, ("exclusive", BooleanRadioFilter))
    list_select_related = ("project", "agent", "released_by")
    search_fields = ("paths__pattern", "session", "reason")
    search_help_text = "Path, session or reason"
    actions = ("force_release_selected",)
    actions_detail = ("force_release",)
    fields = (
        "project",
        "fence",
        "reserves",
        "holder",
        "in_session",
        "mode",
        "state",
        "reason",
        "taken_at",
        "ends",
        "ended",
        "by",
        "refused",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Lease]:
        rows: QuerySet[Lease] = super().get_queryset(request)
        return with_silence(rows).prefetch_related("paths")

    # -- Pages -------------------------------------------------------------------------------------

    def board_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        if project is None:
            return self.project_page(request, "board", "ctxhub/board.html", None)
        may_release = access_of(request).may(ADMIN, project.pk)
        shown = board_context(project, request.GET.dict(), may_release)
        return self.project_page(request, "board", "ctxhub/board.html", project, **shown)

    def get_list_display(self, request: HttpRequest) -> Any:
        """Adds the buttons that release live leases, for those who may."""
        columns = super().get_list_display(request)
        if not self._may_release_some(request):
            return columns
        projects = set(access_of(request).project_ids(ADMIN))

        @display(description="Release")
        def release(lease: Lease) -> SafeString | str:
            is_live = lease.state(clock.now()) == "live"
            return release_button(lease) if is_live and lease.project_id in projects else ""

        return [*columns, release]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        may_release = {"may_release": self._may_release_some(request)}
        return super().changelist_view(request, {**may_release, **(extra_context or {})})

    def _may_release_some(self, request: HttpRequest) -> bool:
        project = shown_project(request)
        return access_of(request).may(ADMIN, project.pk if project else None)

    # -- Cells -------------------------------------------------------------------------------------

    @display(description="Reserves")
    def reserves(self, lease: Lease) -> SafeString:
        paths = sorted(path.pattern for path in lease.paths.all())
        return format_html_join(mark_safe("<br>"), "{}", ((mono(path),) for path in paths))

    patterns = column(
        "Reserves",
        lambda lease: format_html_join(
            ", ", "{}", ((mono(pattern),) for pattern in sorted(path.pattern for path in lease.paths.all()))
        ),
    )
    holder = column("Held by", lambda lease: agent_cell(lease.agent), ordering="agent__name")
    in_session = column("Session", lambda lease: lease.session, ordering="session")
    mode = column("Mode", lambda lease: "exclusive" if lease.exclusive else "shared", ordering="exclusive")

    @display(description="State", label=STATE_COLOURS)
    def state(self, lease: Lease) -> str:
        """That of the holder, if the lease is live and the holder is silent."""
        state, of_holder = lease.state(clock.now()), presence_of_holder(lease)
        return str(of_holder) if state == "live" and of_holder.is_silent else state

    @display(description="Ends", ordering="expires_at")
    def left(self, lease: Lease) -> SafeString | str:
        """The time left of a live lease, the end of any other."""
        return ago(lease.expires_at) if lease.state(clock.now()) == "live" else moment(_ended(lease))

    why = column("Reason", lambda lease: preview(lease.reason))
    taken = column("Taken", lambda lease: moment(lease.created_at), ordering="created_at")
    fence = column("Fence", lambda lease: lease.pk)
    by = column("Released by", lambda lease: agent_cell(lease.released_by) if lease.released_by else "nobody")

    @display(description="Refused")
    def refused(self, lease: Lease) -> SafeString | str:
        """The attempts of others to lease the same paths, or to end this lease."""
        return refused_line(lease)

    taken_at = time_in_full("created_at", "Taken")
    ends = time_in_full("expires_at", "Expires")
    ended = time_in_full("released_at", "Released")

    # -- Released by force -------------------------------------------------------------------------

    def has_release_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        if object_id is None:
            return self._may(request, ADMIN, None)
        lease = self.get_object(request, object_id)
        is_live = lease is not None and lease.state(clock.now()) == "live"
        return is_live and self._may(request, ADMIN, lease)

    @action(
        description="Release by force",
        icon="lock_open",
        permissions=["release"],
        variant=ActionVariant.DANGER,
    )
    def force_release(self, request: HttpRequest, object_id: str) -> HttpResponse:
        leases = self.get_queryset(request).filter(pk=object_id)
        return self._release(request, leases, next_url(request, self.url("change", object_id)))

    @admin.action(description="Release the selected leases by force", permissions=["release"])
    def force_release_selected(self, request: HttpRequest, queryset: QuerySet[Lease]) -> HttpResponse:
        return self._release(request, queryset, self.url("changelist"))

    def get_urls(self) -> list[URLPattern]:
        release = self.admin_site.admin_view(self.release_view)
        return [path("release/", release, name="tracking_lease_release"), *super().get_urls()]

    def release_view(self, request: HttpRequest) -> HttpResponse:
        """Release the leases that a button of another page names ("4,7"), and return to that page."""
        back = next_url(request)
        if request.method != "POST":
            return HttpResponseRedirect(back)
        named = [*request.POST.get("leases", "").split(","), *request.POST.getlist("_selected_action")]
        ids = [lease_id for each in named if (lease_id := read_id(each))]
        return self._release(request, self.get_queryset(request).filter(pk__in=ids), back)

    def _release(self, request: HttpRequest, leases: QuerySet[Lease], return_url: str) -> HttpResponse:
        """Ask for confirmation, then release the live leases: all or none of each project."""
        now = clock.now()
        chosen: Sequence[Lease] = [lease for lease in leases if lease.state(now) == "live"]
        if not chosen or not all(self._may(request, ADMIN, lease) for lease in chosen):
            if chosen and request.method == "POST":
                self.count_refusal(request, chosen[0], NotAllowed(_why_not(chosen)))
            messages.error(request, _why_not(chosen))
            return HttpResponseRedirect(return_url)
        form = ReleaseForm(request.POST if "confirmed" in request.POST else None)
        if form.is_valid() and self._release_each(request, chosen, form):
            return HttpResponseRedirect(return_url)
        return self.page(
            request,
            "ctxhub/release_leases.html",
            "Release",
            form=form,
            rows=chosen,
            back=return_url,
            action_name=request.POST.get("action", ""),
        )

    def _release_each(self, request: HttpRequest, leases: Sequence[Lease], form: ReleaseForm) -> bool:
        """Whether the leases were released; otherwise the form says why not."""
        released = 0
        try:
            for project, of_project in self.by_project(leases):
                with self.acting_in(request, project):
                    ids = [lease.pk for lease in of_project]
                    reason = form.cleaned_data["reason"]
                    answer = release_by_force(caller=person(), lease_ids=ids, reason=reason)
                    released += answer["released"]
        except CtxhubError as error:
            self.count_refusal(request, leases[0], error)
            form.add_error("reason", sentence(error))
            return False
        leases_were = "lease was" if released == 1 else "leases were"
        messages.success(request, f"{released} {leases_were} released. The log records that you did it.")
        return True


def _why_not(chosen: Sequence[Lease]) -> str:
    if not chosen:
        return "None of the selected leases is live, so there is nothing to release."
    return "Only an admin of the project can release the lease of another agent."


def _ended(lease: Lease) -> Any:
    return lease.released_at or lease.expires_at
