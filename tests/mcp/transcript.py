"""Conversations in both eras of the protocol, right and wrong: what is sent, in which version."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

MODERN = "2026-07-28"
LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
INFO = {"name": "tests", "version": "1"}
VERSION, CAPABILITIES, CLIENT = (
    f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientCapabilities", "clientInfo")
)
META = {VERSION: MODERN, CLIENT: INFO, CAPABILITIES: {}}
Message = dict[str, Any]


@dataclass(frozen=True)
class Conversation:
    """The messages of one connection, all in the same version of the protocol.

    `crosses`: they depend on what came before them, which stateless HTTP does not know.
    """

    name: str
    version: str
    messages: Sequence[Message | str]
    crosses: bool = False


def request(method: Any, params: Any = ..., **other: Any) -> Message:
    return {"jsonrpc": "2.0", "id": next(_ids), "method": method, **_params(params), **other}


def notification(method: str, params: Any = ...) -> Message:
    return {"jsonrpc": "2.0", "method": method, **_params(params)}


def hello(version: Any = "2025-11-25", **params: Any) -> Message:
    offered = {"protocolVersion": version, "capabilities": {}, "clientInfo": INFO, **params}
    return request("initialize", {name: value for name, value in offered.items() if value is not ...})


def call(name: Any, arguments: Any = ..., **params: Any) -> Message:
    named = {"name": name} if arguments is ... else {"name": name, "arguments": arguments}
    return request("tools/call", {**named, **params})


def _params(params: Any) -> Message:
    return {} if params is ... else {"params": params}


_ids = count(1)

CALLS = [
    call("decision", {"action": "get", "key": "never-set"}),
    call("decision", {"action": "set", "key": "k"}),
    call("decision", {"action": "list"}),
    call("decision_list", {}),
    call("decision", {"action": "fly"}),
    call("decisions", {"action": "list"}),
    call("hub"),
    call("hub", None),
    call("hub", {"action": "wait", "wait_seconds": "soon"}),
    call("decision", {"action": "list"}, _meta={"ctxhub/request_id": 7}),
    call("decision", {"action": "list"}, _meta={"ctxhub/request_id": 7.5}),
    call("decision", {"action": "list"}, _meta={"ctxhub/session": ["evening"]}),
    call("decision", {"action": "list"}, _meta={"progressToken": "p", "other": {"deep": None}}),
]

WRONG_CALLS = [
    request("tools/call"),
    request("tools/call", None),
    request("tools/call", {}),
    call(None),
    call(7),
    call(["decision"]),
    call("decision", []),
    call("decision", "list"),
    call("decision", {}, _meta=None),
    call("decision", {}, _meta="x"),
    call("decision", {}, _meta=[]),
    call("decision", {}, _meta={"progressToken": []}),
    call("decision", {}, _meta={"progressToken": 1.5}),
    call("decision", {"action": "list"}, _meta={"progressToken": True}),
]

LISTS = [
    request("tools/list"),
    request("tools/list", {"cursor": None}),
    request("tools/list", {"cursor": "next"}),
    request("tools/list", {"cursor": 7}),
    request("tools/list", {"cursor": {}, "_meta": {}}),
]

ARGUMENT = {"name": "a", "value": ""}
OTHERS = [
    request("resources/list"),
    request("resources/list", {"cursor": 7}),
    request("resources/templates/list", {}),
    request("resources/read", {"uri": "ctxhub://decision/k"}),
    request("resources/read", {}),
    request("resources/subscribe", {"uri": "ctxhub://decision/k"}),
    request("resources/subscribe", {"uri": None}),
    request("resources/unsubscribe", {"uri": "ctxhub://decision/k"}),
    request("prompts/list"),
    request("prompts/get", {"name": "p", "arguments": {"a": "b"}}),
    request("prompts/get", {"name": "p", "arguments": {"a": 1}}),
    request("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": ARGUMENT}),
    request("completion/complete", {"ref": {"type": "ref/other", "name": "p"}, "argument": ARGUMENT}),
    request("logging/setLevel", {"level": "info"}),
    request("logging/setLevel", {"level": "loud"}),
    request("subscriptions/listen", {"notifications": {"toolsListChanged": "perhaps"}}),
    request("tasks/list"),
    request("server/discover", {}),
    request("no/such"),
    request("no/such", {"_meta": {"progressToken": []}}),
    request("", {}),
    request("ping"),
    request("ping", {"more": [1, None, {}]}),
    request("ping", {"_meta": 7}),
]

NO_REQUESTS = [
    request("ping", []),
    request("ping", "x"),
    request(7),
    request(None),
    request("ping", jsonrpc="1.0"),
    {"id": 9_001, "method": "ping"},
    {"jsonrpc": "2.0", "id": 9_002},
    {"jsonrpc": "2.0", "id": "text", "method": "ping"},
    {"jsonrpc": "2.0", "id": "", "method": "ping"},
    {"jsonrpc": "2.0", "id": 2**70, "method": "ping"},
    {"jsonrpc": "2.0", "id": -1, "method": "ping", "more": 1},
]

IGNORED = [
    notification("notifications/initialized"),
    notification("notifications/initialized", {"_meta": 7}),
    notification("notifications/cancelled", {"requestId": "never"}),
    notification("notifications/cancelled", {"requestId": [1]}),
    notification("notifications/progress", {"progressToken": 1, "progress": 1}),
    notification("notifications/roots/list_changed"),
    notification("notifications/no/such", {}),
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
]

# What is no id: an error, and no notification.
_BAD: list[Any] = [1.5, None, True, {}, [1]]
BAD_IDS: list[Message] = [{"jsonrpc": "2.0", "id": wrong, "method": "ping"} for wrong in _BAD]

PING = '{"jsonrpc":"2.0","id":7,"method":"ping"'
LINES = [
    "",
    "  ",
    "{nope",
    f"{PING}",
    f"{PING}}}}}",
    f"  {PING}}}  ",
    f"\N{ZERO WIDTH NO-BREAK SPACE}{PING}}}",
    f'{PING},"id":8}}',
    f'{PING},"params":{{"x":NaN,"y":-Infinity,"z":1e999}}}}',
    f'{PING},"params":{{"x":"\\ud800"}}}}',
    f'{PING},"params":{{"x":"\t"}}}}',
    f'{PING},"params":{{"x":"\\x"}}}}',
    f'{PING},"params":{{"x":01}}}}',
    f'{PING},"params":{{"x":{"9" * 100}}}}}',
    f'{PING},"params":{{"x":{"9" * 5_000}}}}}',
    f'{PING},"params":{{"x":{"[" * 150}{"]" * 150}}}}}',
    f'{PING},"params":{{"x":{"[" * 250}{"]" * 250}}}}}',
    f'{PING},"params":{{}},"result":{{}}}}',
    f"{PING.replace('ping', chr(0xE9))}}}",
    "[]",
    f"[{PING}}}]",
    *("7", '"x"', "null", "true", "{}", '{"jsonrpc":"2.0"}', '{"jsonrpc":2.0,"id":7,"method":"ping"}'),
    '{"jsonrpc":"2.0","id":7,"result":5}',
    '{"jsonrpc":"2.0","result":{}}',
    '{"jsonrpc":"2.0","id":null,"result":{}}',
    '{"jsonrpc":"2.0","id":7,"error":{"code":1}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
    '{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}',
    '{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":"x"}}',
    '{"jsonrpc":"2.0","id":9.5,"method":"ping","params":[]}',
]

HANDSHAKES = [
    hello("1999-01-01"),
    hello(MODERN),
    hello(capabilities={"roots": {"listChanged": True}, "experimental": {"x": {"y": 1}}, "other": 1}),
    hello(clientInfo={**INFO, "title": "Tests", "websiteUrl": "https://x", "icons": [{"src": "a"}]}),
    request("initialize"),
    request("initialize", {}),
    hello(...),
    hello(7),
    hello(None),
    hello(capabilities=...),
    hello(capabilities=[]),
    hello(capabilities={"roots": {"listChanged": "perhaps"}}),
    hello(capabilities={"experimental": {"x": 1}}),
    hello(clientInfo={"name": "tests"}),
    hello(clientInfo={"name": "tests", "version": 1}),
    hello(clientInfo={**INFO, "icons": [{}]}),
    hello(clientInfo=None),
    hello(_meta=7),
]

UNOPENED = [LISTS[0], LISTS[3], CALLS[0], WRONG_CALLS[0], *OTHERS[:2], *OTHERS[-5:], *IGNORED[2:]]
OTHER_ERA = [LISTS[0], CALLS[0], request("server/discover"), request("no/such"), request("ping"), hello()]


def modern(messages: Sequence[Message]) -> list[Message]:
    """The same requests with the `_meta` that each request of the later era carries."""
    return [_with_meta(message) for message in messages]


def _with_meta(message: Message) -> Message:
    params = message.get("params", {})
    if not isinstance(params, dict) or not isinstance(params.get("_meta", {}), dict):
        return message
    return {**message, "params": {**params, "_meta": {**META, **params.get("_meta", {})}}}


def envelopes() -> Iterator[Message]:
    """Right and wrong `_meta` of the later era."""
    wrongs: list[Message] = [
        {},
        {VERSION: MODERN},
        {CAPABILITIES: {}},
        {**META, VERSION: "2025-11-25"},
        {**META, VERSION: "2099-01-01"},
        {**META, VERSION: 7},
        {**META, VERSION: None},
        {**META, CAPABILITIES: None},
        {**META, CAPABILITIES: []},
        {**META, CAPABILITIES: {"roots": 7}},
        {**META, CAPABILITIES: {"experimental": {"x": 1}}},
        {**META, CLIENT: {"name": "tests"}},
        {**META, CLIENT: "tests"},
        {**META, "io.modelcontextprotocol/logLevel": "loud"},
    ]
    for wrong in wrongs:
        yield request("tools/list", {"_meta": wrong, "cursor": "next"})
        yield request("no/such", {"_meta": wrong})
    for right in (
        {VERSION: MODERN, CAPABILITIES: {"roots": {"any": 1}, "elicitation": {"form": {}}, "other": 7}},
        {**META, CLIENT: None, "io.modelcontextprotocol/logLevel": "info", "progressToken": 3},
    ):
        yield request("server/discover", {"_meta": right})
    yield request("server/discover")
    yield request("server/discover", {"_meta": "x"})


def _conversations() -> list[Conversation]:
    latest, *earlier = LEGACY_VERSIONS
    begun = [hello(latest), notification("notifications/initialized")]
    later = [request("server/discover", {"_meta": META})]
    methods = [*OTHERS, *NO_REQUESTS, *BAD_IDS, *IGNORED, request("ping")]
    return [
        Conversation("calls", latest, [*begun, *LISTS, *CALLS, *WRONG_CALLS]),
        Conversation("methods", latest, [*begun, *methods]),
        Conversation("handshakes", latest, [hello(latest), *HANDSHAKES]),
        *(Conversation(f"in {v}", v, [hello(v), *LISTS[:1], *OTHERS[-6:], *CALLS[:1]]) for v in earlier),
        Conversation("later calls", MODERN, [*later, *modern([*LISTS, *CALLS, *WRONG_CALLS])]),
        Conversation("later methods", MODERN, [*later, *modern([*OTHERS, *NO_REQUESTS]), *IGNORED, *later]),
        Conversation("envelopes", MODERN, [*later, *envelopes()]),
        Conversation("lines", latest, [*begun, *LINES], crosses=True),
        Conversation("before the handshake", latest, [*UNOPENED, *begun[1:], *LISTS[:1]], crosses=True),
        Conversation("the later era after a handshake", latest, [*begun, *modern(OTHER_ERA)], crosses=True),
        Conversation("a handshake in the later era", MODERN, [*later, *HANDSHAKES, *LISTS[:1]], crosses=True),
    ]


NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def headers_of(message: Message, version: str) -> dict[str, str] | None:
    """Those that a request needs over HTTP; None if none agree with it."""
    if version != MODERN:
        return {"mcp-protocol-version": version}
    params = message.get("params") or {}
    claimed = (
        (params.get("_meta") or {}).get(VERSION, version)
        if isinstance(params.get("_meta"), dict)
        else version
    )
    name = params.get(NAMED.get(message["method"], ""))
    if claimed != MODERN or not isinstance(name, str | None):
        return None
    named = {} if name is None else {"mcp-name": name}
    return {"mcp-protocol-version": claimed, "mcp-method": message["method"], **named}


CONVERSATIONS = _conversations()
