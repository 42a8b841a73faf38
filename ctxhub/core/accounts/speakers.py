"""Who speaks in a call, as a holder, and what is known of the other sessions of that agent."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from ctxhub.core.call_sessions import name_of_session
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.holder import Holder, is_part

# A session that was not heard of for so long is in no other session's way, of the same agent.
TAKEN_OVER_AFTER = timedelta(minutes=15)
LISTED = timedelta(days=1)
# A session counts as live for so long.
LIVE_FOR = timedelta(hours=1)
# Names that follow one another are followed so far: more is a ring.
MOST_NAMES = 10


@frozen
class Heard:
    """The sessions of an agent: when each was last heard of, by name, and how those are called that go on
    under another name.
    """

    at: dict[str, datetime]
    now_called: dict[str, str]

    def current_name(self, name: str) -> str:
        """The name under which the window of a session goes on, or of the one that it is a part of."""
        for _ in range(MOST_NAMES):
            old = next((old for old in self.now_called if is_part(name, old)), None)
            if old is None:
                break
            name = self.now_called[old] + name.removeprefix(old)
        return name

    def last(self, session: str) -> datetime | None:
        """When a session or a part of it was last heard of, under whichever name."""
        return max(
            (at for name, at in self.at.items() if is_part(self.current_name(name), session)), default=None
        )


@frozen
class Speaker:
    """The holder that a call speaks for, and the other sessions of its agent."""

    holder: Holder
    heard: Heard

    @property
    def folded(self) -> str:
        return self.holder.agent

    def is_blocked_by(self, other: Holder, since: datetime, now: datetime) -> bool:
        """Whether what another holder has held since then is in the way."""
        return not (self.holder.is_same(other) or self.is_over(other, since, now))

    def is_over(self, other: Holder, since: datetime, now: datetime) -> bool:
        """Whether it is a session of the same agent that may be taken over."""
        return other.agent == self.folded and self.heard_of(other.session, since) < now - TAKEN_OVER_AFTER

    def is_alone(self, now: datetime) -> bool:
        """Whether no other session of the agent was heard of lately, but for parts of this one."""
        return all(
            at < now - TAKEN_OVER_AFTER or is_part(self.heard.current_name(name), self.holder.session)
            for name, at in self.heard.at.items()
        )

    def releases(self, other: Holder, now: datetime) -> bool:
        """Whether what another holder holds ends with this one: its parts, and what only it can have taken.

        A client that names no session in a call has hooks that name one at its end.
        """
        if self.holder.includes(other):
            return True
        is_own = other.agent == self.folded and not other.is_named
        return is_own and self.holder.is_named and self.is_alone(now)

    def heard_of(self, session: str, since: datetime) -> datetime:
        """When a session of the agent was last heard of; `since`: when it wrote."""
        return max(since, self.heard.last(session) or since)


def named_by(caller: Caller) -> str:
    """The session as the call or its window names it; "" for none."""
    return caller.session or (caller.window.name if caller.window else "")


def told_session(caller: Caller) -> str:
    """The session as the call or its client names it; "" also for a window that made its name up."""
    return "" if caller.window and caller.window.made_up and not caller.session else named_by(caller)


def speaker_of(caller: Caller) -> Speaker:
    """The holder that the call speaks for; asks the database only for a session that its client names."""
    folded, window = caller.agent.casefold(), caller.window
    if not caller.session and (window is None or window.made_up):
        return Speaker(Holder(folded, named_by(caller), made_up=window is not None), Heard({}, {}))
    name = name_of_session(caller) if caller.session else named_by(caller)
    heard = heard_sessions(caller.project_id, folded, clock.now())
    return Speaker(Holder(folded, heard.current_name(name)), heard)


def heard_sessions(project_id: int, folded: str, now: datetime) -> Heard:
    """The sessions of an agent that its clients name and that were heard of within a day or go on under
    another name.
    """
    return heard_of_agents(project_id, [folded], now)[folded]


def heard_of_agents(project_id: int, folded: Sequence[str], now: datetime) -> dict[str, Heard]:
    """The same of several agents, by case-folded name."""
    among, values = sql.among("folded", folded)
    found = sql.rows(
        "SELECT folded, name, heard_at, now_called FROM core_heardsession"
        f" WHERE project_id = %s AND {among} AND made_up = %s AND (heard_at > %s OR now_called <> '')",
        [project_id, *values, False, sql.stored_time(now - LISTED)],
    )
    heard = {each: Heard({}, {}) for each in folded}
    for agent, name, at, now_called in found:
        heard[agent].at[name] = sql.read_time(at)
        if now_called:
            heard[agent].now_called[name] = now_called
    return heard
