"""Resources: what is listed, read and not found, as calls of the tools that answer them."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.background import When
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.registry import all_nouns
from ctxhub.core.use.queries import list_use
from ctxhub.core.use.tally import WRITER as USE
from ctxhub.mcp.json_rpc import RpcError
from ctxhub.mcp.offers.resources import MOST_CHARACTERS
from ctxhub.mcp.offers.uris import read_uri, uri_of
from ctxhub.mcp.requests import Surface
from ctxhub.toolbox import dispatch
from ctxhub.toolbox.dispatch import call
from memory.models import Relationship
from memory.snapshots import reads
from messaging.models import Delivery
from sessions.given.models import Briefing
from sessions.given.services import WRITER as GIVEN
from tests.core.test_nulls import create_one_of_each
from tests.hub import McpClient
from tests.mcp.everywhere import Everywhere, asked, headers_of
from tests.mcp.transcript import META, MODERN, request
from tests.sessions.given import KEY, decide, items, vias

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]

NOT_FOUND = (-32002, -32602)


def read(caller: Caller, uri: str, **params: Any) -> dict[str, Any]:
    """The body of a resource, which is JSON."""
    [content] = asked(caller, "resources/read", uri=uri, **params)["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, "application/json")
    body: dict[str, Any] = json.loads(content["text"])
    return body


def refused(caller: Caller, uri: str, **params: Any) -> RpcError:
    with pytest.raises(RpcError) as raised:
        asked(caller, "resources/read", uri=uri, **params)
    return raised.value


# -- Lists -----------------------------------------------------------------------------------------


def test_the_lists_are_the_same_everywhere(everywhere: Everywhere) -> None:
    listed = everywhere.result("resources/list")["resources"]
    assert [each["uri"] for each in listed] == ["ctxhub://brief", "ctxhub://layers", "ctxhub://inbox/ada"]
    templates = everywhere.result("resources/templates/list")["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == [
        "ctxhub://decision/{+key}",
        "ctxhub://{kind}/{id}",
        "ctxhub://inbox/{agent}",
    ]
    assert all(each["title"] and each["mimeType"] == "application/json" for each in [*listed, *templates])


def test_lists_of_the_later_era_may_be_kept_by_who_asked(everywhere: Everywhere) -> None:
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        later = everywhere.ask(method)[MODERN]["result"]
        assert (later["ttlMs"], later["cacheScope"]) == (60_000, "private")
    later = everywhere.ask("resources/read", uri="ctxhub://layers")[MODERN]["result"]
    assert (later["ttlMs"], later["cacheScope"]) == (0, "private")


def test_an_agent_whose_name_needs_it_is_encoded(apollo: Project) -> None:
    eve = Caller(apollo, "eve & co/2")
    uri = asked(eve, "resources/list")["resources"][-1]["uri"]
    assert uri == "ctxhub://inbox/eve%20%26%20co%2F2"
    assert read(eve, uri)["count"] == 0


@pytest.mark.parametrize(
    ("surface", "uris", "templates"),
    [
        (Surface(profile="core"), ["brief", "inbox"], 3),
        (Surface(only=("decision",)), [], 0),
        (Surface(only=("message", "get")), ["inbox"], 3),
        (Surface(only=("hub",), surface="flat"), ["layers"], 0),
    ],
)
def test_a_connection_is_offered_what_its_tools_answer(
    ada: Caller, surface: Surface, uris: list[str], templates: int
) -> None:
    listed = asked(ada, "resources/list", surface)["resources"]
    assert [each["name"] for each in listed] == uris
    assert len(asked(ada, "resources/templates/list", surface)["resourceTemplates"]) == templates


def test_what_a_connection_is_not_offered_is_not_found(ada: Caller) -> None:
    decide(ada)
    for uri in ("ctxhub://layers", f"ctxhub://decision/{KEY}"):
        with pytest.raises(
            RpcError, match=r"This connection offers no ctxhub://\w+\. It offers .*inbox"
        ) as raised:
            asked(ada, "resources/read", Surface(only=("message",)), uri=uri)
        assert raised.value.code == -32002


def test_who_may_not_read_is_told_so(apollo: Project) -> None:
    writer = Caller(apollo, "ada", scopes=frozenset({"write"}))
    assert asked(writer, "resources/list")["resources"] == []
    assert asked(writer, "resources/templates/list")["resourceTemplates"] == []
    for uri in ("ctxhub://brief", "ctxhub://decision/k", "ctxhub://inbox/ada", "ctxhub://layers"):
        error = refused(writer, uri)
        assert (error.code, error.data["error"]) == (-32600, "not_allowed")
        assert "needs the scope 'read'" in error.message


# -- Reading ---------------------------------------------------------------------------------------


def test_every_kind_that_opens_is_read_as_get_opens_it(everywhere: Everywhere, ben: Caller) -> None:
    ada = everywhere.caller
    made = create_one_of_each(ada, ben)
    names = {
        **{kind: made[kind] for kind in ("constraint", "memory", "message", "lease", "session")},
        "decision": "k",
        "template": "incident",
        "context": "shop",
        "workflow": made["workflow"],
        "scratchpad": made["pad"],
        "snapshot": made["cause"],
        "resource": "src/a.py",
        "change": call(ada, "file", {"action": "changes"})["rows"][0][0],
        "relationship": Relationship.objects.in_project(ada.project).get().pk,
    }
    assert names.keys() == {noun.kind for noun in all_nouns() if noun.open}
    reads._WRITER.when = When.ON_FLUSH  # Each reading of a snapshot is counted in it.
    for kind, name in names.items():
        found = everywhere.result("resources/read", uri=uri_of(f"{kind}:{name}"))
        body = json.loads(found["contents"][0]["text"])
        assert body == call(ada, "get", {"refs": [f"{kind}:{name}"]})
        assert body["items"][0]["ref"] == f"{kind}:{name}"


@pytest.mark.parametrize(
    "key", ["a", "a/b/c", "déjà/vu", "50%", "a%2Fb", "a b", "?x=1#y", "日本/鍵", "a:b@c"]
)
def test_a_key_is_read_by_its_uri_however_it_is_encoded(everywhere: Everywhere, key: str) -> None:
    decide(everywhere.caller, key=key)
    for uri in (uri_of(f"decision:{key}"), f"ctxhub://decision/{quote(key, safe='')}"):
        [content] = everywhere.result("resources/read", uri=uri)["contents"]
        assert json.loads(content["text"])["items"][0]["key"] == key


@pytest.mark.parametrize("uri", ["CTXHUB://Decision/a/b", "ctxhub://decision/a%2fb"])
def test_a_uri_is_read_as_clients_write_it(ada: Caller, uri: str) -> None:
    decide(ada, key="a/b")
    assert read(ada, uri)["items"][0]["key"] == "a/b"


def test_the_brief_the_layers_and_the_inbox_are_what_the_tools_answer(
    everywhere: Everywhere, ada: Caller, ben: Caller
) -> None:
    decide(ben, layer="data")
    call(ben, "message", {"text": "Look.", "to": ["ada"], "priority": "high"})
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "ctxhub://brief": ("brief", {}),
        "ctxhub://layers": ("hub", {"action": "layer_summary"}),
        "ctxhub://layers/": ("hub", {"action": "layer_summary"}),
        "ctxhub://inbox/ada": ("message", {"action": "inbox"}),
    }
    for uri, (tool, arguments) in calls.items():
        found = everywhere.result("resources/read", uri=uri)
        assert json.loads(found["contents"][0]["text"]) == call(ada, tool, arguments)
    assert read(ada, "ctxhub://inbox/ada")["count"] == 1
    assert not Delivery.objects.in_project(ada.project).filter(read_at__isnull=False).exists()


def test_the_tokens_of_a_resource_are_told_and_its_texts_are_cut_as_by_get(ada: Caller) -> None:
    memory = call(ada, "memory", {"title": "Long", "content": "one two three\n" * 20_000})["id"]
    result = asked(ada, "resources/read", uri=f"ctxhub://memory/{memory}")
    assert 15_000 < result["_meta"]["ctxhub/tokens"] <= 20_000
    body = json.loads(result["contents"][0]["text"])
    assert body["truncated"] is True
    assert body["total_lines"] == 20_000


# -- As a call -------------------------------------------------------------------------------------


def test_reading_counts_as_given(ada: Caller) -> None:
    decide(ada)
    read(ada, f"ctxhub://decision/{KEY}")
    read(ada, "ctxhub://brief")
    GIVEN.flush()
    assert vias(ada) == ["get", "brief"]
    assert ("decision", "1.0.0", "") in items(ada)


def test_reading_is_counted_as_a_call(ada: Caller) -> None:
    tokens = asked(ada, "resources/read", uri="ctxhub://layers")["_meta"]["ctxhub/tokens"]
    with pytest.raises(RpcError):
        asked(ada, "resources/read", uri="ctxhub://decision/%00")
    assert USE.flush()
    found = {row["operation"]: row for row in list_use(ada.project_id, by=["operation"]).objects()}
    assert found["hub.layer_summary"]["calls"] == 1
    assert found["hub.layer_summary"]["tokens"] == tokens
    assert (found["get"]["calls"], found["get"]["errors"]) == (1, 1)


def test_reading_belongs_to_the_session_that_meta_names(ada: Caller) -> None:
    decide(ada)
    read(ada, f"ctxhub://decision/{KEY}", _meta={"ctxhub/session": "evening"})
    GIVEN.flush()
    assert Briefing.objects.in_project(ada.project).get().session_name == "evening"
    error = refused(ada, "ctxhub://layers", _meta={"ctxhub/session": ["evening"]})
    assert (error.code, error.data["error"]) == (-32602, "invalid")


def test_queries_do_not_grow_with_what_is_there(ada: Caller) -> None:
    def count(uri: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            read(ada, uri)
        return len(queries)

    uris = ("ctxhub://decision/k0", "ctxhub://layers", "ctxhub://inbox/ada")
    decide(ada, key="k0")
    few = [count(uri) for uri in (*uris, *uris)][len(uris) :]
    items = [{"key": f"k{n}", "value": "x", "layer": "data"} for n in range(50)]
    call(ada, "decision", {"action": "set_batch", "items": items})
    assert [count(uri) for uri in uris] == few
    assert max(few) <= 8


def test_another_agents_inbox_is_read_as_that_agent_or_not_at_all(
    ada: Caller, ben: Caller, apollo: Project
) -> None:
    call(ada, "message", {"text": "For ben.", "to": ["ben"]})
    assert read(ada, "ctxhub://inbox/ben")["count"] == 1
    error = refused(Caller(apollo, "ada", pinned=True), "ctxhub://inbox/ben")
    assert (error.code, error.data["error"]) == (-32600, "not_allowed")
    assert error.message.endswith("Yours is ctxhub://inbox/ada.")
    assert "For ben" not in json.dumps(error.data)
    assert read(Caller(apollo, "ada", pinned=True), "ctxhub://inbox/ADA")["count"] == 0


# -- What is not there -----------------------------------------------------------------------------


def test_what_is_not_there_has_the_error_of_the_era(everywhere: Everywhere, cy: Caller) -> None:
    ada = everywhere.caller
    decide(cy, key="secret/of/hermes")
    decide(ada)
    gone = call(ada, "memory", {"title": "Gone", "content": "Gone."})["id"]
    call(ada, "delete", {"refs": [f"memory:{gone}"]})
    for uri in (
        "ctxhub://decision/secret/of/hermes",
        "ctxhub://decision/nothing",
        f"ctxhub://memory/{gone}",
        "ctxhub://memory/abc",
        "ctxhub://session/0",
    ):
        earlier, later, message = everywhere.error("resources/read", uri=uri)
        assert (earlier, later) == NOT_FOUND
        assert message.startswith(f"There is no {read_uri(uri).kind} ")
        assert "hermes" not in message.partition(".")[2]
        error = everywhere.ask("resources/read", uri=uri)[MODERN]["error"]
        assert (error["data"]["uri"], error["data"]["error"]) == (uri, "not_found")


def test_what_is_near_is_told(ada: Caller) -> None:
    decide(ada, key="api/auth/method")
    error = refused(ada, "ctxhub://decision/api/auth/metod")
    assert error.message.endswith("Near it: ctxhub://decision/api/auth/method.")
    assert error.data["near"] == ["ctxhub://decision/api/auth/method"]


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("", "is not a URI of this hub"),
        ("decision:k", "Write ctxhub://decision/KEY"),
        ("http://example.com/decision/k", "is not a URI of this hub"),
        ("ctxhub:decision/k", "is not a URI of this hub"),
        ("ctxhub://", "is not known; use one of: decision"),
        ("ctxhub://decisions/k", "Did you mean 'decision'?"),
        ("ctxhub://tag/api", "is not known; use one of: decision"),
        ("ctxhub://decision_revision/1", "is not known"),
        ("ctxhub://decision", "names nothing"),
        ("ctxhub://memory/%20", "names nothing"),
        ("ctxhub://decision/%ff", "is not in UTF-8"),
        ("ctxhub://decision/\ud800", "is not in UTF-8"),
        ("ctxhub://brief/me", "Write ctxhub://brief."),
        ("ctxhub://inbox", "Write ctxhub://inbox/AGENT."),
        ("ctxhub://inbox/", "Write ctxhub://inbox/AGENT."),
        ("ctxhub://decision/" + "a" * MOST_CHARACTERS, "at most 13,000 characters"),
    ],
)
def test_what_is_no_uri_of_the_hub_is_not_found_and_told_what_is(ada: Caller, uri: str, says: str) -> None:
    error = refused(ada, uri)
    assert error.code == -32002
    assert says in error.message
    assert len(error.data["uri"]) <= MOST_CHARACTERS


@pytest.mark.parametrize("name", ["%00", "a" * 1_001, "%E2%80%8B"])
def test_what_can_be_no_name_is_invalid(ada: Caller, name: str) -> None:
    error = refused(ada, f"ctxhub://decision/{name}")
    assert error.code in (-32602, -32002)
    assert error.message


def test_an_outage_is_a_status_over_http_and_an_error_over_stdio(
    ada: Caller, ada_mcp: McpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(dispatch, "call", fail)
    error = refused(ada, "ctxhub://brief")
    assert (error.code, error.data["error"]) == (-32603, "internal")
    assert "does not answer" in error.message
    message = request("resources/read", {"uri": "ctxhub://brief", "_meta": META})
    reply = ada_mcp.send("POST", "/mcp", message, headers_of(message, MODERN))
    assert (reply.status, reply.body["error"]["code"], reply.headers["retry-after"]) == (503, -32603, "5")
