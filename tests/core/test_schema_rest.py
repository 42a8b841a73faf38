"""The OpenAPI schema is complete, and the hub conforms to it: no 5xx, and answers of the declared shape."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from django.core.management import call_command
from django.db import connection
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import FlakyStrategyDefinition
from hypothesis.stateful import run_state_machine_as_test
from jsonschema import Draft202012Validator
from schemathesis import Case, GenerationMode, Response
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    ignored_auth,
    negative_data_rejection,
    positive_data_acceptance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.schemas import OpenApiSchema

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from ctxhub.mcp import event_streams
from ctxhub.rest import openapi
from ctxhub.rest.transfer import LINES
from tests.hub import LiveHub, RestClient

OPENAPI = {"Accept": "application/vnd.oai.openapi+json"}
# Errors for input that the schema allows, each with the reason why the schema does not forbid it.
EVENTS = "text/event-stream"
schemathesis.serializer.alias(LINES, "application/octet-stream")
OTHER_TYPES = {"events/": EVENTS, "export/": LINES}
REFUSED = {
    r"^None of the \d+ was (restored|deleted)": "refs of each kind have their own form",
    r"^line [0-9,]+: ": "an export has a checksum",
    r"^live lists windows": "live goes with few other filters",
    r"must be relative to the repository": "the pattern for paths would be unreadable",
    r"is not known; use one of|is not a time zone": "words of the project, or time zones of the system",
    r"is not a (time|length of time)\.": "a moment is ISO 8601, an age or a cursor: no format fits",
    r"is no regular expression": "regular expressions have a grammar",
    r"is not a cursor|cursor": "a cursor is opaque and comes from `next`",
    r"no character that nobody sees|holds U\+[0-9A-F]+ ": "the pattern for names would be unreadable",
    r"is a number\.|is no plain number": "numeric:false wants a text, true a number",
    r"is no range of lines": "the first line must not be after the last",
    r"exclude one another|and not both|told (both|neither)|Give ids|needs key": "one of several",
    r"^ordering (names|takes) ": "a field is named once, up or down",
    r"read one version": "lines and tail need version",
    r"(section|line) must be given|^mode \w+ does not go with": "each mode needs other arguments",
    r"One agent speaks|expected_version and If-Match differ": "header, query and body must agree",
    r"lies in the past|is your own|cannot be related to itself|has no heading": "depends on what is stored",
    r"a file does not depend on itself": "source and target differ",
    r"There is nothing to save": "a new session has one of several contents",
    r"^conversation(\[| is no message)": "messages have the forms of several APIs",
    r"^begin names the session": "in the body or in a header",
    r"is no request": "depends on what is stored",
    r"^choice answers a message|names has no choices": "a choice goes with a question",
    r"is not the id of a message": "an id is a number that the database can store",
    r"^path is one path|is no list of paths": "a text of paths may be a list of them",
    r"is not a ref\.|nor a ref\.": "refs of each kind have their own form",
    r"^The template": "each template has its own required fields",
    r"is a piece of a list|is not written as a list": "the pattern for names would be unreadable",
    r"entries; the limit": "entries added by a template count too",
    r"(characters|bytes); the limit": "names are normalised first, and texts are counted in bytes",
    r"must not be blank": "Unicode has more blanks than the pattern",
    r"^url ": "which addresses a webhook may have is more than a pattern can say",
}
HERE = {"slug": "apollo", "token_id": 10**9}
# Values of path parameters; every other parameter is 1.
PATH_PARAMETERS = {"slug": "apollo", "key": "k", "tool": "decision", "action": "get", "name": "layer_summary"}
# What a read names besides lines, where they are lines of a part.
PARTS: dict[str, dict[str, Any]] = {"/versions/": {"version": "1.0.0"}}
Document = dict[str, Any]


def fill_path(path: str, **parameters: str) -> str:
    if path.endswith("templates/{name}/decisions/"):
        parameters["name"] = "performance_optimization"
    return path.format_map(defaultdict(lambda: "1", PATH_PARAMETERS | parameters))


@pytest.fixture(scope="module")
def schema() -> Document:
    body: Document = Client().get("/api/schema/", headers=OPENAPI).json()
    return body


def test_a_process_makes_each_form_of_the_document_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may ask for it, and making it takes half a second of the processor."""
    openapi._document.cache_clear()
    made = []
    make = SchemaGenerator.get_schema

    def get_schema(generator: SchemaGenerator, *args: Any, **kwargs: Any) -> Any:
        made.append(generator)
        return make(generator, *args, **kwargs)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(SchemaGenerator, "get_schema", get_schema)
    answers = [
        Client().get("/api/schema/", query, headers={"accept": accept})
        for query in ({}, {"version": "9"})
        for accept in (OPENAPI["Accept"], "*/*")
    ]
    assert len(made) == 2
    assert [answer.content for answer in answers[:2]] == [answer.content for answer in answers[2:]]
    assert [answer["Content-Type"] for answer in answers[:2]] == [
        "application/vnd.oai.openapi+json",
        "application/vnd.oai.openapi; charset=utf-8",
    ]
    assert answers[0].json()["info"]["version"] == "1"


@pytest.fixture
def document(schema: Document, ada_rest: RestClient, ben_rest: RestClient) -> Document:
    """The schema, with an object for each of its addresses."""
    for key, value in (("k", 1), ("a/b", "text"), ("k", 2.5)):
        fields = {"value": value, "layer": "data", "tags": ["api"], "rationale": "So.", "metadata": {"a": 1}}
        ada_rest.post("decisions/", {"key": key, **fields})
    constraint = ada_rest.post("constraints/", {"category": "security", "text": "So."})
    PATH_PARAMETERS["constraint_id"] = str(constraint.body["id"])
    message = ben_rest.post("messages/", {"text": "So.", "to": ["ada"], "type": "request", "ack": True})
    PATH_PARAMETERS["message_id"] = str(message.body["id"])
    memory = ada_rest.post("memories/", {"title": "So.", "content": "So.", "context": "k"})
    PATH_PARAMETERS["memory_id"], PATH_PARAMETERS["context"] = str(memory.body["id"]), "k"
    change = ada_rest.post("changes/", {"path": "src/app.py", "change": "created", "layer": "data"})
    lease = ada_rest.post("leases/", {"paths": ["lib/**"], "minutes": 60})
    PATH_PARAMETERS["change_id"], PATH_PARAMETERS["lease_id"] = (
        str(change.body["id"]),
        str(lease.body["lease_id"]),
    )
    workflow = ada_rest.post("workflows/", {"name": "So."}).body["id"]
    pad = {"workflow_id": workflow, "name": "So.", "content": "# Findings\nSo."}
    PATH_PARAMETERS["scratchpad_id"] = str(ada_rest.post("scratchpads/", pad).body["scratchpad_id"])
    PATH_PARAMETERS["workflow_id"] = str(workflow)
    session = ada_rest.post("sessions/", {"workspace_id": "shop", "conversation": "So.\nSo."})
    PATH_PARAMETERS["session_id"] = str(session.body["session"])
    PARTS["/{session_id}/"] = {"conversation": session.body["conversation"]}
    snapshot = ada_rest.post("snapshots/", {"content": "So.", "rationale": "So.", "tags": ["api"]})
    PATH_PARAMETERS["snapshot_id"] = str(snapshot.body["id"])
    webhook = ada_rest.post("webhooks/", {"url": "https://example.com/hook", "active": False})
    PATH_PARAMETERS["webhook_id"] = str(webhook.body["id"])
    return schema


@pytest.fixture
def api(document: Document, hub: LiveHub) -> OpenApiSchema:
    loaded = schemathesis.openapi.from_dict(_without_long_limits(document))
    loaded.config.update(base_url=hub.url)
    # NUL, and what UTF-8 cannot encode, is refused everywhere; our schemas do not repeat that.
    loaded.config.generation.allow_x00 = False
    return loaded


def _without_long_limits(part: Any) -> Any:
    """Drops large `maxLength` limits of patterns: compiling one for 65,536 characters takes a second."""
    if isinstance(part, list):
        return [_without_long_limits(one) for one in part]
    if not isinstance(part, dict):
        return part
    is_long = isinstance(part.get("pattern"), str) and part.get("maxLength", 0) > 100
    return {
        name: _without_long_limits(one) for name, one in part.items() if name != "maxLength" or not is_long
    }


def operations(document: Document) -> Iterator[tuple[str, str, Document]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


# -- The schema ------------------------------------------------------------------------------------


def test_the_schema_is_generated_without_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "schema.yml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(file))
    assert "/api/v1/projects/{slug}/decisions/" in file.read_text()


def test_every_operation_declares_its_answers_and_errors(schema: Document) -> None:
    for path, method, operation in operations(schema):
        answers = {code: answer for code, answer in operation["responses"].items() if code < "400"}
        for code, answer in answers.items():
            media_type = OTHER_TYPES.get(path.rpartition("{slug}/")[2], "application/json")
            assert code == "204" or answer["content"][media_type]["schema"], (path, method)
        for code in ("400", "401", "403", "404"):
            error = operation["responses"][code]["content"]["application/json"]["schema"]
            assert error == {"$ref": "#/components/schemas/Error"}
        assert operation["description"], (path, method)


def test_every_operation_takes_agent_and_session_and_every_write_a_request_key(schema: Document) -> None:
    for path, method, operation in operations(schema):
        if path.startswith("/api/v1/projects/{slug}/"):
            references = {p["$ref"].rpartition("/")[2] for p in operation["parameters"] if "$ref" in p}
            common = {"Agent", "AgentHeader", "SessionHeader"}
            assert references - {"Prefer"} == {*common, *(["Retry"] if method != "get" else [])}
            if method not in ("post", "put", "patch"):
                assert "Prefer" not in references


def test_a_lists_filters_are_declared(schema: Document) -> None:
    listing = schema["paths"]["/api/v1/projects/{slug}/decisions/"]["get"]
    names = {parameter.get("name") for parameter in listing["parameters"]}
    assert names >= {"status", "layer", "tags", "match", "exclude_tags", "scope", "by", "since", "until"}
    assert names >= {"sort", "order", "limit", "cursor", "full", "max_tokens", "key", "include"}


# -- The answers -----------------------------------------------------------------------------------


@pytest.fixture
def streams_that_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream ends when it has told what there is, instead of waiting for more."""

    async def rest(stream: event_streams._Stream) -> None:
        stream.end()

    monkeypatch.setattr(event_streams._Stream, "_rest", rest)


@pytest.mark.every_engine
@pytest.mark.usefixtures("streams_that_end")
def test_answers_conform_to_the_schema(api: OpenApiSchema, apollo: Project) -> None:
    token = create_token(project=apollo, scopes=["read", "write", "admin"]).secret
    problems = []
    for result in api.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        try:
            _try_out(operation, GenerationMode.POSITIVE, 4, token)
            # Only on SQLite: invalid input is refused before it reaches the database.
            if (operation.body or operation.path.endswith("/events/")) and connection.vendor == "sqlite":
                _try_out(operation, GenerationMode.NEGATIVE, 2, token)
        except FailureGroup as failure:
            problems.append(f"{operation.label}: {failure}")
    assert not problems, "\n".join(problems)


# How many different operations links lead to, and how many walks may be needed for that.
WANTED, MOST_WALKS = 20, 50


@pytest.mark.every_engine
@pytest.mark.usefixtures("streams_that_end")
def test_what_an_operation_answers_others_take(api: OpenApiSchema, apollo: Project) -> None:
    """Along links: an id of one answer is in the address of the next request.

    The ids differ between runs, and with them what follows: a failure is noted where it is found, as it would
    not be the same when Hypothesis tries again. What is refused there is what REFUSED names, and more of it.
    """
    token = create_token(project=apollo, scopes=["read", "write", "admin"]).secret

    followed: list[str] = []
    problems: list[str] = []

    class Walk(api.as_state_machine()):  # type: ignore[misc]
        def step(self, input: Any) -> Any:  # Its name there.
            if input.transition is not None:
                followed.append(input.case.operation.label)
            return super().step(input)

        def before_call(self, case: Case[Any]) -> None:
            case.path_parameters = {n: HERE.get(n, v) for n, v in (case.path_parameters or {}).items()}
            if "wait_seconds" in (case.query or {}):
                case.query["wait_seconds"] = 0

        def get_call_kwargs(self, case: Case[Any]) -> dict[str, Any]:
            return {"headers": {"Authorization": f"Bearer {token}", "Idempotency-Key": uuid4().hex}}

        def validate_response(self, response: Response, case: Case[Any], *args: Any, **how: Any) -> None:
            excluded = {negative_data_rejection, positive_data_acceptance, *_excluded(case, response)}
            try:
                case.validate_response(response, excluded_checks=list(excluded), **how)
            except FailureGroup as failure:
                problems.append(f"{case.operation.label}: {failure}")

    how_far = settings(
        max_examples=10 * int(os.environ.get("SCHEMA_EXAMPLES", "1")),
        stateful_step_count=6,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    # A walk ends early where its ids are others than before. The name of the class is its seed.
    for number in range(MOST_WALKS):
        with suppress(FlakyStrategyDefinition):
            run_state_machine_as_test(type(f"Walk{number}", (Walk,), {}), settings=how_far)
        if len({*followed}) >= WANTED:
            break
    assert not problems, "\n".join(problems)
    assert len({*followed}) >= WANTED, followed


def test_reads_in_parts_conform_to_the_schema(api: OpenApiSchema, apollo: Project) -> None:
    token = create_token(project=apollo, scopes=["read"]).secret
    readable = set()
    for result in api.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if "lines" not in {parameter.name for parameter in operation.query}:
            continue
        readable.add(operation.path.removeprefix("/api/v1/projects/{slug}/"))
        part = next((part for end, part in PARTS.items() if operation.path.endswith(end)), {})
        for query in ({}, {"lines": "1-"}, {"lines": "1@2-"}, {"tail": 1}, {"max_tokens": 1}):
            path_parameters = {p.name: PATH_PARAMETERS.get(p.name, "1") for p in operation.path_parameters}
            case = operation.Case(path_parameters=path_parameters, query={**query, **(part if query else {})})
            headers = {"Authorization": f"Bearer {token}"}
            checks = [response_schema_conformance, status_code_conformance]
            assert case.call_and_validate(headers=headers, checks=checks).status_code == 200, (case, query)
    assert readable == {
        "changes/{change_id}/",
        "constraints/{constraint_id}/",
        "contexts/{context}/",
        "decisions/{key}/",
        "decisions/{key}/versions/",
        "memories/{memory_id}/",
        "memories/{memory_id}/revisions/{revision}/",
        "messages/{message_id}/",
        "scratchpads/{scratchpad_id}/",
        "scratchpads/{scratchpad_id}/revisions/{revision}/",
        "sessions/{session_id}/",
        "snapshots/{snapshot_id}/",
    }


def _try_out(operation: Any, mode: GenerationMode, examples: int, token: str) -> None:
    @settings(
        max_examples=examples * int(os.environ.get("SCHEMA_EXAMPLES", "1")),  # More by hand.
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def answers_as_promised(case: Case[Any]) -> None:
        # Two operations under one request key would, rightly, have one answer.
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": uuid4().hex}
        case.path_parameters = {
            name: HERE.get(name, value) for name, value in (case.path_parameters or {}).items()
        }
        if "wait_seconds" in (case.query or {}):
            case.query["wait_seconds"] = min(case.query["wait_seconds"], 0)
        response = case.call(headers=headers)
        case.validate_response(response, headers=headers, excluded_checks=_excluded(case, response))

    answers_as_promised()


def _excluded(case: Case[Any], response: Response) -> list[Any]:
    """The checks that do not apply to this response."""
    assert case.meta is not None
    body = case.meta.components.get(ParameterLocation.BODY)
    # In a query every value is text, and a text is a list of one. A batch that is not atomic is answered
    # with 200, and each wrong item has its error.
    is_wrong = body and body.mode is GenerationMode.NEGATIVE and not case.path.endswith("/batch/")
    # Without a token, and with a wrong one, test_every_operation_needs_a_token asks.
    excluded = [ignored_auth, *([] if is_wrong else [negative_data_rejection])]
    message = response.json().get("message", "") if response.status_code in (400, 412) else ""
    # 412: If-Match names another version than the stored one.
    # call/ takes the arguments that the operation's help lists.
    is_expected = response.status_code == 412 or "/call/" in case.path
    if is_expected or any(re.search(expected, message) for expected in REFUSED):
        excluded.append(positive_data_acceptance)
    if response.headers.get("content-type", [""])[0].startswith(EVENTS):
        # The schema is that of the whole text; schemathesis would hold each event to it.
        excluded.append(response_schema_conformance)
    return excluded


def test_an_unknown_method_is_refused_before_any_other_error(
    document: Document, hub: LiveHub, ada_rest: RestClient
) -> None:
    for path, methods in document["paths"].items():
        declared = {method.upper() for method in methods}
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS"} - declared:
            for client in (ada_rest, hub.rest()):
                body = None if method == "TRACE" else {"nothing": 1}
                reply = client.send(method, f"{fill_path(path)}?agent=&nothing=1", body, {"If-Match": "?"})
                allowed = set(reply.headers["allow"].split(", ")) - {"HEAD"}
                assert (reply.status, reply.body["error"]) == (405, "invalid"), (method, path)
                assert allowed == declared


def test_a_delete_that_takes_no_body_refuses_one(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": 1})
    reply = ada_rest.send("DELETE", ada_rest._url("decisions/k/"), {"expected_version": "9"})
    assert (reply.status, reply.body["message"]) == (400, "DELETE takes no body.")
    assert ada_rest.get("decisions/k/").status == 200


def test_examples_of_bodies_are_valid(schema: Document) -> None:
    for path, method, operation in operations(schema):
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for example in content.get("examples", {}).values():
            whole = {**json_schema(content["schema"]), "components": json_schema(schema["components"])}
            faults = [error.message for error in Draft202012Validator(whole).iter_errors(example["value"])]
            assert faults == [], (method, path)


def json_schema(schema: Any) -> Any:
    """A JSON Schema for an OpenAPI 3.0 schema: `nullable` becomes the type null."""
    if isinstance(schema, list):
        return [json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    whole = {name: json_schema(inner) for name, inner in schema.items() if name != "nullable"}
    return {"anyOf": [whole, {"type": "null"}]} if schema.get("nullable") is True else whole


def test_errors_repeat_few_of_many_unknown_names(ada_rest: RestClient) -> None:
    many = {f"unknown_{n}": n for n in range(200)}
    replies = [
        ada_rest.post("decisions/", {"key": "k", "value": 1, **many}),
        ada_rest.get("decisions/", **many),
        ada_rest.post("decisions/", {"key": "k", "value": 1, "tags": list(range(200))}),
        ada_rest.post("call/decision/set/", {"key": "k", "value": 1, **many}),
    ]
    for reply in replies:
        assert reply.status == 400
        named = re.findall(r"unknown_\d+|tags\S*\d+", reply.body["message"])
        assert 1 <= len(named) <= 20, reply.body


# -- Access and examples ---------------------------------------------------------------------------


def _delivery(client: RestClient) -> int:
    tested = client.post(f"webhooks/{PATH_PARAMETERS['webhook_id']}/test/")
    row_id: int = tested.body["delivery"]["id"]
    return row_id


def test_examples_of_bodies_are_accepted(document: Document, ada_rest: RestClient) -> None:
    accepted, token = 0, ada_rest.post("/api/v1/tokens/").body["id"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            # Only a superuser may create projects; a token of one's own and choices are a person's.
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if not content or path in ("/api/v1/projects/", "/api/v1/me/", "/api/v1/me/tokens/"):
                continue
            [example] = content["examples"].values()
            address = fill_path(path, tool="hub", action="stats", token_id=str(token))
            body = {**example["value"], **({"action": "stats"} if path.endswith("{tool}/") else {})}
            body |= {
                name: int(PATH_PARAMETERS[name])
                for name in body
                if name.endswith("_id") and name in PATH_PARAMETERS
            }
            body |= {"target": "decision:k"} if "target" in body else {}
            body |= {"refs": ["decision:k"]} if "refs" in body else {}
            body |= {"ids": [_delivery(ada_rest)]} if path.endswith("/deliveries/") else {}
            assert ada_rest.send(method.upper(), address, body).status in (200, 201, 202), (method, path)
            accepted += 1
    assert accepted >= 8
