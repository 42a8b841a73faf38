"""A POST answers what it made and changed, not the texts that it was sent: the client has them."""

import json
import re
from typing import Any

import pytest
from pytest import Subtests  # noqa: PT013  # A name for a type.

from tests.addresses import Operation, operations
from tests.hub import RestClient

pytestmark = pytest.mark.one_engine

TEXT = "Why the basket is slow. " * 1_600  # 38,400 characters
MOST_BYTES = 400
# What answers with more, and why.
ANSWERS = {
    **dict.fromkeys(("search/", "check/"), "a question: the answer is what was found"),
    **dict.fromkeys(
        ("call/<str:tool>/", "call/<str:tool>/<str:action>/"), "as the tool: without what it was sent, too"
    ),
    **dict.fromkeys(("sessions/restore/", "sessions/<id:session_id>/restore/"), "what to go on with"),
    "sessions/<id:session_id>/prioritize/": "which files were chosen",
    "memories/<id:memory_id>/relationships/suggested/": "what is around the memory now",
    **dict.fromkeys(("messages/claim/", "messages/<id:message_id>/claim/"), "the request that is to be done"),
    "webhooks/<id:webhook_id>/test/": "the delivery, and the secret is no text",
    "webhooks/": "the secret, which is shown this once",
    "snapshots/prune/": "what would be deleted",
    "import/": "the body is an export",
}
FREE = {
    *("value", "rationale", "text", "reason", "content", "description", "conversation", "summary"),
    *("metadata", "payload", "alternatives", "separator", "intent"),
}
# What a body holds besides texts; `{name}` is that of the address.
NEEDED: dict[str, dict[str, Any]] = {
    "scratchpads/": {"workflow_id": "{workflow_id}"},
    "webhooks/<id:webhook_id>/deliveries/": {"ids": ["{delivery_id}"]},
    "memories/<id:memory_id>/relationships/": {"target": "decision:k"},
    "confirm/": {"refs": ["decision:k"]},
    "bin/restore/": {"refs": ["decision:gone"]},
    "leases/release/": {"all": True},
    "snapshots/": {"caused_by": None, "dependencies": None},
}


@pytest.fixture
def names(ada_rest: RestClient, ben_rest: RestClient) -> dict[str, Any]:
    """What the addresses name."""
    ada_rest.post("decisions/", {"key": "k", "value": "x"})
    ada_rest.post("decisions/", {"key": "gone", "value": "x"})
    ada_rest.delete("decisions/gone/")
    hook = {"url": "https://example.com/hook", "active": False}
    made = {
        "constraint_id": ada_rest.post("constraints/", {"category": "api", "text": "So."}),
        "memory_id": ada_rest.post("memories/", {"title": "t", "content": "c"}),
        "workflow_id": ada_rest.post("workflows/", {"name": "w"}),
        "message_id": ben_rest.post(
            "messages/", {"text": "So.", "type": "request", "to": ["ada"], "ack": True}
        ),
        "session_id": ada_rest.post("sessions/", {"workspace_id": "shop", "conversation": "So."}),
        "webhook_id": ada_rest.post("webhooks/", hook),
    }
    ids = {name: reply.body["id"] for name, reply in made.items()}
    pad = {"workflow_id": ids["workflow_id"], "name": "p", "content": "So."}
    tested = ada_rest.post(f"webhooks/{ids['webhook_id']}/test/")
    return {
        "name": "performance_optimization",
        "key": "k",
        "revision": 1,
        **ids,
        "scratchpad_id": ada_rest.post("scratchpads/", pad).body["id"],
        "delivery_id": tested.body["delivery"]["id"],
    }


def body_of(operation: Operation, names: dict[str, Any]) -> Any:
    example = operation.body.example if operation.body else {}
    needed = json.dumps(NEEDED.get(operation.address, {}))
    body = {**example, **json.loads(re.sub(r'"\{(\w+)\}"', lambda found: str(names[found[1]]), needed))}
    for argument in operation.body.arguments.all if operation.body else ():
        kind = argument.accepted.get("type")
        if argument.name in FREE and "enum" not in argument.schema:
            limit = argument.schema.get("maxLength") or len(TEXT)
            long: dict[Any, Any] = {"object": {"a": TEXT}, "array": [TEXT]}
            body[argument.name] = long.get(str(kind), TEXT[: min(limit, len(TEXT))].rstrip())
    if "items" in body and operation.body.items:
        body["items"] = [{**item, **_texts(operation.body.items)} for item in body["items"]]
    return body


def _texts(takes: Any) -> dict[str, Any]:
    return {a.name: TEXT for a in takes.arguments.all if a.name in ("value", "text", "description")}


def test_a_memory_of_39_000_characters_is_answered_in_300_bytes(ada_rest: RestClient) -> None:
    content = "Every price is read by itself, which takes two seconds for a full basket. " * 527
    assert len(content) > 39_000 - 10
    for _ in range(2):  # The second one is like the first.
        reply = ada_rest.post("memories/", {"title": "Why the basket is slow", "content": content})
        assert reply.status == 201
        assert len(json.dumps(reply.body, ensure_ascii=False).encode()) < 300
        assert {"id", "ref", "digest", "tokens"} <= reply.body.keys()


def test_no_post_echoes_long_texts(ada_rest: RestClient, names: dict[str, Any], subtests: Subtests) -> None:
    sent = 0
    for operation in operations("POST"):
        if operation.address in ANSWERS:
            continue
        with subtests.test(str(operation)):
            body = body_of(operation, names)
            reply = ada_rest.post(operation.path(names), body)
            assert reply.status in (200, 201, 202), (body.keys(), reply.body)
            answer = json.dumps(reply.body, ensure_ascii=False)
            assert len(answer.encode()) < MOST_BYTES, answer[:600]
            sent += len(json.dumps(body)) > 10_000
    assert sent >= 12


def test_exceptions_are_addresses() -> None:
    assert {*ANSWERS} <= {operation.address for operation in operations("POST")}
