"""Acquires, renews and releases leases."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, NamedTuple, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.speakers import Speaker, speaker_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, Caller, for_readers
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import Conflict, InvalidInput, LimitReached, NotAllowed, NotFound, shown_all
from ctxhub.core.kit.inputs import clean_text, refuse_secret
from ctxhub.core.kit.tool_names import call_of, operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.paths.case import compared_by
from ctxhub.core.paths.reading import reader_of
from ctxhub.core.text.globs import overlap
from ctxhub.toolbox.argument_types import About
from tracking.files.paths import clean_patterns
from tracking.leases import rows
from tracking.leases.granting import (
    MINUTES,
    LeaseAnswer,
    LeasedAnswer,
    answer_for,
    clean_minutes,
    end_leases,
    grant_lease,
    lasting,
    write_renewal,
)
from tracking.leases.queries import get_lease, held_by_own_session, overlapping
from tracking.leases.rows import HeldPath, LeaseRow, live_leases_of, read_leases

SHOWN_LEASES = 5


def leases_named(
    caller: Caller, speaker: Speaker, patterns: Sequence[str], held: Sequence[LeaseRow], at: datetime
) -> list[LeaseRow]:
    """Those of a session's leases that hold these paths and no others, one for each path: the very holder's
    before those of sessions that count as the same.

    `held`: the live leases of its agent. Raises NotFound or InvalidInput, naming the ids, if there is none,
    another one might be meant, or another session of the agent holds the paths.
    """
    own = [lease for lease in held if speaker.holder.is_same(lease.holder)]
    compared = compared_by(caller)
    paths = {lease.id: set(map(compared, lease.paths)) for lease in held}
    named = set(map(compared, patterns))
    very_own = [lease for lease in own if lease.holder == speaker.holder]
    on_path = [
        [lease for lease in very_own if path in paths[lease.id]]
        or [lease for lease in own if path in paths[lease.id]]
        for path in named
    ]
    found = {lease.id: lease for leases in on_path for lease in leases}
    if all(len(leases) == 1 for leases in on_path) and all(paths[each] <= named for each in found):
        return list(found.values())
    near = [lease for lease in held if _overlaps(paths[lease.id], named)]
    if own_near := [lease for lease in near if speaker.holder.is_same(lease.holder)]:
        raise _unclear_paths(patterns, own_near)
    if near:
        raise _leases_of_another_session(speaker, near, at)
    raise NotFound(f"You hold no live lease on {shown_all(patterns)}.")


def _overlaps(held: set[str], named: set[str]) -> bool:
    return any(overlap(one, other) for one in held for other in named)


def _leases_of_another_session(speaker: Speaker, leases: Sequence[LeaseRow], at: datetime) -> NotFound:
    """Tells of the lease that expires last, as the conflict of a lease does, and names the others by id."""
    last = leases[-1]
    ids = ", ".join(str(lease.id) for lease in leases[-2::-1][:SHOWN_LEASES])
    return NotFound(
        held_by_own_session(speaker, last, at),
        hint=f"If it is over: {operation('file release')} lease_id={last.id}."
        + (f" Also {ids}." if ids else ""),
    )


def _unclear_paths(patterns: Sequence[str], near: Sequence[LeaseRow]) -> InvalidInput:
    told = "; ".join(f"lease {lease.id} is on {shown_all(lease.paths)}" for lease in near[:SHOWN_LEASES])
    call = {**call_of("file", "release"), "lease_id": near[0].id} if len(near) == 1 else None
    return InvalidInput(
        f"{shown_all(patterns)} is not what one lease of yours is on.",
        hint=f"{told[0].upper()}{told[1:]}. Name it by lease_id.",
        call=call,
        leave_out=["paths"] if call else [],
    )


# Pairs of patterns; more are compared before the write lock is taken again, so often.
COMPARED_IN_LOCK = 40
ATTEMPTS = 10
KEPT = timedelta(days=30)
REMOVED_AT_ONCE = 500


class ReleaseAnswer(TypedDict):
    released: int
    hint: NotRequired[Annotated[str, About("That other sessions of the agent hold more.")]]


# -- Services --------------------------------------------------------------------------------------


def acquire_lease(
    *,
    caller: Caller,
    paths: Sequence[str],
    minutes: int = MINUTES,
    exclusive: bool = True,
    reason: str | None | Unset = UNSET,
) -> LeasedAnswer:
    """Reserve paths or globs ("src/api/**") for the caller's agent and session, for 1 to 1440 minutes.

    Shared leases may overlap; an exclusive one stands alone. `fence` grows with every lease of a project.
    A live lease of the same holder on the same paths, shared or not as this one, is extended instead: it
    lasts at least that long from now. An exclusive lease ends the holder's shared one on the same paths.
    Raises Conflict, naming holder, paths and expiry, if another holder's live lease is in the way: another
    agent's, or that of another session of the agent, unless it was not heard of for 15 minutes. That one is
    taken over.
    """
    reader = reader_of(caller)
    patterns = clean_patterns(paths, reader=reader)
    refuse_secret("\n".join(patterns), "paths", caller)
    time = lasting(clean_minutes(minutes), patterns).also(reader.hint)
    reason = reason if isinstance(reason, Unset) else clean_text(reason, "reason", caller)
    speaker = speaker_of(caller)
    wanted = _Wanted(caller, speaker, patterns, exclusive)
    looked = _refuse_conflict(wanted, _held_by_others(wanted))
    for _attempt in range(ATTEMPTS):
        with write_transaction(caller.project_id):
            held = _held_by_others(wanted, after=looked.newest)
            if len(held) * len(patterns) <= COMPARED_IN_LOCK:
                _take_over(caller, [*looked.over, *_refuse_conflict(wanted, held).over])
                return grant_lease(caller, speaker.holder, patterns, time, exclusive, reason)
        # Others got leases meanwhile: they are compared while writers go on.
        later = _refuse_conflict(wanted, held)
        looked = _Looked(later.newest, [*looked.over, *later.over])
    raise LimitReached(
        "Other agents get leases faster than they can be compared with yours.",
        hint="Lease fewer paths at once, or try again.",
        retry_after=1,
    )


def renew_lease(*, caller: Caller, lease_id: int, minutes: int = MINUTES) -> LeaseAnswer:
    """Let a live lease of the caller's agent and session end that many minutes from now; its fence stays.

    One that was taken without a session may be renewed by each of the agent's. Raises NotAllowed for another
    holder's lease, Conflict for one that has expired or was released.
    """
    minutes = clean_minutes(minutes)
    speaker = speaker_of(caller)
    with write_transaction(caller.project_id):
        at = clock.now()
        lease = _own_lease(caller, lease_id, "renew")
        if lease.session and lease.holder != speaker.holder:
            raise _another_sessions(speaker, lease, at)
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
    """Release one lease of the caller's agent, or all of its session and of the parts of that.

    `paths` name the session's live leases on them, if these hold no other path and each path has one.
    Where no other session of the agent was heard of for 15 minutes, also what it holds without one. A call
    without a session releases all that is held without one, and tells of the rest in `hint`. A lease
    that has already ended is not counted. Another agent's lease needs `force`, which requires the scope
    admin. The log tells who did it and why, and the holder gets a message.
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
    speaker = speaker_of(caller)
    with write_transaction(caller.project_id):
        at = clock.now()
        held = live_leases_of(caller.project_id, caller.agent.casefold(), at) if lease_id is None else []
        if all:
            leases = [lease for lease in held if speaker.releases(lease.holder, at)]
        elif patterns:
            leases = leases_named(caller, speaker, patterns, held, at)
        else:
            assert lease_id is not None
            lease = _own_lease(caller, lease_id, "release", is_forced=force)
            leases = [lease] if lease.state(at) == "live" else []
        if leases:
            end_leases(caller, leases, reason, at)
    answer = ReleaseAnswer(released=len(leases))
    if all and not speaker.holder.is_named and len(held) > len(leases):
        answer["hint"] = _held_elsewhere([lease for lease in held if lease not in leases])
    return answer


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


class _Wanted(NamedTuple):
    caller: Caller
    speaker: Speaker
    patterns: Sequence[str]
    exclusive: bool


class _Looked(NamedTuple):
    """The newest of the leases that were compared, and those in the way that are to be taken over."""

    newest: int
    over: Sequence[int]


def _held_by_others(wanted: _Wanted, after: int = 0) -> list[HeldPath]:
    return rows.held_paths(
        wanted.caller.project_id, wanted.patterns, clock.now(), wanted.speaker.holder, after
    )


def _refuse_conflict(wanted: _Wanted, held: Sequence[HeldPath]) -> _Looked:
    """Raises Conflict if one of these leases is in the way."""
    caller, speaker, now = wanted.caller, wanted.speaker, clock.now()
    found = [
        each
        for each in overlapping(held, wanted.patterns, compared_by(caller))
        if (wanted.exclusive or each.exclusive) and not speaker.holder.is_same(each.holder)
    ]
    over = {each.lease_id for each in found if speaker.is_over(each.holder, each.since, now)}
    blocking = list(dict.fromkeys(each.lease_id for each in found if each.lease_id not in over))
    if not blocking:
        return _Looked(max((each.lease_id for each in held), default=0), sorted(over))
    # The lease that expires last: the paths are not free before.
    [lease] = read_leases(caller.project_id, blocking[-1:])
    if lease.folded == speaker.folded:
        raise _own_in_the_way(speaker, lease, now)
    more = f", and {len(blocking) - 1} more leases are in the way" if len(blocking) > 1 else ""
    raise for_readers(
        Conflict(
            f"{', '.join(lease.paths)} {'is' if len(lease.paths) == 1 else 'are'} leased by {lease.agent!r}"
            f" until {format_time(lease.expires_at)}{more}.",
            hint="Wait until then, ask the holder to release it, or work elsewhere meanwhile.",
            current=_current(lease),
            about=f"lease:{lease.id}",
        ),
        otherwise="Another agent's lease is in the way.",
    )


def _own_in_the_way(speaker: Speaker, lease: LeaseRow, now: datetime) -> Conflict:
    return Conflict(
        held_by_own_session(speaker, lease, now),
        hint=f"If it is over: {operation('file release')} lease_id={lease.id}.",
        current=_current(lease),
        about=f"lease:{lease.id}",
    )


def _current(lease: LeaseRow) -> dict[str, object]:
    return {
        "lease_id": lease.id,
        "by": lease.agent,
        **({"session": lease.session} if lease.session else {}),
        "paths": list(lease.paths),
        "exclusive": lease.exclusive,
        "expires": format_time(lease.expires_at),
        **({"reason": lease.reason} if lease.reason else {}),
    }


def _take_over(caller: Caller, lease_ids: Sequence[int]) -> None:
    """End leases that still live, of sessions of the agent that may be taken over."""
    at = clock.now()
    leases = [each for each in read_leases(caller.project_id, lease_ids) if each.state(at) == "live"]
    if leases:
        sessions = ", ".join(dict.fromkeys(each.session for each in leases))
        end_leases(caller, leases, f"{sessions} was not heard of for 15 minutes.", at, verb="taken_over")


def _another_sessions(speaker: Speaker, lease: LeaseRow, now: datetime) -> NotAllowed:
    return NotAllowed(
        f"{held_by_own_session(speaker, lease, now)} Only that session renews it.",
        hint=f"If it is over: {operation('file release')} lease_id={lease.id}, and lease the paths here.",
        about=f"lease:{lease.id}",
    )


def _held_elsewhere(leases: Sequence[LeaseRow]) -> str:
    sessions = ", ".join(dict.fromkeys(lease.session or "no session" for lease in leases))
    what = "One more lease is" if len(leases) == 1 else f"{len(leases)} more leases are"
    return f"{what} held by your other sessions ({sessions}); release each by its lease_id."


def _own_lease(caller: Caller, lease_id: int, verb: str, *, is_forced: bool = False) -> LeaseRow:
    lease = get_lease(caller.project_id, lease_id)
    if lease.folded != caller.agent.casefold() and not is_forced:
        raise for_readers(
            NotAllowed(
                f"Lease {lease.id} is held by {lease.agent!r};"
                f" you are {caller.agent!r} and cannot {verb} it.",
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
