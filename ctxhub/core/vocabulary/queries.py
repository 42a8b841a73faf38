"""Reads the vocabulary of a project: lists, uses, and the names of filters that do not exist."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count, IntegerField, Model, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from ctxhub.core.accounts.named_agents import find_known_names, means_everyone, names_meant
from ctxhub.core.events.log import VERBS, VERBS_OF_ACTION
from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import shown
from ctxhub.core.kit.inputs import separated
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.likeness import SHOWN_NAMES, nearest
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.models import Category, Layer, Scope, Tag
from ctxhub.core.text.braces import expand_braces, has_braces
from ctxhub.core.vocabulary.tag_filters import is_tag_glob, may_be_found, read_tag_filters


def with_uses(words: QuerySet[Any]) -> QuerySet[Any]:
    """The words, each with `uses`. One subquery for each relation: joins would multiply the counts."""
    counts = [_count_of(model, field) for model, field in _relations(words.model)]
    total: Any = sum(counts, Value(0, output_field=IntegerField()))
    counted: QuerySet[Any] = words.annotate(uses=total)
    return counted


def count_uses(word: NamedRow) -> int:
    return sum(
        model._base_manager.filter(**{field: word.pk}).count() for model, field in _relations(type(word))
    )


def _relations(model: type[Model]) -> list[tuple[type[Model], str]]:
    return [
        (relation.related_model, relation.field.name)
        for relation in model._meta.related_objects
        if relation.one_to_many and isinstance(relation.related_model, type)
    ]


def _count_of(model: type[Model], field: str) -> Coalesce:
    linked = model._base_manager.filter(**{field: OuterRef("pk")}).order_by().values(field)
    if _has_index_by_project(model, field):
        linked = linked.filter(project=OuterRef("project"))
    return Coalesce(Subquery(linked.annotate(count=Count("pk")).values("count")), 0)


def _has_index_by_project(model: type[Model], field: str) -> bool:
    """Whether an index begins with project and word: true for foreign keys, false for link tables."""
    return any(index.fields[:2] == ["project", field] for index in model._meta.indexes)


def words_of(words: type[Tag] | type[Scope] | type[Category], project_id: int) -> QuerySet[Any]:
    """Tags, scopes or categories with their `uses`, most used first."""
    return with_uses(words.objects.in_project(project_id)).order_by("-uses")


def layers_of(project_id: int) -> QuerySet[Any]:
    """Layers with their `uses`, in the project's order."""
    return with_uses(Layer.objects.in_project(project_id)).order_by("position")


def list_words(words: QuerySet[Any], *, limit: int = 20, cursor: str | None = None) -> Listing:
    """A page of words: rows name, uses."""
    return page_of(
        words,
        ("name", "uses"),
        lambda found: [[word.name, word.uses] for word in found],
        limit=limit,
        cursor=cursor,
    )


# The filters that take names, and the kind of each.
FILTERS = {
    "agents": "agent",
    "by": "agent",
    "category": "category",
    "of": "agent",
    "scope": "scope",
    "tags": "tag",
    "verbs": "verb",
}
# These take several names without commas; `agents` several that may have some; the others one.
LISTS = ("tags", "verbs")
# What a glob has besides the letters of a name, and what stands below a name.
_SIGNS = re.compile(r"/\*.*|[*?]|/+$")
# How many names are compared to find the nearest.
NAMES = 1_000

Named = tuple[str, str]
"""A kind, and a name of that kind in a filter."""


def unknown_names(project_id: int, filters: Mapping[str, Any]) -> dict[str, str]:
    """`{"hint"}` with the names in these filters that do not exist, and the nearest that do; else {}.

    For empty lists only: it makes one or two queries.
    """
    named = list(dict.fromkeys(_named(project_id, filters)))
    if not named or filters.get("cursor"):
        return {}
    known = _known(project_id, named)
    unknown = [one for one in named if one not in known]
    names = _names(project_id, sorted({kind for kind, _ in unknown} - {"verb"})) | {"verb": VERBS}
    hints = [_hint(kind, name, names[kind]) for kind, name in unknown]
    sentences = [hint for hint in hints if hint][:SHOWN_NAMES]
    return {"hint": " ".join(sentences)} if sentences else {}


def _named(project_id: int, filters: Mapping[str, Any]) -> Iterator[Named]:
    for filter_name, kind in FILTERS.items():
        value = filters.get(filter_name)
        listed = [value] if isinstance(value, str) else value or ()
        for name in _agents(project_id, listed) if filter_name == "agents" else listed:
            parts = separated(name, filter_name, are_globs=kind == "tag") if filter_name in LISTS else [name]
            for part in parts:
                if (stripped := part.strip()) and stripped != "*":
                    yield kind, stripped


def _agents(project_id: int, entries: Sequence[str]) -> list[str]:
    known = find_known_names(project_id, entries)
    return [name for name in names_meant(entries, known, "agents") if not means_everyone(name, known)]


def _known(project_id: int, named: Sequence[Named]) -> set[Named]:
    """The names that exist, ignoring case."""
    parts, values = [], []
    filters = read_tag_filters([name for kind, name in named if kind == "tag"], "tags")
    stored = [(kind, name) for kind, name in named if kind != "verb"]
    for kind in dict.fromkeys(kind for kind, _ in stored):
        folded = [name.casefold() for other, name in stored if other == kind]
        is_named = (f"folded IN ({sql.marks(folded)})", folded)
        where, bounds = may_be_found(filters) if kind == "tag" else is_named
        parts.append(f"SELECT '{kind}', folded FROM core_{kind} WHERE project_id = %s AND {where}")
        values += [project_id, *bounds]
    found = set(sql.rows(" UNION ALL ".join(parts), values)) if parts else set()
    tags = [folded for kind, folded in found if kind == "tag"]
    found |= {("tag", each.text.casefold()) for each in filters if any(map(each.finds, tags))}
    verbs = {*VERBS, *VERBS_OF_ACTION}
    return {
        (kind, name)
        for kind, name in named
        if (kind, name.casefold()) in found or (kind == "verb" and name.lower() in verbs)
    }


def _names(project_id: int, kinds: Sequence[str]) -> dict[str, Sequence[str]]:
    """The newest 1,000 names of each kind."""
    names: dict[str, Sequence[str]] = {}
    branches = [
        f"SELECT '{kind}', name FROM (SELECT name FROM core_{kind}"
        f" WHERE project_id = %s ORDER BY id DESC LIMIT %s) of_{kind}"
        for kind in kinds
    ]
    found = sql.rows(" UNION ALL ".join(branches), [project_id, NAMES] * len(branches)) if branches else []
    for kind in kinds:
        names[kind] = [name for other, name in found if other == kind]
    return names


def _hint(kind: str, name: str, names: Sequence[str]) -> str:
    """The hint for an unknown name. Empty for a glob that matches a name, or may match one not in `names`."""
    if kind == "scope" and "*" in name:
        matches = re.compile(".*".join(map(re.escape, name.casefold().split("*"))), re.DOTALL).fullmatch
        if len(names) == NAMES or any(matches(other.casefold()) for other in names):
            return ""
        return f"No scope matches {shown(name)}."
    if kind == "tag" and (is_tag_glob(name) or has_braces(name)):
        each = (nearest(_SIGNS.sub("", glob), names) for glob in expand_braces(name))
        similar = next(filter(None, each), None)
        return f"No tag matches {shown(name)}{f'; did you mean {shown(similar)}?' if similar else '.'}"
    similar = nearest(name, names)
    known = f" Verbs: {', '.join(VERBS)}." if kind == "verb" and not similar else ""
    return f"There is no {kind} {shown(name)}{f'; did you mean {shown(similar)}?' if similar else '.'}{known}"
