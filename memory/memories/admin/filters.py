"""Admin filters of memories by context and by stack."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from ctxhub.core.admin.filters import NameFilter
from ctxhub.core.admin.unfold_compat import TextFilter
from memory.memories.models.context import Context


class ContextFilter(NameFilter):
    title = parameter_name = "context"
    model, lookup = Context, "context"


class StackFilter(TextFilter):
    """Matches the complete stack, ignoring case, as the other interfaces do."""

    title = parameter_name = "stack"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        stack = (self.value() or "").strip().casefold()
        return queryset.filter(folded_stack=stack) if stack else queryset
