"""Acquires, renews and releases leases."""

from collections.abc import Sequence
from datetime import datetime, timedelta

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, Caller, for_readers
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import Conflict, InvalidInput, LimitReached, NotAllowed
from ctxhub.core.kit.inputs import clean_text, refuse_secret
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.paths.case import compared_by
from ctxhub.core.paths.reading import reader_of
from tracking.selectors.leases import get_lease, overlapping
from tracking.selectors.paths import clean_patterns
from tracking.services.granting import (
    LeaseAnswer,
    LeasedAnswer,
    answer_for,
    end_leases,
    grant_lease,
    write_renewal,
)
from tracking.services.lease_times import MINUTES, clean_minutes, lasting
from tracking.services.leases_on_paths import leases_named
from tracking.sql import leases as rows
from tracking.sql.leases import HeldPath, LeaseRow, live_leases_of, read_leases

# Pairs of patterns; more are compared before the write lock is taken again, so often.
COMPARED_IN_LOCK = 40
ATTEMPTS = 10
KEPT = timedelta(days=30)
REMOVED_AT_ONCE = 500


class ReleaseAnswer(TypedDict):
    released: int


# -- Services --------------------------------------------------------------------------------------


def acquire_lease(
    *,
    caller: Caller,
    paths: Sequence[str],
    minutes: int = MINUTES,
    exclusive: bool = True,
    reason: str | None | Unset = UNSET,
) -> LeasedAnswer:
    """Reserve paths or globs ("src/api/**") for the caller's agent, for 1 to 1440 minutes.

    Shared leases may overlap; an exclusive one stands alone. `fence` grows with every lease of a project.
    A live lease of the agent on the same paths, shared or not as this one, is extended instead: it lasts at
    least that long from now. An exclusive lease ends the agent's shared one on the same paths.
    Raises Conflict, naming holder, paths and expiry, if another agent's live lease is in the way.
    """
    reader = reader_of(caller)
    patterns = clean_patterns(paths, reader=reader)
    refuse_secret("\n".join(patterns), "paths", caller)
    time = lasting(clean_minutes(minutes), patterns).also(reader.hint)
    reason = reason if isinstance(reason, Unset) else clean_text(reason, "reason", caller)
    known = _refuse_conflict(caller, exclusive, patterns, rows.held_paths(*_others(caller, patterns)))
    for _attempt in range(ATTEMPTS):
        with write_transaction(caller.project_id):
            held = rows.held_paths(*_others(caller, patterns), after=known)
            if len(held) * len(patterns) <= COMPARED_IN_LOCK:
                _refuse_conflict(caller, exclusive, patterns, held)
                return grant_lease(caller, patterns, time, exclusive, reason)
        # Others got leases meanwhile: they are compared while writers go on.
        known = _refuse_conflict(caller, exclusive, patterns, held)
    raise LimitReached(
        "Other agents get leases faster than they can be compared with yours.",
        hint="Lease fewer paths at once, or try again.",
        retry_after=1,
    )


def renew_lease(*, caller: Caller, lease_id: int, minutes: int = MINUTES) -> LeaseAnswer:
    """Let a live lease of the caller's agent end that many minutes from now; its fence stays.

    Raises NotAllowed for another agent's lease, Conflict for one that has expired or was released.
    """
    minutes = clean_minutes(minutes)
    with write_transaction(caller.project_id):
        at = clock.now()
        lease = _own_lease(caller, lease_id, "renew")
        if (state := lease.state(at)) != "live":
            raise Conflict(f"Lease {lease.id} is {state}.", hint="Lease it again.")
        time = lasting(minutes, lease.paths)
        write_renewal(caller, lease, at + time.duration, lease.reason, at)
    return answer_for(lease.id, at + time.duration, time.hint)


def release_leases(
    *,
    caller: Caller,
    lease_id: int | None = None,
    paths: Sequence[str] | None = None,
    all: bool = False,
    force: bool = False,
    reason: str | None = None,
) -> ReleaseAnswer:
    """Release one lease, or all of the caller's agent. A lease that has already ended is not counted.

    `paths` name the agent's live leases on them, if these hold no other path and each path has one.
    Another agent's lease needs `force`, which requires the scope admin. The log tells who did it and why,
    and the holder gets a message.
    """
    said = [
        name
        for name, is_said in (("lease_id", lease_id is not None), ("paths", paths), ("all", all))
        if is_said
    ]
    if len(said) != 1:
        raise _unclear(f"both {' and '.join(said)}" if said else "neither lease_id nor all")
    if force:
        caller.require(ADMIN, "Releasing by force")
    reason = clean_text(reason, "reason", caller)
    patterns = clean_patterns(paths, reader=reader_of(caller)) if paths else []
    with write_transaction(caller.project_id):
        at = clock.now()
        if lease_id is None:
            leases = live_leases_of(caller.project_id, caller.agent.casefold(), at)
            leases = leases_named(caller, patterns, leases) if patterns else leases
        else:
            lease = _own_lease(caller, lease_id, "release", is_forced=force)
            leases = [lease] if lease.state(at) == "live" else []
        if leases:
            end_leases(caller, leases, reason, at)
    return {"released": len(leases)}


def release_by_force(*, caller: Caller, lease_ids: Sequence[int], reason: str | None = None) -> ReleaseAnswer:
    """Release leases of any agents, as `release_leases` with `force` does; each holder gets one message."""
    caller.require(ADMIN, "Releasing by force")
    reason = clean_text(reason, "reason", caller)
    with write_transaction(caller.project_id):
        at = clock.now()
        leases = [each for each in read_leases(caller.project_id, lease_ids) if each.state(at) == "live"]
        own = [lease for lease in leases if lease.folded == caller.agent.casefold()]
        for some in (own, [lease for lease in leases if lease not in own]):
            if some:
                end_leases(caller, some, reason, at)
    return {"released": len(leases)}


def forget_leases(project_id: int, now: datetime) -> None:
    """Remove up to 500 leases that ended more than 30 days ago."""
    rows.delete_leases(project_id, now - KEPT, REMOVED_AT_ONCE)


# -- Pieces ----------------------------------------------------------------------------------------


def _others(caller: Caller, patterns: Sequence[str]) -> tuple[int, Sequence[str], datetime, str]:
    return caller.project_id, patterns, clock.now(), caller.agent.casefold()


def _refuse_conflict(
    caller: Caller, exclusive: bool, patterns: Sequence[str], held: Sequence[HeldPath]
) -> int:
    """The newest of the compared leases. Raises Conflict if one is in the way."""
    found = overlapping(held, patterns, compared_by(caller))
    blocking = list(dict.fromkeys(h.lease_id for h in found if exclusive or h.exclusive))
    if not blocking:
        return max((each.lease_id for each in held), default=0)
    # The lease that expires last: the paths are not free before.
    [lease] = read_leases(caller.project_id, blocking[-1:])
    more = f", and {len(blocking) - 1} more leases are in the way" if len(blocking) > 1 else ""
    raise for_readers(
        Conflict(
            f"{', '.join(lease.paths)} {'is' if len(lease.paths) == 1 else 'are'} leased by {lease.by!r}"
            f" until {format_time(lease.expires_at)}{more}.",
            hint="Wait until then, ask the holder to release it, or work elsewhere meanwhile.",
            current={
                "lease_id": lease.id,
                "by": lease.by,
                "paths": list(lease.paths),
                "exclusive": lease.exclusive,
                "expires": format_time(lease.expires_at),
                **({"reason": lease.reason} if lease.reason else {}),
            },
            about=f"lease:{lease.id}",
        ),
        otherwise="Another agent's lease is in the way.",
    )


def _own_lease(caller: Caller, lease_id: int, verb: str, *, is_forced: bool = False) -> LeaseRow:
    lease = get_lease(caller.project_id, lease_id)
    if lease.folded != caller.agent.casefold() and not is_forced:
        raise for_readers(
            NotAllowed(
                f"Lease {lease.id} is held by {lease.by!r}; you are {caller.agent!r} and cannot {verb} it.",
                hint="Ask the holder, or wait until it expires.",
                about=f"lease:{lease.id}",
            ),
            otherwise=f"Lease {lease.id} is another agent's; you cannot {verb} it.",
        )
    return lease


def _unclear(problem: str) -> InvalidInput:
    return InvalidInput(
        f"release was told {problem}.", hint="Name one lease by lease_id, or say all:true for all of yours."
    )
