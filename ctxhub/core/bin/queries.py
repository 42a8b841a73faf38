"""Reads the bin: lists, and the entries that refs name."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from django.db.models import Q, QuerySet
from typing_extensions import TypedDict

from ctxhub.core import registry
from ctxhub.core.bin.models import KEPT_FOR, BinItem, BinState
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.inputs import clean_one_of, read_id
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing, Row
from ctxhub.core.kit.ordering import Ordering, ordered
from ctxhub.core.kit.rows import NOBODY
from ctxhub.core.text.plurals import counted
from ctxhub.toolbox.argument_types import About, Time, Wrote, one_of

STATES = tuple(str(label) for label in BinState.labels)
# What the list can be ordered by: what an index has.
ORDERS = {"deleted": ["deleted_at"]}
COLUMNS = ("id", "ref", "title", "deleted", "until", "by", "along", "state")


class BinRow(TypedDict):
    id: Annotated[int, About("Of the entry in the bin.")]
    ref: str
    title: Annotated[str, About("Its name or the beginning of its text, without credentials.")]
    deleted: Time
    until: Annotated[str, About("When it leaves the bin for good.", {"format": "date-time"})]
    by: Annotated[str, About("Who deleted it."), Wrote()]
    along: Annotated[dict[str, int], About("How much went with it, by plural: memories, relationships.")]
    state: Annotated[
        str,
        one_of(*STATES),
        About("partial: it is there, some of its contents are not; not_kept: it was too large for the bin."),
    ]


def bin_of(project_id: int) -> QuerySet[BinItem]:
    return BinItem.objects.in_project(project_id).select_related("agent").order_by("-deleted_at")


def get_item(project_id: int, item_id: int) -> BinItem:
    """One entry. Raises NotFound."""
    item = bin_of(project_id).filter(pk=item_id).first()
    if item is None:
        raise NotFound(f"There is no entry {item_id} in the bin.", hint="`GET bin/` lists those there are.")
    return item


def kinds_in_bins() -> list[str]:
    """The kinds of objects that can lie in a bin."""
    nouns = registry.all_nouns()
    return [noun.kind for noun in nouns if noun.open and noun.history and noun.history.is_binned]


def list_bin(
    project_id: int,
    *,
    kind: str | None = None,
    by: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """A page of what lies in the bin, the last deleted first. Raises InvalidInput."""
    rows = bin_of(project_id)
    if kind:
        rows = rows.filter(kind=clean_one_of(kind, kinds_in_bins(), "kind"))
    if by:
        rows = rows.filter(agent__folded=by.strip().casefold())
    return page_of(ordered(rows, ordering, ORDERS), COLUMNS, _rows, limit=limit, cursor=cursor)


def find_items(project_id: int, refs: Mapping[str, tuple[registry.Noun, str]]) -> dict[str, BinItem]:
    """The entries that refs mean, each with its noun and name; of several of one name the last deleted."""
    wanted = Q()
    for noun, name in refs.values():
        row_id = read_id(name)
        wanted |= Q(kind=noun.kind, **({"object_id": row_id} if row_id else {"folded": name.casefold()}))
        if row_id and has_names(noun):
            wanted |= Q(kind=noun.kind, folded=name.casefold())
    if not refs:
        return {}
    items = list(BinItem.objects.in_project(project_id).filter(wanted).order_by("-deleted_at", "-pk"))
    found = {ref: _meant(items, noun, name) for ref, (noun, name) in refs.items()}
    return {ref: item for ref, item in found.items() if item}


def has_names(noun: registry.Noun) -> bool:
    return bool(noun.ids_of or noun.is_named)


def along_in_words(item: BinItem) -> str:
    """`with 3 memories, 1 relationship`; "" if it was alone."""
    along = ", ".join(counted(count, plural) for plural, count in item.along.items())
    return f"with {along}" if along else ""


def _meant(items: Sequence[BinItem], noun: registry.Noun, name: str) -> BinItem | None:
    """The entry of this ref: the exact ref first, then the id, then the name whatever its case."""
    own = [item for item in items if item.kind == noun.kind]
    exact = [item for item in own if item.ref == f"{noun.kind}:{name}"]
    if exact or noun.kind == "decision":  # Keys that differ in case are different decisions.
        return exact[0] if exact else None
    by_id = [item for item in own if item.object_id == read_id(name)]
    by_name = [item for item in own if has_names(noun) and item.folded == name.casefold()]
    return next(iter([*by_id, *by_name]), None)


def _rows(items: Sequence[BinItem]) -> Sequence[Row]:
    return [
        [
            item.pk,
            item.ref,
            item.title,
            format_time(item.deleted_at),
            format_time(item.deleted_at + KEPT_FOR),
            item.agent.name if item.agent else NOBODY,
            item.along,
            str(BinState(item.state).label),
        ]
        for item in items
    ]
