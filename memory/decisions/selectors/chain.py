"""The predecessors and successors of a decision, step by step."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from ctxhub.core.kit.frozen import frozen
from memory.decisions.sql.chain import ChainLink, read_chain

SHOWN = 50


@frozen
class Chain:
    """`earlier`, `later`: each step with its decisions, the oldest first; several may share a successor."""

    earlier: Sequence[Sequence[ChainLink]]
    later: Sequence[Sequence[ChainLink]]
    has_more: bool


def chain_of(project_id: int, decision_id: int) -> Chain | None:
    """None for a decision that neither superseded another nor was superseded. Runs one query."""
    found = read_chain(project_id, decision_id, SHOWN + 1)
    shown = sorted(found, key=lambda link: abs(link.distance))[:SHOWN]
    ordered = sorted(shown, key=attrgetter("distance", "key"))
    steps = [list(links) for _, links in groupby(ordered, key=attrgetter("distance"))]
    earlier = [step for step in steps if step[0].distance < 0]
    return Chain(earlier, steps[len(earlier) :], len(found) > SHOWN) if found else None
