"""The names of operations in messages: tool and action, or one name if tools are flat (`memory_search`).

REST and MCP set this for each call, so that messages written anywhere use the caller's names.
"""

from collections.abc import Collection, Iterator
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


def is_flat() -> bool:
    return _flat.get()


def is_offered(tool: str) -> bool:
    offered = _offered.get()
    return offered is None or tool in offered


def flat_name(tool: str, action: str) -> str:
    """`memory_search`; the tool's name if it has only one operation."""
    return f"{tool}_{action}" if action else tool


def operation(name: str) -> str:
    """The name of an operation for a hint: `memory search`, or `memory_search` if tools are flat."""
    return name.replace(" ", "_") if is_flat() else name


def call_of(tool: str, action: str) -> dict[str, str]:
    """The detail `call` of an error: the operation to call instead."""
    if is_flat():
        return {"tool": flat_name(tool, action)}
    return {"tool": tool, "action": action} if action else {"tool": tool}


_flat: ContextVar[bool] = ContextVar("flat", default=False)
_offered: ContextVar[Collection[str] | None] = ContextVar("offered", default=None)
