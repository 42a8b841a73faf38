"""The action of the tool `session` that tells the hub of a window."""

from typing import Annotated

from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import UNDECLARED, About, Ref
from sessions.accesses.tools import Session
from sessions.windows.beginning import BeginAnswer, begin_session


@action(
    "session",
    "begin",
    writes=True,
    idempotent=True,
    quiet=True,
    example={"session": "claude-9c", "continues": "claude-1a2b"},
    also_known_as=("start", "start_session", "begin_session"),
)
def begin(
    caller: Caller,
    session: Session | None = None,
    continues: Annotated[Ref, About("The session that the window had before."), UNDECLARED] | None = None,
) -> BeginAnswer:
    """Tell that a window works in a session; hooks and clients do so when it starts.

    `continues` passes what that session and its parts hold to this one (leases, claimed requests): from now
    on its name means this one, until a session begins under it again.
    """
    return begin_session(caller=caller, session=session, continues=continues)
