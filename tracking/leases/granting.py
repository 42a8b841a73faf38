"""Writes leases, under the write lock: grants, extends, renews and ends them, with their events."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.holder import Holder
from ctxhub.core.kit.inputs import clean_from_to
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.unset import Unset, if_set
from ctxhub.core.paths.case import as_written, compared_by
from ctxhub.core.text.globs import matches_all
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.argument_types import About, Time, one_of
from tracking.leases import rows
from tracking.leases.history import Verb, record_leases
from tracking.leases.rows import LEASES, LeaseRow

MINUTES = 15
MOST_MINUTES = 24 * 60
MOST_MINUTES_OF_ALL = 60


@frozen
class Lasting:
    """`hint`: why that is shorter than what was asked for; else empty."""

    duration: timedelta
    hint: str = ""

    def also(self, hint: str) -> "Lasting":
        """The same time, with another hint beside its own."""
        return Lasting(self.duration, f"{self.hint} {hint}".strip())


def clean_minutes(minutes: int) -> int:
    return clean_from_to(minutes, "minutes", 1, MOST_MINUTES)


def lasting(minutes: int, patterns: Sequence[str]) -> Lasting:
    """The time of a lease on these paths. One on all files stops everybody: it ends within the hour."""
    of_all = next((pattern for pattern in patterns if matches_all(pattern)), None)
    if of_all is None or minutes <= MOST_MINUTES_OF_ALL:
        return Lasting(timedelta(minutes=minutes))
    return Lasting(
        timedelta(minutes=MOST_MINUTES_OF_ALL),
        f"{of_all} matches every file, so the lease lasts {MOST_MINUTES_OF_ALL} minutes, not {minutes}:"
        " lease the folders that you change, or renew it in time.",
    )


MOST_LIVE = 200


class LeaseAnswer(TypedDict):
    lease_id: int
    fence: int
    expires: Time
    hint: NotRequired[Annotated[str, About("Why it is not quite what was asked for.")]]


class LeasedAnswer(LeaseAnswer):
    result: Annotated[str, one_of("created", "extended")]


def grant_lease(
    caller: Caller,
    holder: Holder,
    patterns: Sequence[str],
    time: Lasting,
    exclusive: bool,
    reason: str | Unset,
) -> LeasedAnswer:
    """Extend the holder's live lease on the same paths, or insert one."""
    at = clock.now()
    same = _on_the_same(caller, holder, patterns, at)
    of_mode = [lease for lease in same if lease.exclusive == exclusive]
    others = [lease for lease in same if lease.exclusive != exclusive]
    hint = f"{time.hint} {_still_exclusive(others)}".strip() if not exclusive else time.hint
    if exclusive and others:
        end_leases(caller, others, "An exclusive lease on the same paths takes its place.", at)
    if of_mode:
        return _extend(caller, max(of_mode, key=lambda lease: lease.id), at + time.duration, reason, at, hint)
    return _insert(caller, holder, patterns, at + time.duration, exclusive, if_set(reason, ""), at, hint)


def write_renewal(caller: Caller, lease: LeaseRow, expires_at: datetime, reason: str, at: datetime) -> None:
    LEASES.update(caller.project_id, lease, replace(lease, expires_at=expires_at, reason=reason))
    record_leases(
        project_id=caller.project_id,
        agent_id=register_agent(caller, at),
        verb="renewed",
        leases=[lease],
        at=at,
        reason=reason if reason != lease.reason else "",
    )


def end_leases(
    caller: Caller, leases: Sequence[LeaseRow], reason: str, at: datetime, *, verb: Verb = "released"
) -> None:
    """End leases of one agent: its own as `verb` says, another's by force."""
    is_own = leases[0].folded == caller.agent.casefold()
    agent_id = register_agent(caller, at)
    rows.end_leases([lease.id for lease in leases], agent_id, at)
    record_leases(
        project_id=caller.project_id,
        agent_id=agent_id,
        verb=verb if is_own else "force_released",
        leases=leases,
        at=at,
        reason=reason,
    )


def answer_for(lease_id: int, expires_at: datetime, hint: str) -> LeaseAnswer:
    answer: LeaseAnswer = {"lease_id": lease_id, "fence": lease_id, "expires": format_time(expires_at)}
    return {**answer, "hint": hint} if hint else answer


# -- Pieces ----------------------------------------------------------------------------------------


def _on_the_same(caller: Caller, holder: Holder, patterns: Sequence[str], at: datetime) -> list[LeaseRow]:
    """Live leases of this very holder on exactly these paths."""
    project_id, own, compared = caller.project_id, caller.agent.casefold(), compared_by(caller)
    if compared is as_written:
        found = rows.live_leases_with(project_id, own, patterns[0], at)
    else:
        found = rows.live_leases_of(project_id, own, at)
    wanted = set(map(compared, patterns))
    return [lease for lease in found if lease.holder == holder and set(map(compared, lease.paths)) == wanted]


def _still_exclusive(leases: Sequence[LeaseRow]) -> str:
    if not leases:
        return ""
    last = max(leases, key=lambda lease: lease.expires_at)
    return (
        f"You also hold lease:{last.id} on the same paths, exclusively until {format_time(last.expires_at)}:"
        " nobody can share them unless you release it."
    )


def _extend(
    caller: Caller, lease: LeaseRow, until: datetime, reason: str | Unset, at: datetime, hint: str
) -> LeasedAnswer:
    """Let the lease last at least until then. Writes nothing if neither its end nor its reason changes."""
    expires_at, why = max(lease.expires_at, until), if_set(reason, lease.reason)
    if (expires_at, why) != (lease.expires_at, lease.reason):
        write_renewal(caller, lease, expires_at, why, at)
    return {**answer_for(lease.id, expires_at, hint), "result": "extended"}


def _insert(
    caller: Caller,
    holder: Holder,
    patterns: Sequence[str],
    expires_at: datetime,
    exclusive: bool,
    reason: str,
    at: datetime,
    hint: str,
) -> LeasedAnswer:
    own = holder.agent
    if rows.count_live_by_agent(caller.project_id, [own], at).get(own, 0) >= MOST_LIVE:
        raise LimitReached(
            f"You hold {MOST_LIVE} live leases, and an agent may hold no more.",
            hint=f"Release one first: {operation('file release')}.",
        )
    agent_id = register_agent(caller, at)
    new = LeaseRow(
        agent=caller.agent,
        agent_id=agent_id,
        session=holder.session,
        made_up=holder.made_up,
        exclusive=exclusive,
        reason=reason,
        created_at=at,
        expires_at=expires_at,
        paths=patterns,
    )
    lease = rows.insert_lease(caller.project_id, new)
    record_leases(project_id=caller.project_id, agent_id=agent_id, verb="leased", leases=[lease], at=at)
    return {**answer_for(lease.id, expires_at, hint), "result": "created"}
