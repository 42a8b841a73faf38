"""Caller: who makes a request. REST and MCP resolve it; services get it as an argument, signals from here."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from secrets import token_hex
from typing import TYPE_CHECKING, TypeVar

from ctxhub.core.kit.errors import CtxhubError, NotAllowed
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.invisible import strip_invisible

if TYPE_CHECKING:
    from ctxhub.core.models import Project

READ, WRITE, ADMIN = "read", "write", "admin"
ALL_SCOPES = frozenset({READ, WRITE, ADMIN})
WITHHELD = "A token with the scope 'read' is told more."

# The argument of a call that stores what looks like a credential.
ALLOW_SECRET = "allow_secret"  # noqa: S105

ErrorT = TypeVar("ErrorT", bound=CtxhubError)


@dataclass(slots=True)
class Window:
    """A client's window, and which session each agent works in there.

    `name`: what it holds leases as; `made_up`: the process on stdio chose it, since the client tells none.
    `sessions`: the ids of saved ones by the case-folded name of the agent. `is_remote`: that process is the
    client's own, and asks over HTTP: nothing is kept here, and the session has the name of the window.
    """

    name: str = field(default_factory=lambda: f"stdio-{token_hex(4)}")
    made_up: bool = True
    sessions: dict[str, int] = field(default_factory=dict)
    is_remote: bool = False

    def session_of(self, agent: str) -> int | None:
        return self.sessions.get(agent.casefold())

    def enter(self, agent: str, session_id: int) -> None:
        self.sessions[agent.casefold()] = session_id


@frozen
class Caller:
    """A project, the agent that acts, and its scopes.

    `agent` is a name; its row is found or inserted by the statement that needs it. `pinned`: the token can
    act as one agent only. `keeps_secrets`: services store for it what looks like a credential; of an
    administrator's calls only those with `allow_secret` do so (`for_call`), and note in `kept` what it was.
    `maker_id`: the user who made the token.
    `has_own_name`: the connection names the agent, so that no call has to: a header, `--agent`.
    `session`: the id or the name of the session that the call names; `window`: None over HTTP, unless the
    request names one. `exact_paths`: its paths are read as they are written, since they come from git or the
    file system. `branch` and `worktree`: where the client works, as it says, unchecked; "" if it does not.
    """

    project: "Project"
    agent: str
    scopes: frozenset[str] = field(default=ALL_SCOPES)
    pinned: bool = False
    is_person: bool = False
    keeps_secrets: bool = False
    token_id: int | None = None
    token_ends_at: datetime | None = None
    maker_id: int | None = None
    has_own_name: bool = False
    session: str = ""
    window: Window | None = None
    kept: list[str] | None = field(default=None, compare=False)
    exact_paths: bool = False
    branch: str = ""
    worktree: str = ""

    @property
    def project_id(self) -> int:
        return self.project.pk

    def may(self, scope: str) -> bool:
        return scope in self.scopes

    @property
    def is_reader(self) -> bool:
        """A signed-in person who may read at least."""
        return self.is_person and self.may(READ)

    def require(self, scope: str, doing: str) -> None:
        """Raise NotAllowed unless the caller has the scope."""
        if scope not in self.scopes:
            raise NotAllowed(
                f"{doing} needs the scope {scope!r}; yours: {', '.join(sorted(self.scopes)) or 'none'}.",
                hint="Ask an administrator of the project for a token with that scope.",
            )

    def for_call(self, *, allow_secret: bool) -> "Caller":
        """The same caller for one call: it keeps secrets, and notes them, with `allow_secret` alone.

        Raises NotAllowed without the scope admin.
        """
        if allow_secret:
            self.require(ADMIN, "allow_secret")
            return replace(self, keeps_secrets=True, kept=[])
        return replace(self, keeps_secrets=False) if self.keeps_secrets else self

    def told_of_kept(self) -> dict[str, str]:
        """What an answer says about what the call stored although it looks like a credential."""
        if not self.kept:
            return {}
        what = ", ".join(dict.fromkeys(self.kept))
        return {ALLOW_SECRET: f"Stored although it looks like a credential: {what}."}

    def speaking_as(self, agent: str) -> "Caller":
        """The same caller as another agent. Raises NotAllowed for a pinned token or a person."""
        if agent.casefold() == self.agent.casefold():
            return self
        # The agent of a token may have a name of before names were cleaned.
        if self.pinned and agent.casefold() == strip_invisible(self.agent).casefold():
            return self
        if self.pinned or self.is_person:
            raise NotAllowed(
                f"You speak as {self.agent!r} and cannot speak as {agent!r}.", hint="Leave `agent` out."
            )
        return replace(self, agent=agent)

    def with_exact_paths(self, exact: bool = True) -> "Caller":
        """The same caller, whose call says `exact`."""
        return replace(self, exact_paths=True) if exact else self

    def named(self, agent: str) -> "Caller":
        """The same caller as the agent that its connection names. Raises NotAllowed like `speaking_as`."""
        return replace(self.speaking_as(agent), has_own_name=True)

    def at(self, branch: object, worktree: object) -> "Caller":
        """The same caller, working there; what is no text or blank: as it is."""
        told = _told(branch), _told(worktree)
        if not any(told):
            return self
        return replace(self, branch=told[0] or self.branch, worktree=told[1] or self.worktree)

    def in_session(self, session: str | int | None) -> "Caller":
        """The same caller in the session of this id, ref or name; None or "": as it is."""
        return replace(self, session=str(session)) if session not in (None, "") else self


def _told(place: object) -> str:
    return place if isinstance(place, str) and place.strip() else ""


_current: ContextVar[Caller | None] = ContextVar("ctxhub_caller", default=None)


def current() -> Caller | None:
    """The caller of the current request; None in scripts and migrations."""
    return _current.get()


@contextmanager
def acting(caller: Caller) -> Iterator[None]:
    token = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(token)


def may_read() -> bool:
    """Whether the caller of the current request may read; True without a request."""
    caller = current()
    return caller is None or caller.may(READ)


def for_readers(error: ErrorT, *, otherwise: str) -> ErrorT:
    """An error that tells stored values or names; without the scope read, the message `otherwise` alone."""
    return error if may_read() else type(error)(otherwise, hint=WITHHELD, about=error.about)
