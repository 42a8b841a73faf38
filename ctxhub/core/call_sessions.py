"""The session that a call belongs to. The sessions app registers how one is found and opened."""

import re
from datetime import datetime
from typing import Any, Protocol

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.inputs import clean_call_name

_NO_NAME = re.compile(r"[^\w.-]", re.ASCII)
# Neither a number nor a word that says which session is meant.
_MADE_UP = re.compile(r"[a-z]+-[\w.-]+(?:/[\w.-]+)*", re.ASCII | re.IGNORECASE)


class SessionFinder(Protocol):
    """`name`: the name of the session that a call names, also by its number; `#5` if it has none.
    Raises NotFound.

    `find`: the id of the session of a call; None if it has none. Raises NotFound for an unknown number.

    `open`: like `find`, but opens one where there is none. It runs inside the write transaction of the call,
    before other rows are written; `agent_id` is the row of the caller's agent. Raises NotAllowed for another
    agent's session.
    """

    def name(self, caller: Caller) -> str: ...

    def find(self, caller: Caller) -> int | None: ...

    def open(self, caller: Caller, agent_id: int, at: datetime) -> int: ...


_finders: list[SessionFinder] = []


def register_finder(finder: SessionFinder) -> None:
    _finders[:] = [finder]


def window_name(client: str, own_id: str) -> str:
    """How hooks and processes name the session of a client's window: `claude-1a2b`."""
    return f"{client}-{_NO_NAME.sub('-', own_id)[:60]}"


def clean_call_session(value: Any, source: str) -> str:
    """The id, the ref or the name of the session that a call names, as text; looks nothing up.

    Raises InvalidInput for a value that is neither text nor integer, an unfilled variable, a credential.
    """
    if type(value) is int:
        return str(value)
    if not isinstance(value, str):
        raise InvalidInput(f"{source} must be the id or the name of a session.")
    return clean_call_name(value, source, "It names a session: 5, or a name of your own.")


def clean_made_up_session(value: str, source: str) -> str:
    """The name that a client's process made up for its window. Raises InvalidInput for another form."""
    name = clean_call_session(value, source)
    if not _MADE_UP.fullmatch(name):
        raise InvalidInput(f"{source} is {shown(name)}; it is a word, a hyphen and digits: mcp-1a2b3c4d.")
    return name


def name_of_session(caller: Caller) -> str:
    """The name of the session that the call names, also by its number. Raises NotFound for an unknown one."""
    return _finders[0].name(caller) if _finders else caller.session


def find_session_id(caller: Caller) -> int | None:
    """The id of the session that the call belongs to; None if it has none yet."""
    return _finders[0].find(caller) if _finders else None


def open_session_id(caller: Caller, agent_id: int, at: datetime) -> int | None:
    """The id of the session that the call belongs to, opened if needed; None if there are no sessions."""
    return _finders[0].open(caller, agent_id, at) if _finders else None
