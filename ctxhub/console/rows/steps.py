"""From a row to the next and the previous one of the list that the person came from."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from ctxhub.core.kit.frozen import frozen

# Of the page of a row: its place in the list, from 0. `_changelist_filters` is the query of the list.
AT = "_at"
# Of a list: leads to the row before or after this one, which was at `_at`.
STEP, FROM = "_step", "_from"
# A row that others wrote or deleted meanwhile is found this far from where it was.
WINDOW = 100
STEPS = {"next": 1, "previous": -1}


@frozen
class ListSteps:
    """URLs. `previous_url` is "" for the first row; that there is no next one, the list says."""

    list_url: str
    list_title: str
    previous_url: str
    next_url: str


def list_steps(request: HttpRequest) -> ListSteps | None:
    """Of a page that was opened from a list."""
    at, match = request.GET.get(AT, ""), request.resolver_match
    if not _is_place(at) or match is None or not match.url_name:
        return None
    row_id = match.kwargs.get("row_id") or match.kwargs.get("object_id")
    name = match.url_name.rpartition("_")[0]
    model = next((each for each in admin.site._registry if _name(each) == name), None)
    if row_id is None or model is None:
        return None
    query = request.GET.get("_changelist_filters", "")
    url = reverse(f"admin:{name}_changelist")

    def step(direction: str) -> str:
        moves = {STEP: direction, FROM: row_id, AT: at}
        return f"{url}?{urlencode([*parse_qsl(query, keep_blank_values=True), *moves.items()])}"

    return ListSteps(
        f"{url}?{query}#row-{row_id}" if query else f"{url}#row-{row_id}",
        str(model._meta.verbose_name_plural).capitalize(),
        step("previous") if int(at) else "",
        step("next"),
    )


def _name(model: type[Model]) -> str:
    return f"{model._meta.app_label}_{model._meta.model_name}"


def taken_step(request: HttpRequest) -> tuple[int, str, int] | None:
    """Takes a step out of the query of a list: the direction, the id of the row, and where it was."""
    query = request.GET.copy()
    direction, row_id, at = (query.pop(name, [""])[-1] for name in (STEP, FROM, AT))
    if direction not in STEPS:
        return None
    request.GET = QueryDict(query.urlencode())
    return STEPS[direction], row_id, int(at) if _is_place(at) else 0


def row_after(changelist: Any, direction: int, row_id: str, at: int) -> tuple[Any, int] | None:
    """The row beside this one in the order of the list, and its place; None at an end of the list."""
    first = max(0, at - WINDOW)
    ids = list(changelist.queryset.values_list("pk", flat=True)[first : at + WINDOW + 1])
    # Without the row, which is gone or changed so that it moved, the one that took its place is next.
    place = next((n for n, pk in enumerate(ids) if str(pk) == row_id), None)
    found = at - first + (direction if direction < 0 else 0) if place is None else place + direction
    if not 0 <= found < len(ids):
        return None
    return changelist.queryset.filter(pk=ids[found]).first(), first + found


def _is_place(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 9
