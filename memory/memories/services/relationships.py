"""Relationships are made, changed and taken away here, and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.selectors.refs import RefObject
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import WRITE, Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_choice, clean_from_to, clean_limit
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.vocabulary.services.names import register_agent
from memory.memories.history.relationships import change_of, record_relationships
from memory.memories.models.relationship import Relation
from memory.memories.rows.memories import LISTED, MEMORIES
from memory.memories.rows.relationships import (
    Edge,
    delete_edges,
    insert_edges,
    read_edges_from,
    read_related,
    write_strength,
)
from memory.memories.selectors.relationships import (
    MAX_DEPTH,
    Suggestion,
    Walk,
    get_ends,
    name_of,
    suggest_relationships,
    walk,
)
from memory.memories.selectors.similar import clean_threshold
from memory.memories.sql.texts import KIND


class RelateAnswer(TypedDict):
    source: int | str
    target: int | str
    relation: str
    strength: int
    result: Literal["created", "updated", "unchanged"]


class UnrelateAnswer(TypedDict):
    deleted: int


@dataclass(frozen=True, slots=True)
class Found:
    """What is around a thing, what may belong there, and how many of these are relationships now."""

    walk: Walk
    suggested: Sequence[Suggestion]
    created: int


# -- Services --------------------------------------------------------------------------------------


def relate(
    *,
    caller: Caller,
    source: int | str,
    target: int | str,
    relation: str | int = Relation.RELATED,
    strength: int = 50,
) -> RelateAnswer:
    """Say what one thing is to another; said again, it has the strength that is said now.

    Raises NotFound for an unknown end, InvalidInput where both are the same.
    """
    wanted = clean_choice(relation, Relation, "relation")
    strength = clean_from_to(strength, "strength", 0, 100)
    with write_transaction(caller.project_id):
        one, other = get_ends(caller.project_id, source, target)
        if one.place == other.place:
            raise InvalidInput(f"{one.ref} cannot be related to itself.")
        said = read_edges_from(caller.project_id, one.place, other.place)
        same = next((edge for edge in said if edge.relation == wanted), None)
        result = _write(caller, one, other, Edge(one.place, other.place, wanted, strength), same)
    return {
        "source": name_of(one),
        "target": name_of(other),
        "relation": str(wanted.label),
        "strength": strength,
        "result": result,
    }


def unrelate(
    *, caller: Caller, source: int | str, target: int | str, relation: str | int | None = None
) -> UnrelateAnswer:
    """Take back what was said in this direction: of one relation, or of all."""
    wanted = clean_choice(relation, Relation, "relation") if relation else None
    with write_transaction(caller.project_id):
        one, other = get_ends(caller.project_id, source, target)
        said = read_edges_from(caller.project_id, one.place, other.place)
        gone = [edge for edge in said if wanted in (None, edge.relation)]
        if gone:
            at = clock.now()
            delete_edges([edge.id for edge in gone])
            changes = [
                change_of("deleted", edge.id, one.ref, other.ref, edge.relation, edge.strength)
                for edge in gone
            ]
            record_relationships(
                project_id=caller.project_id, agent_id=register_agent(caller, at), changes=changes, at=at
            )
    return {"deleted": len(gone)}


def find_relationships(
    *,
    caller: Caller,
    memory_id: int | str,
    threshold: float = 0.3,
    limit: int = 10,
    create: bool = False,
    depth: int = 1,
) -> Found:
    """What is up to `depth` relationships away from a thing, and which memories may belong there.

    `create` stores what is suggested, which needs the right to write.
    """
    threshold, limit = clean_threshold(threshold), clean_limit(limit)
    depth = clean_from_to(depth, "depth", 1, MAX_DEPTH)
    if create:
        caller.require(WRITE, "relationships with create")
    [thing] = get_ends(caller.project_id, memory_id)
    found = suggest_relationships(caller.project_id, thing, threshold=threshold, limit=limit)
    created = _store(caller, thing, found) if create and found else 0
    return Found(walk(caller.project_id, thing.place, depth), found, created)


# -- Pieces ----------------------------------------------------------------------------------------


def _write(
    caller: Caller, one: RefObject, other: RefObject, wanted: Edge, same: Edge | None
) -> Literal["created", "updated", "unchanged"]:
    if same and (same.strength, same.is_found) == (wanted.strength, False):
        return "unchanged"
    at = clock.now()
    agent_id = register_agent(caller, at)
    if same:
        row_id = same.id
        write_strength(same, wanted.strength, agent_id, at)
    else:
        [row_id] = insert_edges(caller.project_id, [wanted], agent_id, at)
    result: Literal["created", "updated"] = "updated" if same else "created"
    change = change_of(result, row_id, one.ref, other.ref, wanted.relation, wanted.strength)
    record_relationships(project_id=caller.project_id, agent_id=agent_id, changes=[change], at=at)
    return result


def _store(caller: Caller, thing: RefObject, found: Sequence[Suggestion]) -> int:
    """How many are new: others write, too, while likenesses are counted."""
    with write_transaction(caller.project_id):
        get_ends(caller.project_id, thing.ref)
        ids = [one.target for one in found]
        there = MEMORIES.read(caller.project_id, ids, LISTED)
        related = read_related(caller.project_id, thing.place, KIND, ids)
        edges = [
            Edge(thing.place, (KIND, one.target), one.relation, one.strength, is_found=True)
            for one in found
            if one.target in there and one.target not in related
        ]
        if edges:
            at = clock.now()
            agent_id = register_agent(caller, at)
            row_ids = insert_edges(caller.project_id, edges, agent_id, at)
            changes = [
                change_of("created", row_id, thing.ref, f"{KIND}:{e.target[1]}", e.relation, e.strength)
                for row_id, e in zip(row_ids, edges, strict=True)
            ]
            record_relationships(project_id=caller.project_id, agent_id=agent_id, changes=changes, at=at)
    return len(edges)
