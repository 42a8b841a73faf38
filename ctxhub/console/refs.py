"""Resolves a ref (`decision:api/auth`) to the URL of its admin page. Each LoggedAdmin registers its kind."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from django.urls import NoReverseMatch, reverse

from ctxhub.core.kit.inputs import read_id
from ctxhub.core.registry import find_noun

# kind -> (project id, name) -> the URL of the page, or None if the row no longer exists.
pages: dict[str, Callable[[int, str], str | None]] = {}


def page_of(project_id: int, ref: str) -> str | None:
    kind, _, name = ref.partition(":")
    find = pages.get(kind)
    return find(project_id, name) if find else None


def pages_of(project_id: int, refs: Iterable[str]) -> dict[str, str]:
    """The URLs of the pages of existing rows, by ref, with at most one query for each kind."""
    names: dict[str, list[str]] = {}
    for ref in dict.fromkeys(refs):
        kind, _, name = ref.partition(":")
        names.setdefault(kind, []).append(name)
    return {
        f"{kind}:{name}": url
        for kind, named in names.items()
        for name, row_id in _ids_of(project_id, kind, named).items()
        if (url := page_of_row(kind, row_id))
    }


def _ids_of(project_id: int, kind: str, names: Sequence[str]) -> Mapping[str, int]:
    if (noun := find_noun(kind)) and noun.ids_of:
        return noun.ids_of(project_id, names)
    return {name: row_id for name in names if (row_id := read_id(name))}


def page_of_row(kind: str, row_id: int) -> str | None:
    """The URL of an existing row's page, without a query: the read page, or else the change page."""
    if (noun := find_noun(kind)) is None:
        return None
    for page in ("read", "change"):
        with suppress(NoReverseMatch):
            return reverse(
                f"admin:{noun.model._meta.app_label}_{noun.model._meta.model_name}_{page}", args=[row_id]
            )
    return None
