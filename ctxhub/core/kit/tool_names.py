"""How operations are named to a caller: by tool and action, or as one tool where the surface is flat.

The face says it once for each call, so that the message of an error is right wherever it is written.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


@contextmanager
def naming_tools(*, flat: bool, offered: Collection[str] | None = None) -> Iterator[None]:
    """Within it, messages name operations as this surface does, and of tools only those it offers (all)."""
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
    """`memory_search`; the tool's own name where it has one operation."""
    return f"{tool}_{action}" if action else tool


def operation(said: str) -> str:
    """`memory search`, or `memory_search`: for a hint that sends a caller there."""
    return said.replace(" ", "_") if is_flat() else said


def call_of(tool: str, action: str) -> dict[str, str]:
    """The error's `call`: what to call instead."""
    if is_flat():
        return {"tool": flat_name(tool, action)}
    return {"tool": tool, "action": action} if action else {"tool": tool}


_flat: ContextVar[bool] = ContextVar("flat", default=False)
_offered: ContextVar[Collection[str] | None] = ContextVar("offered", default=None)
