"""The relationship actions of the tool `memory`."""

from typing import Annotated

from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.limits import REF
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import AT_MOST_A_PAGE, About, Number, Ref, Says, Share, Word
from memory.memories import tools  # noqa: F401  # Declares the tool.
from memory.relationships import services
from memory.relationships.models import Relation
from memory.relationships.queries import MAX_DEPTH

RelationWord = Annotated[Word, Says("related|includes|references|depends_on|blocks", in_description=False)]
UP_TO_A_HUNDRED = {"minimum": 0, "maximum": 100}
Strength = Annotated[Number, About("Left out: 50.", UP_TO_A_HUNDRED)]
AnyRelation = Annotated[
    Word, About("Left out: all that was said in this direction.", {"enum": list(Relation.labels)})
]
InCommon = Annotated[Share, About("How much a suggested memory has in common at least; left out: 0.3.")]
Suggested = Annotated[Number, About("How many memories are suggested; left out: 10.", AT_MOST_A_PAGE)]
UP_TO_THE_DEEPEST = {"minimum": 1, "maximum": MAX_DEPTH}
Depth = Annotated[Number, About("How many relationships away; left out: 1.", UP_TO_THE_DEEPEST)]


@action(
    "memory",
    "relate",
    writes=True,
    idempotent=True,
    example={"source": 4, "target": "decision:api/auth/method", "relation": "depends_on", "strength": 80},
    also_known_as=("create_relationship", "link"),
)
def relate(
    caller: Caller,
    source: Ref,
    target: Annotated[Ref, About("A memory's id, or the ref of anything: decision:api/auth/method.", REF)],
    relation: Annotated[RelationWord, About("Left out: related.")] = "related",
    strength: Strength = 50,
) -> services.RelateAnswer:
    """Say what one thing is to another: memories by their ids, anything by its ref.

    `strength`: 0 to 100; the same relation said again has the new one.
    """
    return services.relate(caller=caller, source=source, target=target, relation=relation, strength=strength)


@action(
    "memory",
    "unrelate",
    quiet=True,
    writes=True,
    idempotent=True,
    example={"source": 4, "target": "decision:api/auth/method"},
    also_known_as=("delete_relationship", "unlink"),
)
def unrelate(
    caller: Caller,
    source: Ref,
    target: Annotated[Ref, About("A memory's id, or the ref of anything.", REF)],
    relation: AnyRelation | None = None,
) -> services.UnrelateAnswer:
    """Take back what was said in this direction; without relation, all of it. `relate` says it again."""
    return services.unrelate(caller=caller, source=source, target=target, relation=relation)


@action(
    "memory",
    "relationships",
    writes=True,
    scope=READ,
    idempotent=True,
    example={"id": 4, "depth": 2},
    also_known_as=("find_relationships", "get_relationships", "relationship_graph"),
)
def relationships(
    caller: Caller,
    id: Ref,
    threshold: InCommon = 0.3,
    limit: Suggested = 10,
    create: bool = False,
    depth: Depth = 1,
) -> services.Around:
    """What is around a memory, or around anything by its ref, and which memories may belong there.

    `nodes` and `edges`: what is up to `depth` (1 to 5) relationships away. `suggested`: at most `limit`
    memories with words in common, 0.3 of the titles and 0.7 of the contents, from `threshold` (0 to 1) on,
    best first; `create` makes relationships of them, which needs the right to write.
    """
    return services.find_relationships(
        caller=caller, memory_id=id, threshold=threshold, limit=limit, create=create, depth=depth
    )
