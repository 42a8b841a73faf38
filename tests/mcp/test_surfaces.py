"""The tools of a connection: grouped or flat, all or core, by the caller's scopes, and their token costs."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import jsonschema_rs
import pytest
from jsonschema_rs import meta

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Project
from ctxhub.mcp.methods import answer
from ctxhub.mcp.requests import Request, Surface, Work
from ctxhub.mcp.subscriptions import Listening
from ctxhub.rest.takes import takes
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import as_text, call
from ctxhub.toolbox.tool_list import CORE, check_choice, find_call, list_tools
from ctxhub.toolbox.tool_order import ORDER
from tests.hub import LiveHub, McpClient
from tests.probe import probe_tool
from tests.tokens import o200k

pytestmark = pytest.mark.one_engine


def scoped(apollo: Project, *scopes: str) -> Caller:
    return Caller(project=apollo, agent="ada", scopes=frozenset(scopes))


def names(tools: Sequence[dict[str, Any]]) -> list[str]:
    return [tool["name"] for tool in tools]


def asked(caller: Caller, surface: Surface, method: str, **params: Any) -> dict[str, Any]:
    """The result of a request on a connection with this surface."""
    result = answer(Request(method, params, "2025-11-25", caller, surface))
    assert not isinstance(result, Listening)
    return result.run() if isinstance(result, Work) else result


def cost(tools: Sequence[dict[str, Any]]) -> int:
    """The tokens of name, description and input schema as compact JSON."""
    shown = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools]
    return o200k(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))


# -- Costs -----------------------------------------------------------------------------------------


def test_all_tools_cost_at_most_3450_tokens(ada: Caller) -> None:
    assert cost(list_tools(ada)) <= 3_450


def test_the_core_tools_cost_at_most_1250_tokens(ada: Caller) -> None:
    assert cost(list_tools(ada, profile="core")) <= 1_250


VALUE = (
    "Access tokens are signed JWTs that live for fifteen minutes; refresh tokens are opaque, stored hashed, "
    "rotated on every use and revoked as a family when an old one comes back. Services check the signature "
    "and the audience alone, and never call the identity provider on the path of a request."
)


def decide(ada: Caller, key: str) -> None:
    call(
        ada,
        "decision",
        {"action": "set", "key": key, "value": VALUE, "layer": "business", "tags": ["authentication", "api"]},
    )


def test_one_decision_costs_at_most_135_tokens(ada: Caller) -> None:
    assert 55 <= o200k(VALUE) <= 65
    decide(ada, "api/auth/method")
    answer = call(ada, "decision", {"action": "get", "key": "api/auth/method"})
    assert o200k(as_text(answer)) <= 135


def test_a_list_of_20_decisions_in_full_costs_at_most_2300_tokens(ada: Caller) -> None:
    for n in range(20):
        decide(ada, f"api/auth/method-{n}")
    answer = call(ada, "decision", {"action": "list", "full": True})
    assert answer["count"] == 20
    assert o200k(as_text(answer)) <= 2_300


# Seldom used; of these, those that exist.
QUIET = {
    "decision": "quick_set suggest analytics template_set templates from_template",
    "message": "send_batch thread status",
    "file": "record_batch check_lock renew leases",
    "scratchpad": "close_workflow revisions restore",
    "memory": "fuzzy similar grep context_get context_update suggest_context unrelate revisions restore",
    "snapshot": "tiers retier prune predict prefetch stats graph",
    "session": "accesses begin depend dependencies lineage",
    "hub": "layer_summary vocabulary view confirm trends clear config config_set",
}
QUIET = {tool: names for tool, names in QUIET.items() if tool in all_tools()}

# -- Schemas and descriptions ----------------------------------------------------------------------


def test_tools_are_listed_in_a_fixed_order(ada: Caller) -> None:
    assert names(list_tools(ada)) == [name for name in ORDER if name in all_tools()]
    assert set(all_tools()) <= set(ORDER)


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_schemas_are_lean_and_valid(ada: Caller, surface: str) -> None:
    for tool in list_tools(ada, surface=surface):
        for schema in (tool["inputSchema"], tool.get("outputSchema", {})):
            meta.validate(schema)
            assert not {"title", "default", "$ref", "$defs"} & set(keys_of(schema))


SURFACES = [("grouped", "all"), ("grouped", "core"), ("flat", "all"), ("flat", "core")]
TYPES = {"string", "integer", "number", "boolean", "array", "object"}


@pytest.mark.parametrize(("surface", "profile"), SURFACES)
def test_everything_in_a_schema_has_one_type(ada: Caller, surface: str, profile: str) -> None:
    """Clients that constrain their models by it know neither unions nor values of any type."""
    for tool in list_tools(ada, surface=surface, profile=profile):
        for place, schema in schemas_in(tool["inputSchema"], tool["name"]):
            assert schema.get("type") in TYPES, (place, schema)
            known = {"array": {"items"}, "object": {"properties", "required"}}.get(schema["type"], set())
            assert schema.keys() <= {"type", *known}, (place, schema)
            assert schema["type"] != "array" or "items" in schema, place
            assert set(schema.get("required", ())) <= set(schema.get("properties", ())), place
        assert tool["inputSchema"]["properties"]


def schemas_in(schema: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield place, schema
    if "items" in schema:
        yield from schemas_in(schema["items"], f"{place}[]")
    for name, inner in schema.get("properties", {}).items():
        yield from schemas_in(inner, f"{place}.{name}")


def keys_of(schema: Any) -> list[str]:
    """The JSON Schema keywords of the schema, without the names of properties."""
    if isinstance(schema, list):
        return [key for inner in schema for key in keys_of(inner)]
    if not isinstance(schema, dict):
        return []
    inner = [*schema.get("properties", {}).values(), *(v for k, v in schema.items() if k != "properties")]
    return [*schema, *(key for value in inner for key in keys_of(value))]


def test_every_argument_of_every_action_is_declared_unless_it_is_marked(ada: Caller) -> None:
    for tool in list_tools(ada):
        declared = set(tool["inputSchema"]["properties"])
        wanted = {
            argument.name
            for action in all_tools()[tool["name"]].actions.values()
            for argument in action.arguments.all
            if argument.is_declared
        }
        assert wanted | {"agent"} <= declared


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_an_undeclared_argument_is_taken_and_helped_but_not_listed(
    ada: Caller, probe: None, surface: str
) -> None:
    shown = list_tools(ada, surface=surface, only=["probe"])
    listed = json.dumps([{**tool, "outputSchema": None} for tool in shown])
    assert "text!" in listed
    assert "exact" not in listed
    assert call(ada, "probe", {"action": "weigh", "text": "x", "exact": "true"})["exact"] is True
    helped = call(ada, "probe", {"action": "help"})["actions"]["weigh"]["arguments"]
    assert helped == "text! exact=false"


def test_no_undeclared_argument_is_required() -> None:
    operations = [action for tool in all_tools().values() for action in tool.actions.values()]
    arguments = [argument for action in operations for argument in action.arguments.all]
    assert [argument.name for argument in arguments if argument.required and not argument.is_declared] == []


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_clients_that_validate_let_undeclared_arguments_through(ada: Caller, surface: str) -> None:
    for tool in list_tools(ada, surface=surface):
        assert "additionalProperties" not in tool["inputSchema"], tool["name"]
        schema = {**tool["inputSchema"], "required": []}
        assert jsonschema_rs.is_valid(schema, {"format": "objects", "exact": True}), tool["name"]


def test_openapi_shows_undeclared_arguments(probe: None) -> None:
    [shown] = [each for each in takes("probe", "weigh").parameters() if each["name"] == "exact"]
    assert shown["schema"] == {"type": "boolean"}


def test_a_description_carries_a_signature_for_each_action(ada: Caller) -> None:
    [decision] = list_tools(ada, only=["decision"])
    assert (
        "\nset key! value! layer tags[] scopes[] paths[] status=active|draft|deprecated"
        in decision["description"]
    )
    assert "tradeoffs{}" in decision["description"]
    usual = [action for action in all_tools()["decision"].actions.values() if not action.quiet]
    assert len(decision["description"].splitlines()) == 1 + len(usual) + 1


def test_words_and_shapes_that_a_line_before_has_are_not_repeated(ada: Caller) -> None:
    [decision] = list_tools(ada, only=["decision"])
    assert "\nlist status=…|any layer tags match exclude_tags[]" in decision["description"]


def test_words_left_to_help_are_not_in_the_description(ada: Caller) -> None:
    [decision] = list_tools(ada, only=["decision"])
    assert "desc|asc" not in decision["description"]
    assert "order=desc|asc" in call(ada, "decision", {"action": "help"})["actions"]["list"]["arguments"]


@pytest.mark.parametrize(("tool", "names"), QUIET.items())
def test_quiet_actions_are_named_in_one_line(ada: Caller, tool: str, names: str) -> None:
    [shown] = list_tools(ada, only=[tool])
    known = [name for name in all_tools()[tool].actions if name in names.split()]
    assert shown["description"].splitlines()[-1] == f"more, see help: {' '.join(known)}"
    assert [action.name for action in all_tools()[tool].actions.values() if action.quiet] == known


def test_no_other_action_is_quiet() -> None:
    assert {action.tool for action in ACTIONS if action.quiet} <= set(QUIET)


def test_a_reader_is_told_of_no_quiet_action_that_writes(apollo: Project) -> None:
    [shown] = list_tools(scoped(apollo, "read"), only=["scratchpad"])
    assert shown["description"].splitlines()[-1] == "more, see help: revisions"


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_the_format_of_a_list_is_taken_and_not_declared(ada: Caller, surface: str) -> None:
    for tool in list_tools(ada, surface=surface):
        assert "format" not in tool["inputSchema"]["properties"]
    decide(ada, "k")
    assert call(ada, "decision", {"action": "list", "format": "objects"})["items"][0]["key"] == "k"


def test_every_action_has_help(ada: Caller) -> None:
    for tool in all_tools().values():
        answer = call(ada, tool.name, {"action": "help"})
        assert set(answer["actions"]) == {action.name or tool.name for action in tool.actions.values()}
        assert all(entry["does"] and entry["example"] for entry in answer["actions"].values())


@pytest.mark.parametrize("name", ["quick_set", "quickSet", " QUICK-SET "])
def test_help_tells_of_one_action_by_name(ada: Caller, name: str) -> None:
    whole = call(ada, "decision", {"action": "help"})
    one = call(ada, "decision", {"action": "help", "name": name})
    assert one["actions"] == {"quick_set": whole["actions"]["quick_set"]}
    assert list(call(ada, "brief", {"action": "help", "name": "brief"})["actions"]) == ["brief"]


def test_help_of_an_unknown_name_suggests_one(ada: Caller, apollo: Project) -> None:
    with pytest.raises(InvalidInput) as raised:
        call(ada, "decision", {"action": "help", "name": "quick_sett"})
    assert raised.value.details["did_you_mean"] == "quick_set"
    with pytest.raises(NotAllowed):
        call(scoped(apollo, "read"), "decision", {"action": "help", "name": "set"})


def test_every_example_is_valid(ada: Caller) -> None:
    for tool in all_tools().values():
        for action in tool.actions.values():
            action.arguments.check(action.example, action.call)


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_what_every_session_needs_is_loaded_without_a_search(ada: Caller, surface: str) -> None:
    shown = list_tools(ada, surface=surface)
    loaded = [(tool["name"], tool["_meta"]) for tool in shown if "_meta" in tool]
    assert loaded == [(name, {"anthropic/alwaysLoad": True}) for name in ("brief", "check")]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_clients_of_every_era_are_told(ada_mcp: McpClient, version: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    reply = ada_mcp.send("POST", "/mcp", message, {"mcp-protocol-version": version})
    [brief, *_] = reply.body["result"]["tools"]
    assert brief["_meta"] == {"anthropic/alwaysLoad": True}


# -- Choices ---------------------------------------------------------------------------------------


def test_the_core_profile_has_the_core_tools(ada: Caller) -> None:
    assert names(list_tools(ada, profile="core")) == [name for name in CORE if name in all_tools()]


def test_tools_can_be_picked_by_name(ada: Caller) -> None:
    assert names(list_tools(ada, only=["hub", "get"])) == ["get", "hub"]


@pytest.mark.parametrize(("profile", "only"), [("small", ()), ("all", ("decisions",))])
def test_an_unknown_profile_or_tool_is_refused(profile: str, only: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput):
        check_choice(profile, only)


@pytest.mark.parametrize(
    ("surface", "shown"),
    [
        (Surface(profile="core"), [name for name in CORE if name in all_tools()]),
        (Surface(only=("hub", "get")), ["get", "hub"]),
        (
            Surface("flat", only=("hub",)),
            [f"hub_{name}" for name in all_tools()["hub"].actions],
        ),
    ],
)
def test_a_connection_sees_the_chosen_tools(ada: Caller, surface: Surface, shown: list[str]) -> None:
    listed = set(names(asked(ada, surface, "tools/list")["tools"]))
    assert set(shown) <= listed
    assert listed <= {*shown, "brief", "search", "check", "message"}


def test_flat_tools_are_called_by_their_own_names(ada: Caller) -> None:
    flat = names(list_tools(ada, surface="flat", only=["get", "decision"]))
    assert flat == ["get", *(f"decision_{name}" for name in all_tools()["decision"].actions)]
    assert find_call("decision_set", {"key": "k"}) == ("decision", {"key": "k", "action": "set"})
    assert find_call("get", {"refs": []}) == ("get", {"refs": []})


@pytest.mark.parametrize(
    ("chosen", "called"),
    [
        (Surface("flat", only=("get",)), "decision_set"),
        (Surface(only=("get",)), "decision"),
        (Surface(profile="core"), "hub"),
    ],
)
def test_a_tool_that_was_not_chosen_is_unknown(ada: Caller, chosen: Surface, called: str) -> None:
    arguments = {"key": "k", "value": "x"}
    result = asked(ada, chosen, "tools/call", name=called, arguments=arguments)
    body = json.loads(result["content"][0]["text"])
    assert body["message"] == f"There is no tool {called!r}."
    shown = list_tools(ada, surface=chosen.surface, profile=chosen.profile, only=chosen.only)
    assert body["allowed"] == names(shown)


# -- Rights ----------------------------------------------------------------------------------------

ACTIONS = [action for tool in all_tools().values() for action in tool.actions.values()]


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_a_reader_sees_no_action_that_writes(apollo: Project, surface: str) -> None:
    reader = scoped(apollo, "read")
    shown = list_tools(reader, surface=surface)
    assert all(
        tool["annotations"]["readOnlyHint"] and not tool["annotations"]["destructiveHint"] for tool in shown
    )
    text = json.dumps(shown)
    for action in ACTIONS:
        if not action.is_usable_by(reader) and surface == "flat":
            assert f'"{action.flat_name}"' not in text
        elif not action.is_usable_by(reader):
            assert f"\\n{action.name} " not in text


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (["read"], set()),
        (["read", "write"], {"delete"}),
        (["read", "write", "admin"], {"delete", "snapshot", "hub"}),
        (["admin"], {"delete", "snapshot", "hub"}),
    ],
)
def test_one_tool_deletes_and_two_clear_for_administrators(
    apollo: Project, scopes: list[str], expected: set[str]
) -> None:
    shown = list_tools(scoped(apollo, *scopes))
    assert {tool["name"] for tool in shown if tool["annotations"]["destructiveHint"]} == expected
    assert ("delete" in names(shown)) == ("delete" in expected)


def test_it_is_the_same_tool_on_both_surfaces(ada: Caller) -> None:
    flat = names(list_tools(ada, surface="flat"))
    assert [name for name in flat if "delete" in name] == ["delete"]
    assert flat[-1] == names(list_tools(ada))[-1] == "delete"


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.call)
def test_an_action_that_is_not_shown_cannot_be_called(apollo: Project, action: Any) -> None:
    for scopes in ((), ("read",), ("read", "write"), ("write",), ("admin",)):
        caller = scoped(apollo, *scopes)
        needed = action.scope_of(action.example)
        if needed not in scopes:
            with pytest.raises(NotAllowed, match=needed):
                call(
                    caller,
                    action.tool,
                    {**action.example, **({"action": action.name} if action.name else {})},
                )


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_hints_are_true(ada: Caller, surface: str) -> None:
    for tool in list_tools(ada, surface=surface):
        actions = [a for a in ACTIONS if tool["name"] in (a.tool, a.flat_name)]
        hints = tool["annotations"]
        assert hints["readOnlyHint"] is not any(a.writes for a in actions)
        assert hints["destructiveHint"] is any(a.destroys for a in actions)


def test_help_shows_what_the_caller_may_do(apollo: Project) -> None:
    answer = call(scoped(apollo, "read"), "decision", {"action": "help"})
    assert set(answer["actions"]) == {"get", "list", "versions", "suggest", "analytics", "templates"}


# -- Dry runs by default ---------------------------------------------------------------------------


@pytest.fixture
def probe() -> Iterator[None]:
    with probe_tool():
        yield


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_a_dry_run_by_default_is_listed_for_readers_as_read_only(
    apollo: Project, probe: None, surface: str
) -> None:
    shown = list_tools(scoped(apollo, "read"), surface=surface, only=["probe"])
    assert "sweep" in json.dumps(shown)
    hints = [tool["annotations"] for tool in shown]
    assert all(hint["readOnlyHint"] and hint["idempotentHint"] for hint in hints)
    assert not any(hint["destructiveHint"] for hint in hints)
    assert "sweep" in call(scoped(apollo, "read"), "probe", {"action": "help"})["actions"]


def test_for_an_administrator_it_is_destructive(ada: Caller, probe: None) -> None:
    [shown] = list_tools(ada, only=["probe"])
    assert (shown["annotations"]["readOnlyHint"], shown["annotations"]["destructiveHint"]) == (False, True)


@pytest.mark.parametrize("said", [{}, {"dry_run": None}, {"dry_run": True}, {"dry_run": "True"}])
def test_a_dry_run_by_default_needs_read_alone(apollo: Project, probe: None, said: dict[str, Any]) -> None:
    assert call(scoped(apollo, "read"), "probe", {"action": "sweep", **said}) == {"dry_run": True}


@pytest.mark.parametrize("said", [False, "false", 0, "no"])
def test_what_is_no_dry_run_needs_the_scope(apollo: Project, probe: None, said: Any) -> None:
    with pytest.raises(NotAllowed, match="admin"):
        call(scoped(apollo, "read", "write"), "probe", {"action": "sweep", "dry_run": said})


def test_a_dry_run_over_rest_needs_read_alone(hub: LiveHub, apollo: Project, probe: None) -> None:
    reader = hub.rest(create_token(project=apollo, scopes=["read"]).secret)
    assert reader.post("call/probe/sweep/", {}).body == {"dry_run": True}
    assert reader.post("call/probe/sweep/", {"dry_run": False}).status == 403


def test_a_reader_token_sees_the_same_tools_and_cannot_write(
    hub: LiveHub, apollo: Project, ada_mcp: McpClient
) -> None:
    reader = hub.mcp(create_token(project=apollo, agent="eve", scopes=["read"]).secret)
    assert [*names(reader.tools()), "delete"] == names(ada_mcp.tools())
    assert reader.call("decision", "set", key="k", value="x")["error"] == "not_allowed"
    assert reader.call("delete", refs=["decision:k"])["error"] == "not_allowed"
    assert reader.call("decision_set", key="k", value="x")["error"] == "not_allowed"
    assert reader.call("decision", "list")["count"] == 0
