"""Filters and orderings of lists that are querysets, by django-filter."""

from typing import Any

from django.db.models import Q, QuerySet
from django_filters import CharFilter, ChoiceFilter, FilterSet, OrderingFilter

from ctxhub.core.accounts.access_tokens import STATES, in_state

NAMES = "Only where the name holds this, whatever its case."
STATE = "A revoked token is revoked, whether it has expired or not. unused: active, and not used for 90 days."


def ordering(*names: str, **fields: str) -> OrderingFilter:
    """Orders by these fields; `name=field` where the parameter says it otherwise."""
    return OrderingFilter(fields={**{name: name for name in names}, **{f: n for n, f in fields.items()}})


class ProjectFilter(FilterSet):
    text = CharFilter(method="in_slug_or_name", help_text="Only where the slug or the name holds this.")
    ordering = ordering("slug", "name", created="created_at")

    def in_slug_or_name(self, projects: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return projects.filter(Q(slug__icontains=value) | Q(name__icontains=value))


class PersonFilter(FilterSet):
    text = CharFilter("username", "icontains", help_text=NAMES)
    state = ChoiceFilter(choices=[(state, state) for state in ("active", "deactivated")], method="in_state")
    ordering = ordering("username", joined="date_joined")

    def in_state(self, people: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return people.filter(is_active=value == "active")


class TokenFilter(FilterSet):
    text = CharFilter("name", "icontains", help_text=NAMES)
    agent = CharFilter("agent__folded", method="of_agent", help_text="Only those that speak for this agent.")
    state = ChoiceFilter(choices=[(state, state) for state in STATES], method="in_state", help_text=STATE)
    ordering = ordering("name", created="created_at")

    def of_agent(self, tokens: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return tokens.filter(agent__folded=value.casefold())

    def in_state(self, tokens: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return in_state(tokens, value)


class AgentFilter(FilterSet):
    text = CharFilter("name", "icontains", help_text=NAMES)
    ordering = ordering(name="folded", last_seen="seen")


class WordFilter(FilterSet):
    text = CharFilter("name", "icontains", help_text=NAMES)
    ordering = ordering("name", "uses")


class LayerFilter(WordFilter):
    ordering = ordering("name", "uses", "position")
