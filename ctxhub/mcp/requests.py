"""A request of MCP on a connection, and what answers it: a result, or work that needs the database."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from ctxhub.core.call_sessions import clean_call_session
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import Failure
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.tool_names import naming_tools
from ctxhub.mcp.eras import LATER_VERSIONS
from ctxhub.mcp.json_rpc import Id
from ctxhub.toolbox.tool_list import offered_tools

SESSION = "ctxhub/session"
BRANCH, WORKTREE = "ctxhub/branch", "ctxhub/worktree"
LIST_TTL_MS = 60_000

Result = dict[str, Any]


@frozen
class Surface:
    """Which tools a connection sees: grouped or flat, the profile all or core, or a selection by name."""

    surface: str = "grouped"
    profile: str = "all"
    only: tuple[str, ...] = ()

    @property
    def is_flat(self) -> bool:
        return self.surface == "flat"


def _ignore(failure: Failure) -> None:
    pass


@frozen
class Request:
    """A request in a version of the protocol.

    `is_open`: the client may send more than its handshake. `on_failure` is called before the answer to a call
    that failed through no fault of the caller.
    """

    method: str
    params: dict[str, Any]
    version: str
    caller: Caller
    surface: Surface
    is_open: bool = True
    on_failure: Callable[[Failure], None] = _ignore
    id: Id = 0

    @property
    def meta(self) -> dict[str, Any]:
        return self.params.get("_meta") or {}

    @property
    def is_later(self) -> bool:
        """Whether it is of the later era of the protocol."""
        return self.version in LATER_VERSIONS

    def cached(self, result: Result, milliseconds: int) -> Result:
        """The result with how long the client may keep it, which the later era says."""
        return {**result, "ttlMs": milliseconds, "cacheScope": "private"} if self.is_later else result


class Work(NamedTuple):
    """A result that the database is needed for: `run` gives it, `failed` the one for an error of `run`."""

    run: Callable[[], Result]
    failed: Callable[[Exception], Result]
    writes: Callable[[], bool]


def naming(surface: Surface) -> AbstractContextManager[None]:
    """Let messages name operations as a connection with this surface sees them."""
    return naming_tools(flat=surface.is_flat, offered=offered_tools(surface.profile, surface.only))


def as_told(caller: Caller, meta: dict[str, Any]) -> Caller:
    """The caller in the session and at the place that `_meta` names, as far as it names any."""
    caller = caller.at(meta.get(BRANCH), meta.get(WORKTREE))
    named = meta.get(SESSION)
    if named in (None, ""):
        return caller
    return caller.in_session(clean_call_session(named, f"_meta[{SESSION!r}]"))
