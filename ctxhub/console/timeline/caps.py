"""What a timeline does not draw, in sentences: nothing is left out without being said."""

from collections.abc import Iterator

from ctxhub.console.timeline.lanes import Lanes
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.plurals import counted


@frozen
class Part:
    """Of how many a drawing has which part. `read`: the newest, which were read for it."""

    total: int
    read: int


def left_out(lanes: Lanes, *, agents: int, messages: Part, leases: Part, refusals: Part) -> Iterator[str]:
    """`refusals.read`: those of agents that are registered."""
    if len(lanes.lanes) < agents:
        yield f"The {len(lanes.lanes)} busiest of {agents:,} agents have a lane; the table lists all."
    if len(lanes.curves) < messages.total:
        newest = f"of the newest {messages.read:,} " if messages.read < messages.total else ""
        drawn, sent = f"{len(lanes.curves):,}", counted(messages.total, "messages")
        yield f"{drawn} of {sent} drawn: {newest}those from a lane to everyone or to another lane."
    yield from _left_out("leases", leases, len(lanes.stripes))
    yield from _left_out("refusals", refusals, sum(cross.mark.count for cross in lanes.crosses))


def _left_out(plural: str, part: Part, drawn: int) -> Iterator[str]:
    all_of_them = counted(part.total, plural)
    if part.read < part.total:
        yield f"{part.read:,} of {all_of_them} counted in the table: the newest, of registered agents."
    if drawn < part.read:
        yield f"{drawn:,} of {all_of_them} drawn: those of agents with a lane."
