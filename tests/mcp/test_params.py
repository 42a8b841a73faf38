"""The checks of params accept and refuse what the models of the SDK do."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_types import methods as sdk
from pydantic import ValidationError

from ctxhub.mcp.eras import HANDSHAKE_VERSIONS, LATER_VERSIONS
from ctxhub.mcp.methods import METHODS
from ctxhub.mcp.params import Check
from tests.mcp.transcript import CAPABILITIES, CLIENT, META

ICONS = [{"src": "a", "mimeType": "image/png", "sizes": ["1x1"], "theme": "dark"}]
INFO = {"name": "n", "version": "1", "title": "t", "description": "d", "websiteUrl": "u", "icons": ICONS}
OFFERED = {
    "roots": {"listChanged": True},
    "sampling": {"context": {}, "tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "experimental": {"x": {"y": 1}},
}
TASKS: dict[str, Any] = {
    "list": {},
    "cancel": {},
    "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
}
LEVEL = "io.modelcontextprotocol/logLevel"
LATER_META = {**META, CLIENT: INFO, CAPABILITIES: OFFERED, LEVEL: "info", "progressToken": 1}
NAMED = {"name": "n", "arguments": {"a": "b"}}
RIGHT: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {**OFFERED, "tasks": TASKS},
        "clientInfo": INFO,
    },
    "server/discover": {},
    "ping": {},
    "tools/list": {"cursor": "c"},
    "resources/list": {"cursor": "c"},
    "resources/templates/list": {"cursor": "c"},
    "prompts/list": {"cursor": "c"},
    "tools/call": {**NAMED, "task": {"ttl": 1}, "requestState": "s"},
    "resources/read": {"uri": "u", "requestState": "s"},
    "resources/subscribe": {"uri": "u"},
    "resources/unsubscribe": {"uri": "u"},
    "prompts/get": {**NAMED, "requestState": "s"},
    "completion/complete": {
        "ref": {"type": "ref/prompt", "name": "n", "title": "t", "uri": "u"},
        "argument": {"name": "n", "value": "v"},
        "context": {"arguments": {"a": "b"}},
    },
    "subscriptions/listen": {
        "notifications": {
            "promptsListChanged": True,
            "resourcesListChanged": True,
            "toolsListChanged": True,
            "resourceSubscriptions": ["u"],
        }
    },
    "logging/setLevel": {"level": "info"},
}
OTHERS: list[Any] = [
    None,
    "x",
    "",
    "1",
    "true",
    0,
    1,
    7,
    1.0,
    1.5,
    True,
    [],
    ["x"],
    [1],
    {},
    {"x": 1},
    {"x": {}},
]
OTHERS += [
    "ref/resource",
    "ref/prompt",
    "debug",
    -3,
    {"x": "y"},
    " 5 ",
    "+5",
    "-5",
    "5.0",
    "ON",
    "Yes",
    "f",
    0.0,
]
ABSENT = object()


def variants(params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The params themselves, and once for each other value of each field at any depth, and without it."""
    yield params
    for path in list(paths(params)):
        for other in (*OTHERS, ABSENT):
            yield with_value(params, path, other)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from paths(inner, (*path, key))


def with_value(params: dict[str, Any], path: tuple[Any, ...], other: Any) -> dict[str, Any]:
    copied = copy.deepcopy(params)
    holder: Any = copied
    for key in path[:-1]:
        holder = holder[key]
    if other is ABSENT:
        del holder[path[-1]]
    else:
        holder[path[-1]] = other
    return copied


def sdk_takes(method: str, version: str, params: dict[str, Any]) -> bool:
    try:
        sdk.parse_client_request(method, version, params)
    except ValidationError:
        return False
    return True


def test_the_table_has_the_methods_of_the_sdk() -> None:
    for version in (*HANDSHAKE_VERSIONS, *LATER_VERSIONS):
        is_later = version in LATER_VERSIONS
        ours = {name for name, method in METHODS.items() if (method.later if is_later else method.earlier)}
        assert ours == {name for name, known_in in sdk.CLIENT_REQUESTS if known_in == version}


CASES = [
    (name, version, check)
    for name, method in METHODS.items()
    for version, check in ((HANDSHAKE_VERSIONS[-1], method.earlier), (LATER_VERSIONS[-1], method.later))
    if check
]


@pytest.mark.parametrize(("name", "version", "check"), CASES)
def test_params_are_taken_as_by_the_sdk(name: str, version: str, check: Check) -> None:
    right = {**RIGHT[name], "_meta": LATER_META if version in LATER_VERSIONS else {"progressToken": "p"}}
    assert check(right)
    compared = (params for params in variants(right) if params.get("arguments") != "" or name != "tools/call")
    wrong = [params for params in compared if check(params) != sdk_takes(name, version, params)]
    assert wrong == []
