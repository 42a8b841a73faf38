"""From a ref (`decision:api/auth`) to the page of what it names. Each LoggedAdmin registers its kind."""

from collections.abc import Callable
from contextlib import suppress

from django.urls import NoReverseMatch, reverse

from ctxhub.core.registry import find_noun

# kind -> (project id, name) -> the address of the page, or None where there is no such thing any more.
pages: dict[str, Callable[[int, str], str | None]] = {}

# The lists that can be narrowed to what carries a word: `?tag=api`, `?layer=data`, as their filters say.
carriers: list[str] = []


def page_of(project_id: int, ref: str) -> str | None:
    kind, _, name = ref.partition(":")
    find = pages.get(kind)
    return find(project_id, name) if find else None


def page_of_row(kind: str, row_id: int) -> str | None:
    """The page of a row that is known to be there, without a query: the one for reading, if there is one."""
    if (noun := find_noun(kind)) is None:
        return None
    for page in ("read", "change"):
        with suppress(NoReverseMatch):
            return reverse(
                f"admin:{noun.model._meta.app_label}_{noun.model._meta.model_name}_{page}", args=[row_id]
            )
    return None
