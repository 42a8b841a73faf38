"""The names of operations in messages: tool and action, one name if tools are flat (`memory_search`), or an
address over REST (`GET memories/search/`).

REST and MCP set this for each call, so that messages written anywhere use the caller's names.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


@contextmanager
def naming_tools(*, flat: bool, offered: Collection[str] | None = None) -> Iterator[None]:
    """Make messages name operations as this client sees them, and only the `offered` tools (None: all)."""
    tokens = _flat.set(flat), _offered.set(offered)
    try:
        yield
    finally:
        _flat.reset(tokens[0])
        _offered.reset(tokens[1])


@contextmanager
def naming_addresses(address_of: Callable[[str], str]) -> Iterator[None]:
    """Make messages name operations by their addresses; `address_of` gets `memory search`."""
    token = _address_of.set(address_of)
    try:
        yield
    finally:
        _address_of.reset(token)


def is_flat() -> bool:
    return _flat.get()


def is_offered(tool: str) -> bool:
    offered = _offered.get()
    return offered is None or tool in offered


def flat_name(tool: str, action: str) -> str:
    """`memory_search`; the tool's name if it has only one operation."""
    return f"{tool}_{action}" if action else tool


def operation(name: str) -> str:
    """The name of an operation for a hint: `memory search`, `memory_search`, or `GET memories/search/`."""
    if address_of := _address_of.get():
        return address_of(name)
    return name.replace(" ", "_") if is_flat() else name


def call_of(tool: str, action: str) -> dict[str, str]:
    """The detail `call` of an error: the operation to call instead."""
    if is_flat():
        return {"tool": flat_name(tool, action)}
    return {"tool": tool, "action": action} if action else {"tool": tool}


_flat: ContextVar[bool] = ContextVar("flat", default=False)
_address_of: ContextVar[Callable[[str], str] | None] = ContextVar("address_of", default=None)
_offered: ContextVar[Collection[str] | None] = ContextVar("offered", default=None)
