"""Reads relationships as links from causes to effects."""

from collections.abc import Sequence
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.links import Asked, Directions, Holder, Link, LinkSource, ObjectKey, Words
from memory.relationships.models import RELATION_WORDS, Relation
from memory.relationships.rows import by_kind

SOURCE, TARGET = "source", "target"
# What depends on something, references it or includes it, comes after it; what blocks something, before.
TARGET_IS_CAUSE = (Relation.DEPENDS_ON, Relation.REFERENCES)
SOURCE_IS_CAUSE = (Relation.BLOCKS,)
# Shown, not walked. Related things stand beside one another in either direction.
TARGET_IS_BESIDE = (Relation.INCLUDES, Relation.RELATED)
SOURCE_IS_BESIDE = (Relation.RELATED,)

# Sources hold relationships.
HOLDERS = {Relation.BLOCKS: Holder.CAUSE, Relation.RELATED: Holder.BOTH}
WORDS = {str(relation.label): Words(*words) for relation, words in RELATION_WORDS.items()}


def read_links(asked: Asked) -> list[Link]:
    """The relationships that lead to causes, or to effects."""
    return _read(asked, TARGET_IS_CAUSE, SOURCE_IS_CAUSE)


def read_links_beside(asked: Asked) -> list[Link]:
    """What the objects include, or what includes them; and what is related to them."""
    return _read(asked, TARGET_IS_BESIDE, SOURCE_IS_BESIDE)


def read_direct_links(project_id: int, key: ObjectKey, at_most: int) -> Directions:
    """The relationships that lead to causes and to effects, and those beside them, with one statement."""
    target_first, source_first = (*TARGET_IS_CAUSE, *TARGET_IS_BESIDE), (*SOURCE_IS_CAUSE, *SOURCE_IS_BESIDE)
    to_causes, values = _statement(Asked(project_id, [key], True, at_most), target_first, source_first)
    to_effects, more = _statement(Asked(project_id, [key], False, at_most), target_first, source_first)
    found = sql.rows(
        f"SELECT 1, c.* FROM ({to_causes}) c UNION ALL SELECT 0, e.* FROM ({to_effects}) e"
        " ORDER BY 1, 2, 3, 4, 5, 6",
        [*values, *more],
    )
    causes, effects = ([_link(*row) for way, *row in found if way == wanted] for wanted in (1, 0))
    return Directions(causes, effects)


def _read(asked: Asked, target_first: Sequence[Relation], source_first: Sequence[Relation]) -> list[Link]:
    return [_link(*row) for row in sql.rows(*_statement(asked, target_first, source_first))]


def _statement(
    asked: Asked, target_first: Sequence[Relation], source_first: Sequence[Relation]
) -> tuple[str, list[Any]]:
    """`target_first`: the relations whose target is the cause; `source_first`: whose source is."""
    from_source, from_target = (target_first, source_first)[:: 1 if asked.to_causes else -1]
    branches, values = [], []
    for own, other, relations in ((SOURCE, TARGET, from_source), (TARGET, SOURCE, from_target)):
        for kind, ids in by_kind(asked.keys).items():
            among, arguments = sql.among(f"{own}_id", ids)
            branches.append(
                f"SELECT {own}_kind, {own}_id, {other}_kind, {other}_id, relation FROM memory_relationship"
                f" WHERE project_id = %s AND {own}_kind = %s AND {among}"
                f" AND relation IN ({sql.marks(relations)})"
            )
            values += [asked.project_id, kind, *arguments, *(relation.value for relation in relations)]
    text = f"{' UNION ALL '.join(branches)} ORDER BY 1, 2, 3, 4, 5 LIMIT %s"
    return text, [*values, asked.at_most]


def _link(kind: str, row_id: int, other_kind: str, other_id: int, value: int) -> Link:
    relation = Relation(value)
    ends = (kind, row_id), (other_kind, other_id)
    return Link(*ends, str(relation.label), holder=HOLDERS.get(relation, Holder.EFFECT))


LINKS = LinkSource(read_links, read_beside=read_links_beside, read_direct=read_direct_links, words=WORDS)
