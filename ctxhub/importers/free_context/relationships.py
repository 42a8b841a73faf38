"""Imports relationships whose memories are both imported."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.importers.free_context.reader import OldRelationship
from ctxhub.importers.shared.batching import batches
from ctxhub.importers.shared.imported import as_id
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.truncating import Notes, normalise_choice
from memory.models import Relation, Relationship
from memory.relationships.history import change_of, record_relationships

KIND = "memory"
STRENGTH = 50

EdgeKey = tuple[str, str, Relation]
"""Old id of the source, old id of the target, relation."""


@frozen
class NewRelationship:
    source: str
    target: str
    relation: Relation
    strength: int
    created_at: datetime
    updated_at: datetime
    notes: Notes = field(default_factory=list)

    @property
    def key(self) -> EdgeKey:
        return self.source, self.target, self.relation


def clean_relationships(
    old_relationships: Iterable[OldRelationship],
    memories: Mapping[str, object],
    normaliser: Normaliser,
    at: datetime,
) -> list[NewRelationship]:
    """Validated relationships without duplicates. `at` replaces an unknown time."""
    new: dict[EdgeKey, NewRelationship] = {}
    for old in old_relationships:
        try:
            relationship = _cleaned(old, memories, at)
            if relationship.key in new:
                raise InvalidInput("it is there twice.")
            new[relationship.key] = relationship
        except InvalidInput as error:
            normaliser.leave("relationships", f"{old.source} to {old.target}", error)
    return list(new.values())


def _cleaned(old: OldRelationship, memories: Mapping[str, object], at: datetime) -> NewRelationship:
    source, target = as_id(old.source), as_id(old.target)
    if source not in memories or target not in memories:
        raise InvalidInput("one of its memories is not there, or is left.")
    if source == target:
        raise InvalidInput("it leads to where it begins.")
    notes: Notes = []
    relation = normalise_choice(old.type, Relation, "type", notes, otherwise=Relation.RELATED)
    if old.metadata not in (None, "", {}, []):
        notes.append("its metadata have no place here")
    return NewRelationship(
        source=source,
        target=target,
        relation=relation or Relation.RELATED,
        strength=_strength(old.strength, notes),
        created_at=old.created_at or old.updated_at or at,
        updated_at=old.updated_at or old.created_at or at,
        notes=notes,
    )


def _strength(value: Any, notes: Notes) -> int:
    """The strength, limited to 0..100; the default 50 if unknown."""
    if value is None:
        return STRENGTH
    try:
        strength = round(float(value))
    except (TypeError, ValueError, OverflowError):
        notes.append(f"its strength is no number: {STRENGTH} instead")
        return STRENGTH
    if not 0 <= strength <= 100:
        notes.append("its strength was not between 0 and 100")
    return min(max(strength, 0), 100)


def choose_relationships(
    project_id: int, cleaned: Sequence[NewRelationship], existing: Mapping[str, int], report: Report
) -> list[NewRelationship]:
    """Relationships not stored yet. Only memories stored before can have stored relationships."""
    stored = _stored(project_id, sorted(set(existing.values())))
    chosen = []
    for new in cleaned:
        if (existing.get(new.source), existing.get(new.target), new.relation) in stored:
            report.found("relationships")
            continue
        chosen.append(new)
        report.took("relationships")
        for note in new.notes:
            report.changed("relationships", f"{new.source} to {new.target}", note)
    return chosen


def _stored(project_id: int, memory_ids: Sequence[int]) -> set[tuple[int | None, int | None, int]]:
    found: set[tuple[int | None, int | None, int]] = set()
    for ids in batches(memory_ids):
        edges = Relationship.objects.in_project(project_id).filter(
            source_kind=KIND, source_id__in=ids, target_kind=KIND
        )
        found.update(edges.values_list("source_id", "target_id", "relation"))
    return found


def write_relationships(
    project_id: int, chosen: Sequence[NewRelationship], ids: Mapping[str, int], at: datetime
) -> None:
    for batch in batches(chosen):
        stored = Relationship.unscoped.bulk_create(_as_model(project_id, new, ids) for new in batch)
        changes = [
            change_of("created", edge.pk, edge.source, edge.target, edge.relation, edge.strength)
            for edge in stored
        ]
        record_relationships(project_id=project_id, agent_id=None, changes=changes, at=at)


def _as_model(project_id: int, new: NewRelationship, ids: Mapping[str, int]) -> Relationship:
    return Relationship(
        project_id=project_id,
        source_kind=KIND,
        source_id=ids[new.source],
        target_kind=KIND,
        target_id=ids[new.target],
        relation=new.relation,
        strength=new.strength,
        created_at=new.created_at,
        updated_at=new.updated_at,
    )
