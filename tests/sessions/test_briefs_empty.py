"""The brief of an empty hub says so, with the first call to make."""

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.tool_names import naming_tools
from ctxhub.core.models import Project
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import as_text, call
from memory.decisions.services import delete_decision, set_decision
from sessions.briefs.brief import EMPTY, FIRST_STEP, NOTE, NOTHING_NEW
from sessions.sittings.services import save_session
from tests.hub import LiveHub, McpClient, RestClient
from tests.sessions.briefs import brief

BEGIN = FIRST_STEP.format("decision set")


@pytest.mark.parametrize("arguments", [{}, {"task": "Add a login."}, {"budget_tokens": 60}], ids=str)
def test_it_names_the_first_call_over_mcp_and_rest(
    ada_mcp: McpClient, ada_rest: RestClient, arguments: dict[str, object]
) -> None:
    for answer in (ada_mcp.call("brief", **arguments), ada_rest.get("brief/", **arguments).body):
        assert (answer["note"], answer["sections"], answer["cursor"]) == (BEGIN, [], "e0")
        assert answer["tokens"] == count_tokens(as_text(answer)) <= 60


def test_its_text_is_the_sentence_and_the_cursor(ada_rest: RestClient) -> None:
    reply = ada_rest.get("brief/", format="text", budget_tokens=60)
    assert reply.body == f"{BEGIN}\n\n(ctxhub cursor e0)"
    assert count_tokens(reply.body) <= 60


def test_the_call_has_the_clients_name_and_room_in_the_smallest_budget(ada: Caller) -> None:
    with naming_tools(flat=True):
        answer = brief(ada, budget_tokens=60)
    assert "decision_set" in answer["note"]
    assert count_tokens(as_text(answer)) <= 60


def test_a_client_without_the_call_is_not_sent_to_it(ada: Caller) -> None:
    reader = Caller(project=ada.project, agent="rita", scopes=frozenset({READ}))
    with naming_tools(flat=False, offered=["brief", "search"]):
        assert brief(ada)["note"] == EMPTY
    assert brief(reader)["note"] == EMPTY


def test_agents_and_readers_alone_fill_no_hub(apollo: Project, hub: LiveHub, ada: Caller) -> None:
    call(ada, "hub", {"action": "stats"})
    rita = hub.rest(create_token(project=apollo, agent="rita", scopes=[READ]).secret)
    assert rita.get("brief/").body["note"] == EMPTY


def test_a_hub_with_something_is_not_empty(ada: Caller, ben: Caller) -> None:
    save_session(caller=ben, summary="Half done.")
    assert brief(ada, "Add a login.")["note"] == NOTE
    assert brief(ada, since="e1")["note"] == NOTHING_NEW


def test_a_hub_is_empty_again_after_the_last_thing_is_deleted(ada: Caller) -> None:
    set_decision(caller=ada, key="k", value="x")
    delete_decision(caller=ada, key="k")
    assert brief(ada)["note"] == BEGIN
