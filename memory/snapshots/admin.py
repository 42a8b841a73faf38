"""The admin of snapshots: the list, the page with causes and effects, the form, overview and pruning."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.console import refs
from ctxhub.console.access import access_of
from ctxhub.console.base import Menu, person
from ctxhub.console.columns import chips, column, preview
from ctxhub.console.fields import NamesField, ObjectField, ProseField
from ctxhub.console.filters import AgentFilter, ProjectFilter, TagFilter
from ctxhub.console.logged import EVENTS_STAY
from ctxhub.console.markdown import render_markdown
from ctxhub.console.pages import NounAdmin
from ctxhub.console.project_pages import ProjectPagesAdmin
from ctxhub.console.service_form import ServiceForm, sentence
from ctxhub.console.text_refs import pages_of_texts
from ctxhub.console.unfold_compat import DropdownFilter, TextFilter
from ctxhub.core.accounts.people import find_person
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.models import Project
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted
from memory.predictions.overview import overview_of
from memory.predictions.page import shown_prediction
from memory.snapshots.cause_graph import causes_of
from memory.snapshots.models import ActionType, Snapshot, SnapshotDependency, Tier
from memory.snapshots.queries import count_dependents
from memory.snapshots.services import save_snapshot
from memory.snapshots.tiers import prune_snapshots, tier_of, tier_range

TIER_COLOURS = {
    str(Tier.ACTIVE.label): "success",
    str(Tier.RECENT.label): "info",
    str(Tier.ARCHIVED.label): "warning",
    str(Tier.EXPIRED.label): "danger",
}


class TierFilter(DropdownFilter):
    """By the time of the last read: a stored tier is out of date until the next write."""

    title = parameter_name = "tier"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(label), str(label)) for label in Tier.labels]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        tier = next((tier for tier in Tier if tier.label == self.value()), None)
        if tier is None:
            return queryset
        after, until = tier_range(tier, clock.now())
        newer = Q(touched_at__gt=after) if after else Q()
        return queryset.filter(newer, Q(touched_at__lte=until) if until else Q())


class SourceFilter(TextFilter):
    """The complete source, ignoring case."""

    title = parameter_name = "source"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        source = (self.value() or "").strip()
        return queryset.filter(source__iexact=source) if source else queryset


class RestsOnFilter(TextFilter):
    """The snapshots that name one as their cause or dependency."""

    title, parameter_name = "rests on", "rests_on"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not (typed := (self.value() or "").strip()):
            return queryset
        row_id = read_id(typed.removeprefix("snapshot:"))
        if not row_id:
            return queryset.none()
        dependents = SnapshotDependency.unscoped.filter(dependency=row_id).values("snapshot")
        return queryset.filter(Q(caused_by=row_id) | Q(pk__in=dependents))


REF_LENGTH = 250
# What is typed instead of ids, where a blank field would be filled in.
NONE = "none"


class SnapshotForm(ServiceForm):
    content = ProseField(rows=10, help_text="What was done. Markdown is rendered; credentials are masked.")
    summary = ProseField(rows=2, help_text="Left blank: its first sentences.")
    action_type = forms.ChoiceField(
        label="Action",
        choices=[(label, str(label).replace("_", " ")) for label in ActionType.labels],
        initial=ActionType.CONVERSATION.label,
        widget=UnfoldAdminSelectWidget,
    )
    rationale = ProseField(rows=3, help_text="Why it was done.")
    caused_by = forms.CharField(
        label="Cause",
        max_length=REF_LENGTH,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="What it follows from: 17, snapshot:17, or anything else: decision:api/auth",
    )
    dependencies = NamesField(
        help_text='What it rests on besides: 17, 18. Left blank: your last 5 of an hour; "none": nothing.'
    )
    tags = NamesField(
        help_text="Separated by commas; a new name creates a tag. Left blank: up to 5 known tags that the"
        " content is about."
    )
    metadata = ObjectField(help_text='A JSON object: {"ticket": "OPS-7"}')

    def arguments(self) -> dict[str, Any]:
        """The arguments of the service: the filled-in fields. The service refuses a blank content."""
        values = self.filled_in("content")
        if [name.casefold() for name in values.get("dependencies", ())] == [NONE]:
            values["dependencies"] = []
        return values


RAW = "raw"
# The source of a snapshot that a person adds.
SOURCE = "manual"
PRUNED_AT_ONCE = 100


@admin.register(Snapshot)
class SnapshotAdmin(ProjectPagesAdmin, NounAdmin):
    menu = Menu("Knowledge", "timeline")
    ref_kind = "snapshot"
    form = SnapshotForm
    read_template = "ctxhub/snapshot.html"
    change_scope = None
    has_change_form = False
    why_missing = "Perhaps it was deleted or pruned?"
    when_empty = (
        "What agents did and why, step after step, each with its cause: they save one with `snapshot save`."
    )
    project_pages = {"overview": "Overview", "prune": "Prune"}

    long = ("content", "rationale", "metadata", "reasons")
    list_display = ("summarised", "action", "tier_now", "tagged", "origin", "by", "saved")
    list_filter = (
        ProjectFilter,
        ("action_type", ChoicesDropdownFilter),
        TierFilter,
        TagFilter,
        AgentFilter,
        SourceFilter,
        RestsOnFilter,
    )
    search_help_text = "Search in summary, rationale, content and tags"
    date_hierarchy = "created_at"

    def get_fieldsets(self, request: HttpRequest, obj: Snapshot | None = None) -> list[Any]:
        return [
            (None, {"fields": ["content", "summary", ("action_type", "tags"), "rationale"]}),
            ("What it rests on", {"fields": [("caused_by", "dependencies")]}),
            ("More", {"fields": ["metadata"]}),
        ]

    # -- Finding -----------------------------------------------------------------------------------

    summarised = column("Snapshot", lambda snapshot: preview(snapshot.summary))
    action = column("Action", lambda snapshot: action_of(snapshot), ordering="action_type", label=True)
    tier_now = column(
        "Tier", lambda snapshot: tier_label(snapshot), ordering="-touched_at", label=TIER_COLOURS
    )
    origin = column(
        "Source",
        lambda snapshot: chips([snapshot.source], lambda name: snapshot.shown_in.narrowed_to(source=name)),
        ordering="source",
    )
    saved = column("Saved", lambda snapshot: moment(snapshot.created_at), ordering="created_at")

    # -- Reading -----------------------------------------------------------------------------------

    def get_read_context(self, request: HttpRequest, row: Snapshot) -> dict[str, Any]:
        """Opening this page is no access of an agent, so it is not counted as one."""
        is_raw = request.GET.get("text") == RAW
        pages = pages_of_texts(row.project_id, [row.rationale, *([] if is_raw else [row.content])])
        return {
            "is_raw": is_raw,
            "text_pages": pages,
            "shown": "" if is_raw else render_markdown(row.content, raw_url=f"?text={RAW}", pages=pages),
            "action": action_of(row),
            "tier": tier_label(row),
            "tier_colours": TIER_COLOURS,
            "session_url": _session_url(row),
            "prediction": shown_prediction(row),
            "causes": causes_of(row),
            "list_of_dependents": self.url_of_page("changelist", row.project, rests_on=row.pk),
            "may_add": access_of(request).may(self.add_scope or "", row.project_id),
            "add_effect": self.url_of_page("add", row.project, caused_by=row.pk),
        }

    # -- Writing -----------------------------------------------------------------------------------

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """The cause, if the user came from its page."""
        return {"caused_by": request.GET["caused_by"]} if request.GET.get("caused_by") else {}

    def add_row(self, request: HttpRequest, row: Snapshot, form: Any) -> int:
        answer = save_snapshot(caller=person(), source=SOURCE, **form.arguments())
        if masked := answer.get("masked"):
            messages.warning(request, f"{counted(masked, 'credentials')} in the content: masked.")
        return answer["id"]

    def get_deleted_objects(
        self, objs: Iterable[Model], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Reads the numbers of dependents of all rows at once."""
        rows: list[Any] = list(objs)
        counts = count_dependents([row.pk for row in rows])
        for row in rows:
            row.dependent_count = counts[row.pk]
        return super().get_deleted_objects(rows, request)

    def deletion_line(self, row: Any) -> str:
        return f"{row}. {_what_stays(row.dependent_count)} {EVENTS_STAY}"

    # -- All snapshots of a project ----------------------------------------------------------------

    def overview_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        shown = overview_of(project) if project else {}
        return self.project_page(request, "overview", "ctxhub/snapshots_overview.html", project, **shown)

    def prune_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        """Shows what pruning would delete; POST deletes at most as many as the page showed."""
        if project and request.method == "POST":
            return self._prune(request, project)
        caller = find_person(request.user, project.slug) if project else None  # type: ignore[arg-type]
        found = prune_snapshots(caller=caller, limit=PRUNED_AT_ONCE) if caller else None
        may_prune = project is not None and access_of(request).may(ADMIN, project.pk)
        return self.project_page(
            request,
            "prune",
            "ctxhub/snapshots_prune.html",
            project,
            found=found,
            may_prune=may_prune,
            at_once=PRUNED_AT_ONCE,
        )

    def _prune(self, request: HttpRequest, project: Project) -> HttpResponse:
        limit = read_id(request.POST.get("limit", "")) or PRUNED_AT_ONCE
        try:
            with self.acting_in(request, project):
                pruned = prune_snapshots(caller=person(), limit=limit, dry_run=False)
        except CtxhubError as error:
            messages.error(request, sentence(error))
            return HttpResponseRedirect(self.url_of_page("prune", project))
        messages.success(request, f"{counted(len(pruned.rows), 'snapshots')} deleted.")
        return HttpResponseRedirect(self.url_of_page("changelist", project))


# -- Pieces ----------------------------------------------------------------------------------------


def action_of(snapshot: Snapshot) -> str:
    return str(snapshot.get_action_type_display()).replace("_", " ")


def tier_label(snapshot: Snapshot) -> str:
    """The tier by the time of the last read; the stored one may be out of date."""
    return str(tier_of(snapshot.touched_at, clock.now()).label)


def _session_url(row: Snapshot) -> str | None:
    return refs.page_of(row.project_id, f"session:{row.session_id}") if row.session_id else None


def _what_stays(count: int) -> str:
    if not count:
        return "Nothing rests on it."
    verbs = ("rests", "stays") if count == 1 else ("rest", "stay")
    return f"{counted(count, 'snapshots')} {verbs[0]} on it and {verbs[1]}."
