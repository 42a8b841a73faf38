"""List filters by name, so that a URL works in any project. They offer only what the person can see."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin import ListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from ctxhub.console.access import access_of, shown_project_ids
from ctxhub.console.unfold_compat import DropdownFilter, TextFilter
from ctxhub.console.urls import list_url
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.models import Agent, Category, Layer, Scope, Tag
from ctxhub.core.vocabulary.names import find_tag_ids

NAMES_OFFERED = 200


class ProjectFilter(DropdownFilter):
    title = "project"
    parameter_name = "project"
    counted_by = "project__slug"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(project.slug, str(project)) for project in access_of(request).projects.values()]

    def has_output(self) -> bool:
        return len(self.lookup_choices) > 1

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(project__slug=self.value()) if self.value() else queryset


class NameFilter(TextFilter):
    """A text input that suggests known names. Ignores case; matches parts of names if no name is equal."""

    takes_names = True
    model: ClassVar[type[NamedRow]]
    lookup: ClassVar[str]

    def __init__(self, request: HttpRequest, *arguments: Any) -> None:
        super().__init__(request, *arguments)
        self.request = request

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        names = self.model.unscoped.filter(project__in=shown_project_ids(self.request))
        return _named(queryset, names, self.lookup, self.value())

    @property
    def counted_by(self) -> str:
        return f"{self.lookup}__name"

    def known_names(self) -> list[str]:
        """What a list that is too long to be counted suggests."""
        rows = self.model.unscoped.filter(project__in=shown_project_ids(self.request))
        return list(rows.order_by("folded").values_list("name", flat=True).distinct()[:NAMES_OFFERED])


class TagFilter(NameFilter):
    """Also finds the tags below one, and those that a glob matches."""

    title = parameter_name = "tag"
    model, lookup = Tag, "tags"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = (self.value() or "").strip()
        if not value or not (found := _tags_found(shown_project_ids(self.request), value)):
            return super().queryset(request, queryset)
        # A subquery, so that a row with several of the tags is listed once.
        matches = queryset.model._base_manager.filter(tags__in=found)
        return queryset.filter(pk__in=matches.values("pk"))


def _tags_found(project_ids: Sequence[int], text: str) -> list[int]:
    try:
        return find_tag_ids(project_ids, text)
    except InvalidInput:
        return []


class ScopeFilter(NameFilter):
    title = parameter_name = "scope"
    model, lookup = Scope, "scopes"


class CategoryFilter(NameFilter):
    title = parameter_name = "category"
    model, lookup = Category, "category"


class AgentFilter(DropdownFilter):
    """A choice of the agents seen last, and of the one in the URL.

    Ignores case; matches parts of names if no name is equal.
    """

    title = parameter_name = "agent"
    counted_by = "agent__name"
    takes_names = True

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        agents = Agent.unscoped.filter(project__in=shown_project_ids(request))
        seen = agents.order_by(F("last_seen_at").desc(nulls_last=True), "folded")
        names: dict[str, str] = {}
        for folded, name in seen.values_list("folded", "name")[:NAMES_OFFERED]:
            names.setdefault(folded, name)
        if value := (self.value() or "").strip():
            # The select shows a choice only as it is spelled.
            self.used_parameters["agent"] = names.setdefault(value.casefold(), value)
        return [(name, name) for name in names.values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        agents = Agent.unscoped.filter(project__in=shown_project_ids(request))
        return _named(queryset, agents, "agent", self.value())


def _named(queryset: QuerySet[Any], names: QuerySet[Any], lookup: str, value: str | None) -> QuerySet[Any]:
    """The rows whose `lookup` has this name, or a part of it if none of the names is equal."""
    name = (value or "").strip().casefold()
    if not name:
        return queryset
    if names.filter(folded=name).exists():
        return queryset.filter(**{f"{lookup}__folded": name})
    # A subquery, so that a row with several matching names is listed once.
    matches = queryset.model._base_manager.filter(**{f"{lookup}__folded__contains": name})
    return queryset.filter(pk__in=matches.values("pk"))


class LayerFilter(DropdownFilter):
    title = parameter_name = "layer"
    counted_by = "layer__name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        layers = Layer.unscoped.filter(project__in=shown_project_ids(request)).order_by("position", "pk")
        return [(name, name) for name in dict.fromkeys(layers.values_list("name", flat=True)[:NAMES_OFFERED])]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        name = self.value()
        return queryset.filter(layer__folded=name.casefold()) if name else queryset


class TimeRangeFilter(ListFilter):
    """From and to, to the minute, in the current time zone. `compared`: the datetime field."""

    title = "time"
    compared: ClassVar[str] = "at"
    names: ClassVar[tuple[str, str]] = ("from", "to")

    @property
    def titles(self) -> Mapping[str, str]:
        return {name: name for name in self.names}

    def __init__(self, request: HttpRequest, params: dict[str, Any], *arguments: Any) -> None:
        super().__init__(request, params, *arguments)
        for name in self.names:
            if values := params.pop(name, None):
                self.used_parameters[name] = values[-1]

    def has_output(self) -> bool:
        return True

    def expected_parameters(self) -> list[str | None]:
        return [*self.names]

    def label_of(self, name: str) -> str:
        return f"{name.capitalize()} ({timezone.get_current_timezone_name()})"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        begin, end = (self._moment(name) for name in self.names)
        rows = queryset.filter(**{f"{self.compared}__gte": begin}) if begin else queryset
        return rows.filter(**{f"{self.compared}__lt": end}) if end else rows

    def _moment(self, name: str) -> datetime | None:
        text = str(self.used_parameters.get(name, "")).strip()
        if not text:
            return None
        try:
            at = parse_datetime(text)
            if at is None:
                raise ValueError(text)
            return at if at.tzinfo else timezone.make_aware(at)
        except (ValueError, OverflowError) as error:
            raise IncorrectLookupParameters(f"{name}: {text[:40]!r} is not a time.") from error


def lists_filtered_by(parameter: str) -> list[tuple[str, str]]:
    """URL and title of each list that can be filtered by this word: `?tag=api`, `?layer=data`."""
    return [
        (list_url(model._meta.label_lower.replace(".", "_")), str(model._meta.verbose_name_plural))
        for model, page in admin.site._registry.items()
        if any(getattr(spec, "parameter_name", "") == parameter for spec in page.list_filter)
    ]
