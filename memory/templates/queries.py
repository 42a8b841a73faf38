"""Reads templates; a project's own override built-in ones of the same name."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.kit.caller import for_readers
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.inputs import LIST_LENGTH, clean_limit, clean_name
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.ordering import IN_SEQUENCE, Ordering, Way, way_of
from ctxhub.toolbox.argument_types import one_of
from memory.templates import rows as templates_rows
from memory.templates.rules import BUILT_IN, OWN, TEMPLATES, Template

COLUMNS = ("name", "defaults", "require", "patterns", "origin")


class TemplateItem(TypedDict):
    name: str
    defaults: dict[str, Any]
    require: list[str]
    patterns: dict[str, str]
    origin: Annotated[str, one_of(OWN, BUILT_IN)]


def find_templates(project_id: int, names: Iterable[str]) -> dict[str, Template]:
    """Return the templates of these names, by case-folded name."""
    wanted = {name.casefold() for name in names}
    own = templates_rows.find_own_templates(project_id, sorted(wanted)) if wanted else []
    built_in = {name: template for name, template in TEMPLATES.items() if name in wanted}
    return {**built_in, **{row.name.casefold(): _template(row) for row in own}}


def get_template(project_id: int, name: str) -> Template:
    """Return a template. Raises NotFound, with the existing names."""
    name = clean_name(name, "name")
    if template := find_templates(project_id, [name]).get(name.casefold()):
        return template
    known = [template.name for _, template in _page(project_id, LIST_LENGTH, None)]
    message = f"There is no template {name!r}."
    raise for_readers(NotFound(message, did_you_mean=nearest(name, known), allowed=known), otherwise=message)


def list_templates(
    project_id: int, *, limit: int = 20, cursor: str | None = None, ordering: Ordering = None
) -> Listing:
    """List templates by name: rows name, defaults, require, patterns, origin (own or built-in)."""
    limit, way = clean_limit(limit), way_of(ordering, "name")
    after = str(way.read(cursor, str)[0]) if cursor else None
    found = _page(project_id, limit + 1, after, way)
    page = found[:limit]

    def cursor_after(count: int) -> str:
        return way.cursor(page[count - 1][0])

    return Listing(
        COLUMNS,
        [[item[column] for column in COLUMNS] for item in (template_item(t) for _, t in page)],
        next=cursor_after(limit) if len(found) > limit else None,
        cursor_after=cursor_after,
    )


def template_item(template: Template) -> dict[str, Any]:
    """Return a template as tools and REST show it."""
    return dict(
        TemplateItem(
            name=template.name,
            defaults=dict(template.defaults),
            require=list(template.require),
            patterns=dict(template.patterns),
            origin=template.origin,
        )
    )


def open_templates(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Return items by name: all fields if `full`, else only the required fields."""
    found = find_templates(project_id, names)
    items = {name: template_item(found[name.casefold()]) for name in names if name.casefold() in found}
    return items if full else {name: {"require": item["require"]} for name, item in items.items()}


def _template(row: templates_rows.TemplateRow) -> Template:
    return Template(row.name, row.defaults, row.require, row.patterns)


def _page(
    project_id: int, limit: int, after: str | None, way: Way = IN_SEQUENCE
) -> list[tuple[str, Template]]:
    rows = templates_rows.list_templates(project_id, list(TEMPLATES), limit, after, way)
    return [
        (folded, TEMPLATES[folded] if name is None else Template(name, *rest)) for folded, name, *rest in rows
    ]
