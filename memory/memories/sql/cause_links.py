"""Reads relationships as links from causes to effects."""

from collections.abc import Sequence

from ctxhub.core.kit import sql
from ctxhub.core.links import Asked, Holder, Link, LinkSource, ObjectKey, Words
from memory.memories.models.relationship import RELATION_WORDS, Relation
from memory.memories.rows.relationships import by_kind

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


def read_direct_links(asked: Asked) -> list[Link]:
    """The relationships that lead to causes or to effects, and those beside them."""
    return _read(asked, (*TARGET_IS_CAUSE, *TARGET_IS_BESIDE), (*SOURCE_IS_CAUSE, *SOURCE_IS_BESIDE))


def _read(asked: Asked, target_first: Sequence[Relation], source_first: Sequence[Relation]) -> list[Link]:
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
    found = sql.rows(
        f"{' UNION ALL '.join(branches)} ORDER BY 1, 2, 3, 4, 5 LIMIT %s", [*values, asked.at_most]
    )
    return [
        _link((kind, row_id), (other_kind, other), Relation(relation))
        for kind, row_id, other_kind, other, relation in found
    ]


def _link(here: ObjectKey, there: ObjectKey, relation: Relation) -> Link:
    return Link(here, there, str(relation.label), holder=HOLDERS.get(relation, Holder.EFFECT))


LINKS = LinkSource(read_links, read_beside=read_links_beside, read_direct=read_direct_links, words=WORDS)
