"""The causes and effects on the page of a snapshot: a graph to walk, and lists."""

from collections.abc import Iterator, Sequence

from django.http import Http404
from django.urls import reverse

from ctxhub.console.graphs.layout import CLOSE, Drawing, tall, wide
from ctxhub.console.graphs.trees import Branch, Graph, GraphLink, Node, Tie
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.frozen import frozen
from memory.snapshots.causes import CAUSED_BY
from memory.snapshots.graph import Nearby, Surroundings, Twig, read_surroundings
from memory.snapshots.models import Snapshot

# Every link to a snapshot leads to this section of its page.
SECTION = "causes"
LED_TO, NEEDED_BY = "led_to", "needed_by"


@frozen
class Causes:
    """`left_out`: how many direct causes and effects are not drawn; `dependent_count`: all direct effects."""

    drawings: Sequence[Drawing]
    left_out: int
    cause: Node | None
    dependencies: Sequence[Node]
    dependents: Sequence[Node]
    dependent_count: int

    @property
    def has_more(self) -> bool:
        """Whether a box has causes or effects that are not drawn."""
        return any(box.more for drawing in self.drawings for box in drawing.boxes)

    @property
    def more_dependents(self) -> int:
        return self.dependent_count - len(self.dependents)


def causes_of(row: Snapshot) -> Causes:
    """What a snapshot rests on and what rests on it. Raises Http404 if it is deleted by now."""
    try:
        around = read_surroundings(row.project_id, row.pk)
    except NotFound as error:
        raise Http404 from error
    nodes = {row_id: _node(near) for row_id, near in around.nearby.items()}
    return Causes(
        drawings=_drawings(row.pk, around),
        left_out=around.left_out,
        cause=nodes[around.cause] if around.cause else None,
        dependencies=[nodes[one] for one in around.dependencies],
        dependents=[nodes[one] for one in around.dependents],
        dependent_count=around.dependent_count,
    )


def page_of_snapshot(row_id: int) -> str:
    return f"{reverse('admin:memory_snapshot_read', args=[row_id])}#{SECTION}"


def _drawings(centre: int, around: Surroundings) -> list[Drawing]:
    causes = list(_branches(centre, around.causes, around, is_cause=True))
    effects = list(_branches(centre, around.effects, around, is_cause=False))
    if not causes and not effects:
        return []
    crossing = [_tie(cause, effect, kind) for effect, cause, kind in around.crossing]
    graph = Graph(_node(around.nearby[centre]), [*causes, *effects], crossing)
    return [wide(graph, causes, effects, CLOSE), tall(graph)]


def _branches(
    parent: int, twigs: Sequence[Twig], around: Surroundings, *, is_cause: bool
) -> Iterator[Branch]:
    for twig in twigs:
        near = around.nearby[twig.id]
        ends = (twig.id, parent) if is_cause else (parent, twig.id)
        children = list(_branches(twig.id, twig.children, around, is_cause=is_cause))
        yield Branch(_node(near), _tie(*ends, twig.link), children, near.more)


def _tie(cause: int, effect: int, kind: str) -> Tie:
    """A line from the cause to the effect, in the order of time."""
    return Tie([GraphLink(_ref(cause), _ref(effect), LED_TO if kind == CAUSED_BY else NEEDED_BY)])


def _node(near: Nearby) -> Node:
    kind = near.action.replace("_", " ")
    return Node(_ref(near.id), " ".join(near.summary.split()), kind, "", page_of_snapshot(near.id))


def _ref(row_id: int) -> str:
    return f"snapshot:{row_id}"
