"""What REST and MCP answer to values of every kind in every field, parameter and argument."""

import json
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Project
from ctxhub.core.webhooks.services import add_webhook
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import call
from ctxhub.toolbox.picking import check_arguments
from tests.databases import rolled_back
from tests.golden.comparing import compare
from tests.golden.openapi_lines import METHODS, _resolved

Json = dict[str, Any]

BODY_VALUES: list[Any] = [
    None,
    True,
    5,
    1.5,
    "",
    "x",
    "5",
    "a\0b",
    "x" * 70_000,
    [],
    ["a"],
    ["a", 5],
    {},
    {"a": 1},
]
QUERY_VALUES = ["", "x", "0", "-1", "1.5", "true", "a\0b", ("1", "2")]
NEEDED = {"query": "x", "pattern": "x", "text": "x", "path": "a"}
OTHER_IDS = (
    "caused_by",
    "context",
    "conversation",
    "id",
    "parent",
    "reply_to",
    "session",
    "source",
    "target",
)
# Their own argument names an operation or a representation; others tell of the server's waiting, or go on.
LEFT_OUT = ("/call/", "/projects/{slug}/updates/", "/projects/{slug}/events/")
SETUP: list[tuple[str, Json]] = [
    ("decision", {"action": "set", "key": "k", "value": "JWT"}),
    ("decision", {"action": "template_set", "name": "incident", "defaults": {"layer": "data"}}),
    ("constraint", {"action": "add", "category": "security", "text": "Tokens rotate."}),
    ("memory", {"action": "add", "title": "Caching", "content": "Five minutes.", "context": "shop"}),
    ("memory", {"action": "add", "title": "Sessions", "content": "In the database.", "context": "shop"}),
    ("message", {"action": "send", "text": "Tests, please.", "type": "request", "agent": "ben"}),
    ("file", {"action": "record", "path": "src/a.py", "change": "modified"}),
    ("file", {"action": "lease", "paths": ["lib/**"]}),
    ("snapshot", {"action": "save", "content": "Moved to PostgreSQL."}),
    ("session", {"action": "save", "conversation": "Go on.", "summary": "Half written."}),
]


def in_words(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 40 else f"{text[:6]}*{len(text):,}"


@pytest.fixture
def names(ada: Caller) -> dict[str, Any]:
    """What stands for the variable parts of addresses."""
    made = [call(ada, tool, arguments) for tool, arguments in SETUP]
    workflow = call(ada, "scratchpad", {"action": "create_workflow", "name": "w"})["workflow_id"]
    pad = call(ada, "scratchpad", {"action": "create", "workflow_id": workflow, "name": "p", "content": "c"})
    token = create_token(project=ada.project, name="second").row
    return {
        "slug": ada.project.slug,
        "key": "k",
        "name": "incident",
        "context": "shop",
        "constraint_id": made[2]["id"],
        "memory_id": made[3]["id"],
        "message_id": made[5]["id"],
        "change_id": made[6]["id"],
        "lease_id": made[7]["lease_id"],
        "snapshot_id": made[8]["id"],
        "session_id": made[9]["session"],
        "workflow_id": workflow,
        "scratchpad_id": pad["scratchpad_id"],
        "revision": 1,
        "token_id": token.pk,
        "webhook_id": add_webhook(caller=ada, url="https://example.com/hook").row.pk,
    }


def cases(document: Json) -> Iterator[tuple[str, str, str, Json, list[str]]]:
    """Method, path, `query` or `body`, an example, and the names that are tried there."""
    for path, methods in sorted(document["paths"].items()):
        if any(part in path for part in LEFT_OUT):
            continue
        for method in METHODS:
            if not (operation := methods.get(method)):
                continue
            parameters = [_resolved(document, parameter) for parameter in operation.get("parameters", ())]
            in_query = sorted(parameter["name"] for parameter in parameters if parameter["in"] == "query")
            if names := [name for name in in_query if name != "agent"]:
                yield method, path, "query", {}, [*names, "zzz"]
            if content := operation.get("requestBody", {}).get("content", {}).get("application/json"):
                fields = _resolved(document, content["schema"])["properties"]
                [example] = content["examples"].values()
                yield method, path, "body", example["value"], [*sorted(fields), "zzz"]


def body_values(field: str) -> list[Any]:
    """An id of 5 may be there or not."""
    is_id = field.endswith("_id") or field in OTHER_IDS
    return [value for value in BODY_VALUES if not (is_id and value in (5, "5"))]


def ids_in(example: Json, names: Json) -> Json:
    return {name: names[name] for name in example if name in names and name.endswith("_id")}


@pytest.fixture
def without_log() -> Iterator[None]:
    """Thousands of refusals, which three handlers would keep."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.one_engine
@pytest.mark.usefixtures("without_log")
def test_bad_inputs(apollo: Project, names: dict[str, Any]) -> None:
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    token = create_token(project=apollo, agent="ada", scopes=["read", "write", "admin"]).secret
    client = Client(headers={"authorization": f"Bearer {token}"}, raise_request_exception=False)
    lines = []
    for method, path, place, example, fields in cases(document):
        url = path.format_map(names)
        required = {
            "query": "x",
            "pattern": "x",
            "text": "x",
            "path": "a",
            "workflow_id": names["workflow_id"],
        }
        query = required if place == "query" else {}
        assert fields[:-1], path
        for field in fields:
            found: dict[str, list[str]] = {}
            for value in QUERY_VALUES if place == "query" else body_values(field):
                with rolled_back():
                    if place == "query":
                        known = {name: word for name, word in query.items() if name in fields}
                        reply = client.generic(
                            method, url, QUERY_STRING=urlencode({**known, field: value}, doseq=True)
                        )
                    else:
                        body = json.dumps({**example, **ids_in(example, names), field: value})
                        reply = client.generic(method, url, body, "application/json")
                found.setdefault(str(reply.status_code), []).append(in_words(value))
            statuses = "; ".join(f"{status} {' '.join(values)}" for status, values in sorted(found.items()))
            lines.append(f"{method.upper()} {path.removeprefix('/api/v1/')} {place} {field}: {statuses}")
    compare("bad_inputs_rest.txt", "\n".join([*lines, ""]))


def test_arguments_of_actions() -> None:
    lines = []
    for tool in all_tools().values():
        for action in tool.actions.values():
            for name in [*action.arguments.names, "zzz"]:
                found: dict[str, list[str]] = {}
                for value in BODY_VALUES:
                    try:
                        checked = check_arguments(action, {**action.example, name: value})
                        answer = "null" if name not in checked else json.dumps(checked[name])[:40]
                    except InvalidInput as error:
                        answer = error.message
                    found.setdefault(answer, []).append(in_words(value))
                lines += [f"{action.call} {name} {' '.join(values)}: {a}" for a, values in found.items()]
    compare("bad_inputs_mcp.txt", "\n".join([*lines, ""]))
