"""Creates, changes and deletes relationships."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.refs import RefObject
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import WRITE, Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_choice, clean_from_to, clean_limit
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.links import ObjectKey
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.argument_types import About, RowsOf
from memory.memories.rows import LISTED, MEMORIES
from memory.memories.similar import KIND, clean_threshold
from memory.relationships.history import change_of, record_relationships
from memory.relationships.models import Relation
from memory.relationships.queries import (
    MAX_DEPTH,
    RelatedObject,
    Relationship,
    SuggestedRelationship,
    Suggestion,
    edge_listing,
    find_neighbourhood,
    get_ends,
    name_of,
    node_listing,
    suggest_relationships,
    suggestion_listing,
)
from memory.relationships.rows import (
    Edge,
    delete_edges,
    insert_edges,
    read_edges_from,
    read_related,
    write_strength,
)

# The strength of what somebody said to be the cause.
CERTAIN = 100


class RelateAnswer(Relationship):
    result: Literal["created", "updated", "unchanged"]


class UnrelateAnswer(TypedDict):
    deleted: int


class Around(TypedDict):
    """What is around an object, and which memories may belong there."""

    nodes: Annotated[Listing, RowsOf(RelatedObject), About("The nearest first, itself before them.")]
    edges: Annotated[Listing, RowsOf(Relationship)]
    suggested: Annotated[
        Listing, RowsOf(SuggestedRelationship), About("Memories that may belong there, best first.")
    ]
    created: Annotated[int, About("How many of these are relationships now.")]
    more: NotRequired[Annotated[bool, About("There is more around it than is shown.")]]


# -- Services --------------------------------------------------------------------------------------


def relate(
    *,
    caller: Caller,
    source: int | str,
    target: int | str,
    relation: str | int = Relation.RELATED,
    strength: int = 50,
) -> RelateAnswer:
    """Relate one object to another; an existing relationship gets the new strength.

    Raises NotFound for an unknown object, InvalidInput if both are the same.
    """
    chosen = clean_choice(relation, Relation, "relation")
    strength = clean_from_to(strength, "strength", 0, 100)
    with write_transaction(caller.project_id):
        one, other = get_ends(caller.project_id, source, target)
        if one.place == other.place:
            raise InvalidInput(f"{one.ref} cannot be related to itself.")
        existing = read_edges_from(caller.project_id, one.place, other.place)
        same = next((edge for edge in existing if edge.relation == chosen), None)
        result = _write(caller, one, other, Edge(one.place, other.place, chosen, strength), same)
    return {
        "source": name_of(one),
        "target": name_of(other),
        "relation": str(chosen.label),
        "strength": strength,
        "result": result,
    }


def unrelate(
    *, caller: Caller, source: int | str, target: int | str, relation: str | int | None = None
) -> UnrelateAnswer:
    """Delete the relationships in this direction: those of one relation, or all."""
    chosen = clean_choice(relation, Relation, "relation") if relation else None
    with write_transaction(caller.project_id):
        one, other = get_ends(caller.project_id, source, target)
        existing = read_edges_from(caller.project_id, one.place, other.place)
        deleted = [edge for edge in existing if chosen in (None, edge.relation)]
        if deleted:
            at = clock.now()
            delete_edges([edge.id for edge in deleted])
            changes = [
                change_of("deleted", edge.id, one.ref, other.ref, edge.relation, edge.strength)
                for edge in deleted
            ]
            record_relationships(
                project_id=caller.project_id, agent_id=register_agent(caller, at), changes=changes, at=at
            )
    return {"deleted": len(deleted)}


def find_relationships(
    *,
    caller: Caller,
    memory_id: int | str,
    threshold: float = 0.3,
    limit: int = 10,
    create: bool = False,
    depth: int = 1,
) -> Around:
    """The objects up to `depth` relationships away from one, and memories that may be related to it.

    `create` stores the suggestions, which needs the write scope.
    """
    threshold, limit = clean_threshold(threshold), clean_limit(limit)
    depth = clean_from_to(depth, "depth", 1, MAX_DEPTH)
    if create:
        caller.require(WRITE, "relationships with create")
    [centre] = get_ends(caller.project_id, memory_id)
    found = suggest_relationships(caller.project_id, centre, threshold=threshold, limit=limit)
    created = _store(caller, centre, found) if create and found else 0
    neighbourhood = find_neighbourhood(caller.project_id, centre.place, depth)
    return {
        "nodes": node_listing(neighbourhood),
        "edges": edge_listing(neighbourhood),
        "suggested": suggestion_listing(found),
        "created": created,
        **({"more": True} if neighbourhood.is_cut else {}),  # type: ignore[typeddict-item]
    }


def link_cause(
    *,
    project_id: int,
    agent_id: int | None,
    effect: ObjectKey,
    cause: ObjectKey,
    refs: tuple[str, str],
    at: datetime,
) -> None:
    """Store that a new object depends on another, its cause, in the open transaction."""
    edge = Edge(effect, cause, Relation.DEPENDS_ON, CERTAIN)
    [row_id] = insert_edges(project_id, [edge], agent_id, at)
    change = change_of("created", row_id, *refs, edge.relation, edge.strength)
    record_relationships(project_id=project_id, agent_id=agent_id, changes=[change], at=at)


# -- Pieces ----------------------------------------------------------------------------------------


def _write(
    caller: Caller, one: RefObject, other: RefObject, edge: Edge, same: Edge | None
) -> Literal["created", "updated", "unchanged"]:
    if same and (same.strength, same.is_found) == (edge.strength, False):
        return "unchanged"
    at = clock.now()
    agent_id = register_agent(caller, at)
    if same:
        row_id = same.id
        write_strength(same, edge.strength, agent_id, at)
    else:
        [row_id] = insert_edges(caller.project_id, [edge], agent_id, at)
    result: Literal["created", "updated"] = "updated" if same else "created"
    change = change_of(result, row_id, one.ref, other.ref, edge.relation, edge.strength)
    record_relationships(project_id=caller.project_id, agent_id=agent_id, changes=[change], at=at)
    return result


def _store(caller: Caller, centre: RefObject, found: Sequence[Suggestion]) -> int:
    """Store the suggestions that are still new and return how many: others may have written meanwhile."""
    with write_transaction(caller.project_id):
        get_ends(caller.project_id, centre.ref)
        ids = [one.target for one in found]
        existing = MEMORIES.read(caller.project_id, ids, LISTED)
        related = read_related(caller.project_id, centre.place, KIND, ids)
        edges = [
            Edge(centre.place, (KIND, one.target), one.relation, one.strength, is_found=True)
            for one in found
            if one.target in existing and one.target not in related
        ]
        if edges:
            at = clock.now()
            agent_id = register_agent(caller, at)
            row_ids = insert_edges(caller.project_id, edges, agent_id, at)
            changes = [
                change_of("created", row_id, centre.ref, f"{KIND}:{e.target[1]}", e.relation, e.strength)
                for row_id, e in zip(row_ids, edges, strict=True)
            ]
            record_relationships(project_id=caller.project_id, agent_id=agent_id, changes=changes, at=at)
    return len(edges)
