"""The registry of named views: ready-made lists of a project for common questions."""

from collections.abc import Callable, Mapping
from typing import Protocol

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import Listing


class Selector(Protocol):
    """Returns one page of a view: `limit` 1..200, `cursor` from the page before."""

    def __call__(self, project_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing: ...


@frozen
class NamedView:
    """A named view. `says` is its description in the admin; `has_authors`: `agent` is who wrote a row."""

    name: str
    says: str
    select: Selector
    has_authors: bool = True


_views: dict[str, NamedView] = {}


def register_view(name: str, says: str, *, has_authors: bool = True) -> Callable[[Selector], Selector]:
    def register(select: Selector) -> Selector:
        _views[name] = NamedView(name, says, select, has_authors)
        return select

    return register


def all_views() -> Mapping[str, NamedView]:
    return _views
