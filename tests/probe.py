"""A tool for tests alone: it tells what a call's caller is, and takes a dry run by default."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from typing_extensions import TypedDict

from ctxhub.core.kit.caller import READ, Caller
from ctxhub.toolbox import actions, tool_list
from ctxhub.toolbox.argument_types import UNDECLARED, Ref

PROBE = "probe"


class Told(TypedDict):
    session: str
    argument: str | None
    has_window: bool


class Weighed(TypedDict):
    text: str
    exact: bool


class Swept(TypedDict):
    dry_run: bool


def look(caller: Caller) -> Told:
    """Tell the session of the call."""
    return Told(session=caller.session, argument=None, has_window=caller.window is not None)


def take(caller: Caller, session: Ref | None = None) -> Told:
    """Tell the argument, and the session of the call without it."""
    return Told(session=caller.session, argument=session, has_window=caller.window is not None)


def weigh(caller: Caller, text: str, exact: Annotated[bool, UNDECLARED] = False) -> Weighed:
    """Tell what was said."""
    return Weighed(text=text, exact=exact)


def sweep(caller: Caller, dry_run: bool = True) -> Swept:
    """Remove what is old."""
    return Swept(dry_run=dry_run)


@contextmanager
def probe_tool() -> Iterator[None]:
    """Declares the tool `probe` with the actions look, write, take, weigh and sweep."""
    actions.tool(PROBE, "Tells about a call.", otherwise=[(set(), "look")])
    actions.action(PROBE, "look")(look)
    actions.action(PROBE, "write", writes=True)(look)
    actions.action(PROBE, "take", quiet=True)(take)
    actions.action(PROBE, "weigh")(weigh)
    actions.action(PROBE, "sweep", destroys=True, dry_scope=READ)(sweep)
    tool_list._flat_names.cache_clear()
    try:
        yield
    finally:
        del actions._tools[PROBE]
        tool_list._flat_names.cache_clear()
