"""Invalid calls of the decision tool over MCP: each gets a helpful error and changes no row."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pytest import Subtests  # noqa: PT013  # A name for a type.

from ctxhub.core.kit.listing import make_cursor
from ctxhub.toolbox.actions import Action, all_tools
from tests.hub import McpClient
from tests.tables import dump_all

KEY = "api/auth/method"
CREDENTIAL = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
DEEP: Any = {"leaf": 1}
for _ in range(20):
    DEEP = {"deeper": DEEP}


@pytest.fixture
def agent(ben_mcp: McpClient) -> McpClient:
    """An agent with the scopes read and write, registered before: later calls need not update its row."""
    ben_mcp.call("decision", "set", key=KEY, value="JWT", tags=["api"], scopes=["src"], metadata={"a": 1})
    return ben_mcp


def assert_refused(agent: McpClient, subtests: Subtests, calls: Mapping[str, dict[str, Any]]) -> None:
    """Asserts that each call is `invalid` and changes nothing. The keys of `calls` name the problems."""
    before = dump_all()
    for problem, arguments in calls.items():
        with subtests.test(problem):
            result = agent.result("decision", arguments)
            body = json.loads(result["content"][0]["text"])
            assert (body.get("error"), result.get("isError")) == ("invalid", True), body
            assert "Traceback" not in body["message"]
            assert len(body["message"]) < 500
            assert dump_all() == before


def set_(**arguments: Any) -> dict[str, Any]:
    return {"action": "set", "key": "k", "value": "x", **arguments}


def list_(**arguments: Any) -> dict[str, Any]:
    return {"action": "list", **arguments}


def batch(*items: Any, **arguments: Any) -> dict[str, Any]:
    return {"action": "set_batch", "items": list(items), **arguments}


# -- Actions and arguments -------------------------------------------------------------------------


def test_missing_and_unknown_arguments(agent: McpClient, subtests: Subtests) -> None:
    assert_refused(
        agent,
        subtests,
        {
            "no key": {"action": "set", "value": "x"},
            "no value": {"action": "set", "key": "k"},
            "nothing": {"action": "set"},
            "a source's name": set_(decided_by="ada"),
            "an argument of another action": {"action": "get", "key": KEY, "limit": 5},
            "format where no list is": set_(format="objects"),
            "unknown action": {"action": "sett", "key": "k", "value": "x"},
            "a source's action": {"action": "set_decision", "key": "k", "value": "x"},
            "an action that is no text": {"action": 5},
            "no action that fits": {"reason": "x"},
        },
    )


def test_an_unknown_tool_names_the_nearest(agent: McpClient) -> None:
    before = dump_all()
    assert agent.call("decisions")["did_you_mean"] == "decision"
    assert agent.call("set_decision")["did_you_mean"] == "decision"
    assert agent.call("zzz")["error"] == "invalid"
    assert dump_all() == before


def test_an_error_suggests_the_right_call(agent: McpClient) -> None:
    assert agent.call("decision", "sett")["did_you_mean"] == "set"
    assert agent.call("decision", "set_decision")["did_you_mean"] == "set"
    assert agent.call("decision", "set", key="k")["missing"] == ["value"]
    assert agent.call("decision", "set", key="k", valeu="y")["did_you_mean"] == {"valeu": "value"}
    assert agent.call("decision", "list", decided_by="ada")["did_you_mean"] == {"decided_by": "by"}
    answer = agent.call("decision", "set", key="k", value="x", from_agent="ada")
    assert answer["hint"] == "Leave out from_agent: you speak as ben."
    assert agent.call("decision", reason="x")["allowed"] == ["deprecate"]


# -- Types: every argument of every action ---------------------------------------------------------

WRONG_VALUES: dict[str, list[Any]] = {
    "string": [[["a"]]],
    "integer": ["1.5"],
    "object": ["{broken", '["a"]'],
    "array": [[None], '["a"', '{"a": 1}', "[1]"],
}


def wrong_calls(action: Action) -> Iterator[tuple[str, dict[str, Any]]]:
    for argument in action.arguments.all:
        types = argument.accepted["type"]
        for value in [
            value for type_name in WRONG_VALUES if type_name in types for value in WRONG_VALUES[type_name]
        ]:
            if "items" in argument.accepted and is_accepted_as_list(argument.accepted["items"], value):
                continue
            if isinstance(types, list) and not isinstance(value, list):  # A text or a number.
                continue
            yield f"{action.call} {argument.name}={value!r}", {**action.example, argument.name: value}


def is_accepted_as_list(items: Mapping[str, Any], value: Any) -> bool:
    """A text that is not a JSON array is accepted as a list of one text."""
    if items == {}:
        return True
    type_name = items.get("type")
    is_text = type_name == "string" and isinstance(value, str) and value != "[1]"
    return is_text or (type_name == "integer" and value == "[1]")


def test_wrong_types(agent: McpClient, subtests: Subtests) -> None:
    before = dump_all()
    for tool in all_tools().values():
        for action in tool.actions.values():
            for problem, arguments in wrong_calls(action):
                if action.scope == "admin":
                    continue
                with subtests.test(problem):
                    named = {**arguments, "action": action.name} if action.name else arguments
                    assert agent.call(tool.name, **named).get("error") == "invalid"
    assert dump_all() == before


def test_wrong_values_of_agent_format_and_max_tokens(agent: McpClient, subtests: Subtests) -> None:
    assert_refused(
        agent,
        subtests,
        {
            "agent a number": list_(agent=5),
            "agent a list": list_(agent=["ben"]),
            "agent a NUL": list_(agent="b\x00n"),
            "format unknown": list_(format="table"),
            "format a number": list_(format=5),
            "max_tokens a word": list_(max_tokens="many"),
            "max_tokens none": list_(max_tokens=0),
            "max_tokens below none": list_(max_tokens=-5),
            "max_tokens true": list_(max_tokens=True),
            "max_tokens a list": list_(max_tokens=[1]),
        },
    )


# -- Texts -----------------------------------------------------------------------------------------


def test_texts_beyond_their_limits(agent: McpClient, subtests: Subtests) -> None:
    big = "x" * (64 * 1024 + 1)
    assert_refused(
        agent,
        subtests,
        {
            "a blank key": set_(key=" \t\n "),
            "an empty key": set_(key=""),
            "a key of 201 characters": set_(key="k" * 201),
            "a key of 201 characters, composed": set_(key="é" * 201),
            "a value of 64 KiB and a byte": set_(value=big),
            "a value of 64 KiB and a byte in UTF-8": set_(value="é" * (32 * 1024) + "x"),
            "a value of 5 MB": set_(value="x" * (5 * 1024 * 1024)),
            "a rationale": set_(rationale=big),
            "alternatives": set_(alternatives=[big]),
            "tradeoffs": set_(tradeoffs={"pros": [big]}),
            "metadata": set_(metadata={"a": big}),
            "a tag of 101 characters": set_(tags=["t" * 101]),
            "a scope of 101 characters": set_(scopes=["s" * 101]),
            "a path of 1,001 characters": set_(paths=["p" * 1_001]),
            "51 tags": set_(tags=[f"t{n}" for n in range(51)]),
            "51 scopes": set_(scopes=[f"s{n}" for n in range(51)]),
            "51 paths": set_(paths=[f"p{n}" for n in range(51)]),
            "a version of 51 characters": set_(version="1" * 51),
            "a blank version": set_(version=" "),
            "an agent of 101 characters": set_(agent="a" * 101),
            "a blank agent": set_(agent="  "),
            "a blank tag": set_(tags=["api", " "]),
            "a reason": {"action": "deprecate", "key": KEY, "reason": big},
            "a key to get": {"action": "get", "key": "k" * 201},
            "a key to look back on": {"action": "versions", "key": " "},
            "a scope to list": list_(scope="s" * 201),
        },
    )


def test_paths_that_leave_the_repository(agent: McpClient, subtests: Subtests) -> None:
    paths = ("/etc/passwd", "../up", "a/../../b", "C:\\windows", "..", "\\\\share\\x")
    assert_refused(agent, subtests, {path: set_(paths=[path]) for path in paths})


def test_texts_with_nul_or_lone_surrogates(agent: McpClient, subtests: Subtests) -> None:
    """Half of a surrogate pair gets through where a text contains JSON."""
    calls: dict[str, dict[str, Any]] = {}
    for label, nul in (("NUL", "a\x00b"), ("NUL, escaped in JSON", "a\\u0000b")):
        calls[f"{label} in a list"] = set_(tags=f'["{nul}"]' if "\\" in nul else [nul])
        calls[f"{label} in metadata"] = set_(metadata=f'{{"a":"{nul}"}}' if "\\" in nul else {"a": nul})
    for name in ("key", "value", "layer", "rationale", "version", "expected_version"):
        calls[f"NUL in {name}"] = set_(**{name: "a\x00b"})
    for name in ("tags", "scopes", "paths", "alternatives"):
        calls[f"NUL in {name}"] = set_(**{name: ["a\x00b"]})
        calls[f"half a pair in {name}"] = set_(**{name: '["\\ud800"]'})
    for name in ("metadata", "tradeoffs"):
        calls[f"NUL in a name in {name}"] = set_(**{name: {"a\x00b": []}})
        calls[f"half a pair in {name}"] = set_(**{name: '{"pros":["\\udfff"]}'})
        calls[f"half a pair in a name in {name}"] = set_(**{name: '{"\\ud800":[]}'})
    for name in ("layer", "scope", "by", "since", "until", "sort", "order", "match", "status", "cursor"):
        calls[f"NUL in list's {name}"] = list_(**{name: "a\x00b"})
    calls["half a pair in list's tags"] = list_(tags='["\\ud800"]')
    calls["half a pair in exclude_tags"] = list_(exclude_tags='["\\ud800"]')
    calls["half a pair in include"] = {"action": "get", "key": KEY, "include": '["\\ud800"]'}
    calls["half a pair in a batch"] = {"action": "set_batch", "items": '[{"key":"\\ud800","value":"x"}]'}
    calls["NUL in superseded_by"] = {"action": "deprecate", "key": KEY, "superseded_by": "a\x00b"}
    assert_refused(agent, subtests, calls)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get", {"refs": ["decision:a\x00b"]}),
        ("get", {"refs": '["decision:\\ud800"]'}),
        ("get", {"refs": '["\\ud800:x"]'}),
        ("get", {"refs": ["decision:" + "k" * 1_001]}),
        ("hub", {"action": "activity", "agents": ["a\x00b"]}),
        ("hub", {"action": "activity", "verbs": '["\\ud800"]'}),
        ("hub", {"action": "activity", "cursor": "a\x00b"}),
        ("hub", {"action": "updates", "since": "e\x00"}),
    ],
)
def test_other_tools_refuse_invalid_texts(agent: McpClient, tool: str, arguments: dict[str, Any]) -> None:
    before = dump_all()
    assert agent.result(tool, arguments)["isError"] is True
    assert agent.call(tool, **arguments)["error"] == "invalid"
    assert dump_all() == before


# -- JSON ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"[]",
        b"5",
        b'{"jsonrpc":"2.0","id":1}',
        b'{"id":1,"method":"ping"}',
        b"\xff\xfe{",
    ],
)
def test_a_malformed_json_rpc_message_is_refused(agent: McpClient, body: bytes) -> None:
    before = dump_all()
    assert 400 <= agent.send("POST", "/mcp", body).status < 500
    assert dump_all() == before


def raw_set(value: bytes, metadata: bytes = b"{}") -> bytes:
    return (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"decision","arguments":'
        b'{"action":"set","key":"k","value":' + value + b',"metadata":' + metadata + b"}}}"
    )


@pytest.mark.parametrize(
    "body",
    [
        raw_set(b'"\\ud800"'),
        raw_set(b'"\\udc00\\ud800"'),
        raw_set(b'"\xff"'),
        raw_set(b"NaN"),
        raw_set(b"Infinity"),
        raw_set(b"-Infinity"),
        raw_set(b"1e400"),
        raw_set(b"1" + b"0" * 400),
        raw_set(b"1" + b"0" * 5_000),
        raw_set(b"true"),
        raw_set(b'"x"', b'{"a":NaN}'),
        raw_set(b'"x"', b'{"a":1e400}'),
        raw_set(b'"x"', b'{"a":1' + b"0" * 5_000 + b"}"),
        raw_set(b'"x"', b'{"a":' * 21 + b"1" + b"}" * 21),
        raw_set(b'"x"', b'{"a":' * 5_000 + b"1" + b"}" * 5_000),
        raw_set(b'"x"', b'"' + b'{\\"a\\":' * 5_000 + b'"'),
    ],
)
def test_invalid_numbers_texts_and_nesting_in_json_are_refused(agent: McpClient, body: bytes) -> None:
    before = dump_all()
    reply = agent.send("POST", "/mcp", body)
    assert reply.status == 400 or reply.body["result"]["isError"] is True
    assert "internal" not in str(reply.body)
    assert dump_all() == before


def test_a_body_over_5_mb_is_refused(agent: McpClient) -> None:
    before = dump_all()
    assert agent.send("POST", "/mcp", raw_set(b'"' + b"x" * (6 * 1024 * 1024) + b'"')).status == 413
    assert dump_all() == before


# -- Values, options, times, pages -----------------------------------------------------------------


def test_values_and_objects_of_the_wrong_type(agent: McpClient, subtests: Subtests) -> None:
    assert_refused(
        agent,
        subtests,
        {
            "too many digits": set_(value=10**300),
            "metadata 21 levels deep": set_(metadata=DEEP),
            "an alternative that is a number": set_(alternatives=[5]),
            "an alternative without an option": set_(alternatives=[{"why_not": "x"}]),
            "tradeoffs with another name": set_(tradeoffs={"risks": ["x"]}),
            "tradeoffs that are numbers": set_(tradeoffs={"pros": [1]}),
        },
    )


def test_unknown_layers_statuses_and_options(agent: McpClient, subtests: Subtests) -> None:
    assert_refused(
        agent,
        subtests,
        {
            "layer": set_(layer="nowhere"),
            "status": set_(status="done"),
            "status, a number": set_(status=4),
            "status for any": set_(status="any"),
            "list layer": list_(layer="nowhere"),
            "list status": list_(status="done"),
            "list sort": list_(sort="age"),
            "list order": list_(order="up"),
            "list match": list_(match="some"),
            "include": {"action": "get", "key": KEY, "include": ["everything"]},
        },
    )


def test_invalid_limits_cursors_and_times(agent: McpClient, subtests: Subtests) -> None:
    cursors = [
        "nonsense",
        make_cursor(1),
        make_cursor("key", "k", 1),
        make_cursor("updated", "someday", 1),
        make_cursor("updated", "2026-11-21T12:00:00+00:00", 10**30),
        make_cursor("updated", 5, 1),
        make_cursor("updated", "2026-11-21T12:00:00+00:00", "1"),
    ]
    times = [
        "someday",
        "5 fortnights",
        "2026-13-01",
        "e",
        "e-1",
        "-5m",
        "999999w",
        "0000-00-00",
        "12:00",
        "²d",
    ]
    assert_refused(
        agent,
        subtests,
        {
            **{f"limit {limit!r}": list_(limit=limit) for limit in (0, -1, 201, 10**30)},
            **{f"cursor {cursor}": list_(cursor=cursor) for cursor in cursors},
            **{f"since {since}": list_(since=since) for since in times},
            **{f"until {until}": list_(until=until) for until in times},
        },
    )


# -- Batches ---------------------------------------------------------------------------------------

GOOD = {"key": "good", "value": "x"}


def test_invalid_batches(agent: McpClient, subtests: Subtests) -> None:
    assert_refused(
        agent,
        subtests,
        {
            "51 items": batch(*({"key": f"k{n}", "value": n} for n in range(51))),
            "51 items, not atomic": batch(*({"key": f"k{n}", "value": n} for n in range(51)), atomic=False),
            "no key": batch(GOOD, {"value": "x"}),
            "no value": batch(GOOD, {"key": "k"}),
            "an unknown layer": batch(GOOD, {**GOOD, "layer": "nowhere"}),
            "an item that is a text": batch(GOOD, "k=x"),
            "an item that is null": batch(GOOD, None),
            "no items": {"action": "set_batch"},
            "a batch in a batch": batch(GOOD, {"action": "set_batch", "items": [GOOD]}),
        },
    )


def test_a_batch_gives_the_index_of_the_invalid_item(agent: McpClient) -> None:
    answer = agent.call("decision", **batch(GOOD, {**GOOD, "layer": "nowhere"}))
    assert (answer["error"], answer["index"]) == ("invalid", 1)
    assert "infrastructure" in answer["allowed"]


def test_a_batch_that_is_not_atomic_writes_the_valid_items(agent: McpClient) -> None:
    answer = agent.call("decision", **batch(GOOD, {"key": "bad"}, {"key": "more", "value": 1}, atomic=False))
    assert (answer["done"], answer["failed"]) == (2, 1)
    assert [item.get("result", item.get("error")) for item in answer["results"]] == [
        "created",
        "invalid",
        "created",
    ]
    assert {row["key"] for row in agent.rows("decision", "list")} == {KEY, "good", "more"}


# -- Credentials -----------------------------------------------------------------------------------

WITH_CREDENTIAL: dict[str, dict[str, Any]] = {
    "key": set_(key=CREDENTIAL),
    "value": set_(value=f"use {CREDENTIAL}"),
    "rationale": set_(rationale=CREDENTIAL),
    "alternatives": set_(alternatives=[{"option": "x", "why_not": CREDENTIAL}]),
    "tradeoffs": set_(tradeoffs={"cons": [CREDENTIAL]}),
    "metadata": set_(metadata={"deep": [{"token": CREDENTIAL}]}),
    "a name in metadata": set_(metadata={CREDENTIAL: 1}),
    "tags": set_(tags=["api", CREDENTIAL]),
    "scopes": set_(scopes=[CREDENTIAL]),
    "paths": set_(paths=[f"src/{CREDENTIAL}"]),
    "version": set_(version=CREDENTIAL),
    "a batch": batch(GOOD, {"key": "k", "value": CREDENTIAL}),
    "quick_set": {"action": "quick_set", "key": "k", "value": CREDENTIAL},
    "a reason": {"action": "deprecate", "key": KEY, "reason": CREDENTIAL},
}


def test_a_credential_is_refused_in_every_field(agent: McpClient, subtests: Subtests) -> None:
    assert_refused(agent, subtests, WITH_CREDENTIAL)
    assert CREDENTIAL not in str([agent.call("decision", **call) for call in WITH_CREDENTIAL.values()])


@pytest.mark.parametrize("field", WITH_CREDENTIAL)
def test_an_administrator_may_store_a_credential(agent: McpClient, ada_mcp: McpClient, field: str) -> None:
    stored = ada_mcp.call("decision", **WITH_CREDENTIAL[field], allow_secret=True)
    assert stored["allow_secret"].startswith("Stored although it looks like a credential")


def test_a_key_with_a_credential_can_be_read_and_deprecated(agent: McpClient, ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key=CREDENTIAL, value="x", allow_secret=True)
    assert agent.call("decision", "get", key=CREDENTIAL)["found"] is True
    assert agent.call("decision", "deprecate", key=CREDENTIAL)["status"] == "deprecated"


def test_a_value_is_a_credential_under_the_key_that_names_it(agent: McpClient) -> None:
    password = "Tr0ub4" + "dor3"
    refused = agent.call("decision", "set", key="staging/db_password", value=password)
    assert refused["error"] == "invalid"
    assert password not in str(refused)
    assert agent.call("decision", "set", key="staging/db_user", value=password)["result"] == "created"
    assert agent.call("decision", "set", key="auth/password", value="argon2id")["result"] == "created"
