"""All that is served besides tools: declared as it is, and the same over both transports in both eras."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.mcp.methods import METHODS
from tests.mcp.everywhere import ERAS, Everywhere, asked
from tests.mcp.transcript import INFO, META, MODERN
from tests.sessions.given import KEY, decide

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]

OF_KEYS = {"type": "ref/resource", "uri": "ctxhub://decision/{+key}"}
ASKED: dict[str, dict[str, Any]] = {
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": f"ctxhub://decision/{KEY}"},
    "prompts/list": {},
    "prompts/get": {"name": "start", "arguments": {"task": "Change the login"}},
    "completion/complete": {"ref": OF_KEYS, "argument": {"name": "key", "value": "api"}},
}
SERVED = {"tools": "tools/", "resources": "resources/", "prompts": "prompts/", "completions": "completion/"}


def test_every_method_is_answered_the_same_everywhere(everywhere: Everywhere) -> None:
    in_both_eras = {
        name for name, method in METHODS.items() if method.answer and method.earlier and method.later
    }
    assert in_both_eras == {"tools/list", "tools/call", *ASKED}
    decide(everywhere.caller)
    for method, params in ASKED.items():
        assert everywhere.result(method, **params)


def test_wrong_params_are_refused_the_same_everywhere(everywhere: Everywhere) -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("resources/read", {}, "params.uri is missing."),
        ("prompts/get", {"arguments": {}}, "params.name is missing."),
        (
            "prompts/get",
            {"name": "start", "arguments": {"task": 7}},
            "params.arguments must be an object of texts.",
        ),
        (
            "prompts/get",
            {"name": "start", "arguments": []},
            "params.arguments must be an object of texts, not a list.",
        ),
        ("completion/complete", {"ref": OF_KEYS}, "params.argument is missing."),
        (
            "completion/complete",
            {"ref": {"type": "x"}, "argument": {"name": "k", "value": ""}},
            "params.ref must be",
        ),
        (
            "completion/complete",
            {"ref": OF_KEYS, "argument": {"name": "key"}},
            "params.argument.value is missing.",
        ),
        ("prompts/list", {"cursor": 7}, "params.cursor must be a text, not a number."),
    ]
    for method, params, says in wrong:
        earlier, later, message = everywhere.error(method, **params)
        assert (earlier, later) == (-32602, -32602)
        assert says in message


def test_what_is_declared_is_what_is_served(ada: Caller) -> None:
    opening: dict[str, Any] = {"protocolVersion": ERAS[0], "capabilities": {}, "clientInfo": INFO}
    declared = [
        asked(ada, "initialize", **opening)["capabilities"],
        asked(ada, "server/discover", version=MODERN, _meta=META)["capabilities"],
    ]
    for capabilities in declared:
        assert {SERVED[name] for name in capabilities} == {
            f"{name.partition('/')[0]}/" for name in ("tools/list", "tools/call", *ASKED)
        }
        assert not capabilities["resources"]["listChanged"]
