"""The prompt `handoff`: hands over a session, with what its agent holds and owes."""

from collections.abc import Mapping

from ctxhub.core.accounts.agents import find_agent_id
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.mcp.offers.prompt_texts import BACKGROUND, Filling, Row, line, section, text_of
from ctxhub.toolbox.instructions import Sentence

REQUESTS = 10


def text(filling: Filling, arguments: Mapping[str, str]) -> str:
    to = clean_agent(arguments["to"], "to") if "to" in arguments else ""
    leases = filling.rows("file", "leases", by=filling.agent)
    held = [
        section("session", _session(filling, arguments.get("session", ""))),
        section("leases that you hold", [_lease(row) for row in leases]),
        section("requests that you have claimed", _requests(filling, "claimed")),
        section("open requests to you", _requests(filling, "open")),
    ]
    return text_of(
        [
            f"Hand over what you are at to {to or 'whoever comes next'}.{_unknown(filling, to)}",
            BACKGROUND,
            *(held if any(held) else ["Nothing of yours yet."]),
            filling.steps(*_steps(to)),
        ]
    )


def _unknown(filling: Filling, to: str) -> str:
    if not to or find_agent_id(filling.project_id, to):
        return ""
    return " Nobody called so has been seen here: make sure of the name."


def _session(filling: Filling, named: str) -> list[str]:
    """The named one, else the last of the agent. Raises NotFound."""
    if named:
        return [_session_line(filling.ask("session", "get", session=named))]
    return [_session_line(row) for row in filling.rows("session", "list", by=filling.agent, limit=1)]


def _session_line(row: Row) -> str:
    return f"session:{row['session']}: {line(row['summary'] or 'not saved', row['workspace_id'], row['at'])}"


def _lease(row: Row) -> str:
    return f"lease:{row['lease_id']}: {line(row['paths'], row.get('reason'), 'until ' + row['expires'])}"


def _requests(filling: Filling, state: str) -> list[str]:
    found = filling.rows("message", "inbox", type="request", state=state, unread=False, limit=REQUESTS)
    return [f"message:{row['id']}: {line(row['text'], 'from ' + row['from'], row['at'])}" for row in found]


def _steps(to: str) -> tuple[Sentence, ...]:
    return (
        Sentence(
            "Save where you are: ",
            {"session save": "session save, whose summary says what is done, half done and next"},
        ),
        Sentence(
            "Record what you decided and what you learned: ",
            {"decision set": "decision set with the reason", "memory add": "memory add"},
        ),
        Sentence("Finish or return your requests: ", {"message done": "message done with what came of them"}),
        Sentence("Free your files: ", {"file release": "file release for what is no longer edited"}),
        Sentence(
            "Tell who goes on: ",
            {"message send": f"message send to {to or 'all'}, a request with the session's ref"},
        ),
        Sentence(
            "Tell your user the ref of the session: ",
            {"session restore": "the next window begins with session restore"},
        ),
    )
