"""Finds the leases that a release names by their paths."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.accounts.selectors.speakers import Speaker
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound, shown_all
from ctxhub.core.kit.tool_names import call_of, operation
from ctxhub.core.paths.case import compared_by
from ctxhub.core.text.globs import overlap
from tracking.selectors.leases import held_by_own_session
from tracking.sql.leases import LeaseRow

SHOWN_LEASES = 5


def leases_named(
    caller: Caller, speaker: Speaker, patterns: Sequence[str], held: Sequence[LeaseRow], at: datetime
) -> list[LeaseRow]:
    """Those of a session's leases that hold these paths and no others, one for each path.

    `held`: the live leases of its agent. Raises NotFound or InvalidInput, naming the ids, if there is none,
    another one might be meant, or another session of the agent holds the paths.
    """
    own = [lease for lease in held if speaker.holder.is_same(lease.holder)]
    compared = compared_by(caller)
    paths = {lease.id: set(map(compared, lease.paths)) for lease in held}
    named = set(map(compared, patterns))
    on_path = [[lease for lease in own if path in paths[lease.id]] for path in named]
    found = {lease.id: lease for leases in on_path for lease in leases}
    if all(len(leases) == 1 for leases in on_path) and all(paths[each] <= named for each in found):
        return list(found.values())
    near = [lease for lease in held if _overlaps(paths[lease.id], named)]
    if own_near := [lease for lease in near if speaker.holder.is_same(lease.holder)]:
        raise _unclear(patterns, own_near)
    if near:
        raise _another_sessions(speaker, near, at)
    raise NotFound(f"You hold no live lease on {shown_all(patterns)}.")


def _overlaps(held: set[str], named: set[str]) -> bool:
    return any(overlap(one, other) for one in held for other in named)


def _another_sessions(speaker: Speaker, leases: Sequence[LeaseRow], at: datetime) -> NotFound:
    """Tells of the lease that expires last, as the conflict of a lease does, and names the others by id."""
    last = leases[-1]
    ids = ", ".join(str(lease.id) for lease in leases[-2::-1][:SHOWN_LEASES])
    return NotFound(
        held_by_own_session(speaker, last, at),
        hint=f"If it is over: {operation('file release')} lease_id={last.id}."
        + (f" Also {ids}." if ids else ""),
    )


def _unclear(patterns: Sequence[str], near: Sequence[LeaseRow]) -> InvalidInput:
    told = "; ".join(f"lease {lease.id} is on {shown_all(lease.paths)}" for lease in near[:SHOWN_LEASES])
    call = {**call_of("file", "release"), "lease_id": near[0].id} if len(near) == 1 else None
    return InvalidInput(
        f"{shown_all(patterns)} is not what one lease of yours is on.",
        hint=f"{told[0].upper()}{told[1:]}. Name it by lease_id.",
        call=call,
        leave_out=["paths"] if call else [],
    )
