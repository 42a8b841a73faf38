"""From a ref (`decision:api/auth`) to the page of what it names. Each app registers its kinds."""

from collections.abc import Callable

# kind -> (project id, name) -> the address of the page, or None where there is no such thing any more.
pages: dict[str, Callable[[int, str], str | None]] = {}

# The lists that can be narrowed to what carries a word: `?tag=api`, `?layer=data`, as their filters say.
carriers: list[str] = []


def page_of(project_id: int, ref: str) -> str | None:
    kind, _, name = ref.partition(":")
    find = pages.get(kind)
    return find(project_id, name) if find else None
