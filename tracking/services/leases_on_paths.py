"""Finds the leases that a release names by their paths."""

from collections.abc import Sequence

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotFound, shown_all
from ctxhub.core.kit.tool_names import call_of
from ctxhub.core.paths.case import compared_by
from ctxhub.core.text.globs import overlap
from tracking.sql.leases import LeaseRow

SHOWN_LEASES = 5


def leases_named(caller: Caller, patterns: Sequence[str], own: Sequence[LeaseRow]) -> list[LeaseRow]:
    """Those of an agent's live leases that hold these paths and no others, one for each path.

    Raises NotFound or InvalidInput, naming the ids, if there is none or another one might be meant.
    """
    compared = compared_by(caller)
    paths = {lease.id: set(map(compared, lease.paths)) for lease in own}
    named = set(map(compared, patterns))
    on_path = [[lease for lease in own if path in paths[lease.id]] for path in named]
    found = {lease.id: lease for leases in on_path for lease in leases}
    if all(len(leases) == 1 for leases in on_path) and all(paths[each] <= named for each in found):
        return list(found.values())
    raise _unclear(patterns, [lease for lease in own if _overlaps(paths[lease.id], named)])


def _overlaps(held: set[str], named: set[str]) -> bool:
    return any(overlap(one, other) for one in held for other in named)


def _unclear(patterns: Sequence[str], near: Sequence[LeaseRow]) -> CtxhubError:
    if not near:
        return NotFound(f"You hold no live lease on {shown_all(patterns)}.")
    told = "; ".join(f"lease {lease.id} is on {shown_all(lease.paths)}" for lease in near[:SHOWN_LEASES])
    call = {**call_of("file", "release"), "lease_id": near[0].id} if len(near) == 1 else None
    return InvalidInput(
        f"{shown_all(patterns)} is not what one lease of yours is on.",
        hint=f"{told[0].upper()}{told[1:]}. Name it by lease_id.",
        call=call,
        leave_out=["paths"] if call else [],
    )
