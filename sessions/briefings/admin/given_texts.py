"""What agents were given, on pages: each thing with its text as it was, or as it is now."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctxhub.core import registry
from ctxhub.core.admin import refs
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.registry import Noun
from ctxhub.core.text.readable import as_lines
from sessions.briefings.models.briefing import BriefingItem

CHARACTERS = 4_000
# What is never changed has the text that was given.
UNCHANGING = ("message", "snapshot")
# Their documents and summaries lack the paths.
SHOWN_WITH_FIELDS = ("lease", "change")
NOW = "text as it is now"
NOT_KEPT = "text as it is now: the earlier one is no longer kept"
GONE = "deleted since"

Key = tuple[str, int]


@frozen
class Present:
    """What an object is now. `version` is blank for kinds without versions."""

    ref: str
    text: str
    version: str = ""


@frozen
class ShownItem:
    """A thing that was given. `note` is blank if `text` is what it said then.

    `changed_to`: its version now, if that is another one.
    """

    item: BriefingItem
    ref: str
    url: str
    text: str
    note: str
    changed_to: str

    @property
    def is_gone(self) -> bool:
        return self.note == GONE


def shown_items(project_id: int, items: Sequence[BriefingItem]) -> list[ShownItem]:
    """In a fixed number of queries for each kind among the items."""
    present = _read_present(project_id, items)
    past = _read_past(project_id, items)
    return [_shown(item, present.get((item.kind, item.object_id)), past) for item in items]


def _shown(item: BriefingItem, now: Present | None, past: Mapping[tuple[str, int, str], str]) -> ShownItem:
    then = past.get((item.kind, item.object_id, item.version))
    text = then if then is not None else now.text if now else ""
    is_older = bool(now and now.version and item.version and now.version != item.version)
    return ShownItem(
        item=item,
        ref=now.ref if now else f"{item.kind}:{item.object_id}",
        url=(refs.page_of_row(item.kind, item.object_id) or "") if now else "",
        text=text if len(text) < CHARACTERS else f"{text[:CHARACTERS]}…",
        note="" if then is not None else _note(item, now),
        changed_to=now.version if now and is_older else "",
    )


def _note(item: BriefingItem, now: Present | None) -> str:
    if now is None:
        return GONE
    if item.kind in UNCHANGING:
        return ""
    return NOT_KEPT if item.version else NOW


# -- Reading ---------------------------------------------------------------------------------------


def _read_past(project_id: int, items: Iterable[BriefingItem]) -> dict[tuple[str, int, str], str]:
    versions: dict[str, dict[tuple[int, str], None]] = {}
    for item in items:
        if item.version:
            versions.setdefault(item.kind, {})[item.object_id, item.version] = None
    return {
        (kind, *version): text
        for kind, some in versions.items()
        if (noun := registry.find_noun(kind)) and noun.texts_at
        for version, text in noun.texts_at(project_id, list(some), CHARACTERS).items()
    }


def _read_present(project_id: int, items: Iterable[BriefingItem]) -> dict[Key, Present]:
    ids: dict[str, dict[int, None]] = {}
    for item in items:
        ids.setdefault(item.kind, {})[item.object_id] = None
    return {
        (kind, object_id): found
        for kind, some in ids.items()
        if (noun := registry.find_noun(kind))
        for object_id, found in _read_kind(project_id, noun, list(some)).items()
    }


def _read_kind(project_id: int, noun: Noun, ids: Sequence[int]) -> Mapping[int, Present]:
    """What is in no index of the search, such as a session that was not saved, has its summary."""
    if noun.kind in SHOWN_WITH_FIELDS and noun.open:
        items = noun.open(project_id, [str(row_id) for row_id in ids], False)
        return {int(name): Present(f"{noun.kind}:{name}", _fields(item)) for name, item in items.items()}
    documents = noun.documents(project_id, ids).now() if noun.documents else ()
    found = {each.object_id: Present(each.ref, each.body or each.title, each.version) for each in documents}
    left = [row_id for row_id in ids if row_id not in found]
    heads = noun.heads(project_id, left) if noun.heads and left else {}
    return found | {row_id: Present(str(head.name), head.summary) for row_id, head in heads.items()}


def _fields(item: Mapping[str, Any]) -> str:
    return "\n".join(line for name, value in item.items() for line in as_lines(value, name))
