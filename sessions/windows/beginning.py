"""Begins a session, and hands over to it what the session held in whose window it goes on."""

from datetime import datetime

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.live_sessions import go_on, note_session
from ctxhub.core.call_sessions import clean_call_session, name_of_session
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.vocabulary.names import register_agent
from messaging.messages.requests import hand_over_claims
from tracking.leases.handing_over import hand_over_leases


class BeginAnswer(TypedDict):
    session: str
    leases: int
    claims: int


def begin_session(
    *, caller: Caller, session: str | int | None = None, continues: str | int | None = None
) -> BeginAnswer:
    """Note that a window works in a session from now on, under this very name.

    `continues`: the session of the same agent that the window had before: what it and its parts hold passes
    to this one, and from now on its name means this one, until a session begins under it again. Returns how
    many leases and claims passed. Raises InvalidInput for a call that names no session.
    """
    caller = caller.in_session(session)
    if not caller.session:
        raise InvalidInput(
            "begin names the session of a window, and the call has none.",
            hint='Say session: "claude-1a2b", or send the header Ctxhub-Session.',
            missing=["session"],
        )
    name = name_of_session(caller)
    old = "" if continues in (None, "") else _name_of(caller, continues)
    with write_transaction(caller.project_id):
        at = clock.now()
        agent_id = register_agent(caller, at)
        note_session(caller, at)
        go_on(caller, name, old if old != name else "", at)
        if not old or old == name:
            return BeginAnswer(session=name, leases=0, claims=0)
        return _hand_over(caller, agent_id, old, name, at)


def _name_of(caller: Caller, continues: str | int | None) -> str:
    return name_of_session(caller.in_session(clean_call_session(continues, "continues")))


def _hand_over(caller: Caller, agent_id: int, old: str, new: str, at: datetime) -> BeginAnswer:
    claims = hand_over_claims(caller.project_id, agent_id, old, new, at)
    leases = hand_over_leases(caller, agent_id, old, new, at)
    return BeginAnswer(session=new, leases=leases, claims=claims)
