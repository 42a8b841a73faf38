"""Who belongs to another project is told the same as if the first one were empty: over HTTP, in both eras."""

from collections.abc import Iterator
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.project_deletion import delete_project
from ctxhub.core.registry import all_nouns
from tests.core.test_nulls import create_one_of_each
from tests.hub import McpClient
from tests.mcp.everywhere import ERAS, headers_of
from tests.mcp.transcript import META, MODERN, Message, request

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]

# Of what `create_one_of_each` writes.
NAMES = ("k", "incident", "shop", "src/a.py", "notes", "Refactoring", "ben", "Redis", "api")
TYPED = ("", "1", "s", "k", "ada", "Redis")
PLACES = (
    *(("handoff", "to"), ("handoff", "session")),
    *(("review_decisions", "layer"), ("review_decisions", "tags")),
)
VARIABLES = (("decision/{+key}", "key"), ("inbox/{agent}", "agent"), ("{kind}/{id}", "kind"))


def requests(ids: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything besides tools that somebody could ask about the first project."""
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        yield method, {}
    kinds = [noun.kind for noun in all_nouns() if noun.open]
    for uri in ("ctxhub://brief", "ctxhub://layers", "ctxhub://inbox/cy"):
        yield "resources/read", {"uri": uri}
    for kind in kinds:
        for name in (*ids, *NAMES):
            yield "resources/read", {"uri": f"ctxhub://{kind}/{name}"}
    for name in NAMES[-3:]:
        yield "prompts/get", {"name": "start", "arguments": {"task": name}}
        yield "prompts/get", {"name": "handoff", "arguments": {"to": name}}
        yield "prompts/get", {"name": "handoff", "arguments": {"session": name}}
        yield "prompts/get", {"name": "review_decisions", "arguments": {"tags": name}}
    for session in ids:
        yield "prompts/get", {"name": "handoff", "arguments": {"session": str(session)}}
    for layer in ("data", "business"):
        yield "prompts/get", {"name": "review_decisions", "arguments": {"layer": layer}}
    for typed in TYPED:
        for prompt, argument in PLACES:
            yield _complete({"type": "ref/prompt", "name": prompt}, argument, typed)
        for template, variable in VARIABLES:
            yield _complete({"type": "ref/resource", "uri": f"ctxhub://{template}"}, variable, typed)
        for kind in kinds:
            yield _complete({"type": "ref/resource", "uri": "ctxhub://{kind}/{id}"}, "id", typed, kind=kind)


def _complete(ref: Message, name: str, value: str, **given: str) -> tuple[str, dict[str, Any]]:
    context = {"context": {"arguments": given}} if given else {}
    return "completion/complete", {"ref": ref, "argument": {"name": name, "value": value}, **context}


def walk(client: McpClient, ids: list[int]) -> dict[str, Any]:
    """The answers by what was asked."""
    found: dict[str, Any] = {}
    for version in ERAS:
        for method, params in requests(ids):
            meta = {"_meta": META} if version == MODERN else {}
            message = request(method, {**params, **meta})
            reply = client.send("POST", "/mcp", message, headers_of(message, version))
            assert reply.status in (200, 400)
            answer = {name: value for name, value in reply.body.items() if name != "id"}
            found[f"{version} {method} {params}"] = reply.status, answer
    return found


def test_a_stranger_is_told_what_an_empty_hub_tells(
    ada: Caller, ben: Caller, cy_mcp: McpClient, apollo: Project
) -> None:
    ids = sorted({made for made in create_one_of_each(ada, ben).values() if isinstance(made, int)})
    cy_mcp.call("hub")  # From here on cy has been seen.
    told = walk(cy_mcp, ids)
    delete_project(apollo)
    of_empty = walk(cy_mcp, ids)
    assert len(told) > 600
    assert {asked: answer for asked, answer in told.items() if answer != of_empty[asked]} == {}


def test_a_member_is_told_more(ada: Caller, ben: Caller, ada_mcp: McpClient) -> None:
    """The same walk finds what is there, so it would tell a stranger, too."""
    ada_mcp.call("hub")
    before = walk(ada_mcp, [])
    create_one_of_each(ada, ben)
    after = walk(ada_mcp, [])
    changed = {asked.split(" {")[0] for asked, answer in after.items() if answer != before[asked]}
    assert changed == {
        f"{version} {method}"
        for version in ERAS
        for method in ("resources/read", "prompts/get", "completion/complete")
    }
