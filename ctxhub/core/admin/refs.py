"""Resolves a ref (`decision:api/auth`) to the URL of its admin page. Each LoggedAdmin registers its kind."""

from collections.abc import Callable
from contextlib import suppress

from django.urls import NoReverseMatch, reverse

from ctxhub.core.registry import find_noun

# kind -> (project id, name) -> the URL of the page, or None if the row no longer exists.
pages: dict[str, Callable[[int, str], str | None]] = {}

# URL names of the lists that have filters by vocabulary: `?tag=api`, `?layer=data`.
vocabulary_lists: list[str] = []


def page_of(project_id: int, ref: str) -> str | None:
    kind, _, name = ref.partition(":")
    find = pages.get(kind)
    return find(project_id, name) if find else None


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
