"""Acquires, renews and releases leases."""

from collections.abc import Sequence
from datetime import datetime, timedelta

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, Caller, for_readers
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import Conflict, InvalidInput, LimitReached, NotAllowed
from ctxhub.core.kit.inputs import clean_from_to, clean_text, refuse_secret
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.toolbox.argument_types import Time
from ctxhub.core.vocabulary.services.names import register_agent
from tracking.history.leases import record_leases
from tracking.selectors.leases import get_lease, overlapping
from tracking.selectors.paths import clean_patterns
from tracking.sql import leases as rows
from tracking.sql.leases import HeldPath, LeaseRow, live_leases_of, read_leases

MINUTES = 15
MOST_MINUTES = 24 * 60
MOST_LIVE = 200
# Pairs of patterns; more are compared before the write lock is taken again, so often.
COMPARED_IN_LOCK = 40
ATTEMPTS = 10
KEPT = timedelta(days=30)
REMOVED_AT_ONCE = 500


class LeaseAnswer(TypedDict):
    lease_id: int
    fence: int
    expires: Time


class ReleaseAnswer(TypedDict):
    released: int


# -- Services --------------------------------------------------------------------------------------


def acquire_lease(
    *,
    caller: Caller,
    paths: Sequence[str],
    minutes: int = MINUTES,
    exclusive: bool = True,
    reason: str | None = None,
) -> LeaseAnswer:
    """Reserve paths or globs ("src/api/**") for the caller's agent, for 1 to 1440 minutes.

    Shared leases may overlap; an exclusive one stands alone. `fence` grows with every lease of a project.
    Raises Conflict, naming holder, paths and expiry, if another agent's live lease is in the way.
    """
    patterns = clean_patterns(paths)
    refuse_secret("\n".join(patterns), "paths", caller)
    duration = _duration(minutes)
    reason = clean_text(reason, "reason", caller)
    known = _refuse_conflict(caller, exclusive, patterns, rows.held_paths(*_others(caller, patterns)))
    for _attempt in range(ATTEMPTS):
        with write_transaction(caller.project_id):
            held = rows.held_paths(*_others(caller, patterns), after=known)
            if len(held) * len(patterns) <= COMPARED_IN_LOCK:
                _refuse_conflict(caller, exclusive, patterns, held)
                return _insert(caller, patterns, duration, exclusive, reason)
        # Others got leases meanwhile: they are compared while writers go on.
        known = _refuse_conflict(caller, exclusive, patterns, held)
    raise LimitReached(
        "Other agents get leases faster than they can be compared with yours.",
        hint="Lease fewer paths at once, or try again.",
        retry_after=1,
    )


def renew_lease(*, caller: Caller, lease_id: int, minutes: int = MINUTES) -> LeaseAnswer:
    """Extend a live lease of the caller's agent to end that many minutes from now; its fence stays.

    Raises NotAllowed for another agent's lease, Conflict for one that has expired or was released.
    """
    duration = _duration(minutes)
    with write_transaction(caller.project_id):
        at = clock.now()
        lease = _own_lease(caller, lease_id, "renew")
        if (state := lease.state(at)) != "live":
            raise Conflict(f"Lease {lease.id} is {state}.", hint="Lease it again.")
        rows.extend_lease(lease.id, at + duration)
        agent_id = register_agent(caller, at)
        record_leases(project_id=caller.project_id, agent_id=agent_id, verb="renewed", leases=[lease], at=at)
    return _answer(lease.id, at + duration)


def release_leases(
    *,
    caller: Caller,
    lease_id: int | None = None,
    all: bool = False,
    force: bool = False,
    reason: str | None = None,
) -> ReleaseAnswer:
    """Release one lease, or all of the caller's agent. A lease that has already ended is not counted.

    Another agent's lease needs `force`, which requires the scope admin. The log tells who did it and why,
    and the holder gets a message.
    """
    if (lease_id is None) != all:
        raise _unclear("both lease_id and all" if all else "neither lease_id nor all")
    if force:
        caller.require(ADMIN, "Releasing by force")
    reason = clean_text(reason, "reason", caller)
    with write_transaction(caller.project_id):
        at = clock.now()
        if lease_id is None:
            leases = live_leases_of(caller.project_id, caller.agent.casefold(), at)
        else:
            lease = _own_lease(caller, lease_id, "release", is_forced=force)
            leases = [lease] if lease.state(at) == "live" else []
        if leases:
            _end(caller, leases, reason, at)
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
    blocking = list(
        dict.fromkeys(h.lease_id for h in overlapping(held, patterns) if exclusive or h.exclusive)
    )
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


def _insert(
    caller: Caller, patterns: Sequence[str], duration: timedelta, exclusive: bool, reason: str
) -> LeaseAnswer:
    at, own = clock.now(), caller.agent.casefold()
    if rows.count_live_by_agent(caller.project_id, [own], at).get(own, 0) >= MOST_LIVE:
        raise LimitReached(
            f"You hold {MOST_LIVE} live leases, and an agent may hold no more.",
            hint=f"Release one first: {operation('file release')}.",
        )
    agent_id = register_agent(caller, at)
    expires_at = at + duration
    lease_id = rows.insert_lease(
        caller.project_id,
        agent_id,
        patterns,
        exclusive=exclusive,
        reason=reason,
        at=at,
        expires_at=expires_at,
    )
    lease = LeaseRow(lease_id, caller.agent, own, exclusive, reason, at, expires_at, None, patterns)
    record_leases(project_id=caller.project_id, agent_id=agent_id, verb="leased", leases=[lease], at=at)
    return _answer(lease_id, expires_at)


def _duration(minutes: int) -> timedelta:
    return timedelta(minutes=clean_from_to(minutes, "minutes", 1, MOST_MINUTES))


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


def _end(caller: Caller, leases: Sequence[LeaseRow], reason: str, at: datetime) -> None:
    is_own = leases[0].folded == caller.agent.casefold()
    agent_id = register_agent(caller, at)
    rows.end_leases([lease.id for lease in leases], agent_id, at)
    record_leases(
        project_id=caller.project_id,
        agent_id=agent_id,
        verb="released" if is_own else "force_released",
        leases=leases,
        at=at,
        reason=reason,
    )


def _answer(lease_id: int, expires_at: datetime) -> LeaseAnswer:
    return {"lease_id": lease_id, "fence": lease_id, "expires": format_time(expires_at)}


def _unclear(problem: str) -> InvalidInput:
    return InvalidInput(
        f"release was told {problem}.", hint="Name one lease by lease_id, or say all:true for all of yours."
    )
