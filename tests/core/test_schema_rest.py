"""The OpenAPI schema is whole, and the hub does what it says: no 5xx, and answers of the promised shape."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from django.core.management import call_command
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.schemas import OpenApiSchema

from ctxhub.core.models import Project
from ctxhub.core.services.access_tokens import create_token
from tests.hub import LiveHub, RestClient

OPENAPI = {"Accept": "application/vnd.oai.openapi+json"}
CHECKS = [not_a_server_error, response_schema_conformance, status_code_conformance]
HERE = {"slug": "apollo", "token_id": 10**9}
# What stands in an address for its parameters; where there is no other word, it is the number 1.
PLACES = {"slug": "apollo", "key": "k", "tool": "decision", "action": "get", "name": "layer_summary"}
Document = dict[str, Any]


def filled(path: str, **places: str) -> str:
    if path.endswith("templates/{name}/decisions/"):
        places["name"] = "performance_optimization"
    return path.format_map(defaultdict(lambda: "1", PLACES | places))


@pytest.fixture
def document(hub: LiveHub, ada_rest: RestClient, ben_rest: RestClient) -> Document:
    for key, value in (("k", 1), ("a/b", "text"), ("k", 2.5)):
        whole = {"value": value, "layer": "data", "tags": ["api"], "rationale": "So.", "metadata": {"a": 1}}
        ada_rest.post("decisions/", {"key": key, **whole})
    constraint = ada_rest.post("constraints/", {"category": "security", "text": "So."})
    PLACES["constraint_id"] = str(constraint.body["id"])
    message = ben_rest.post("messages/", {"text": "So.", "to": ["ada"], "type": "request", "ack": True})
    PLACES["message_id"] = str(message.body["id"])
    memory = ada_rest.post("memories/", {"title": "So.", "content": "So.", "context": "k"})
    PLACES["memory_id"], PLACES["context"] = str(memory.body["id"]), "k"
    change = ada_rest.post("changes/", {"path": "src/app.py", "change": "created", "layer": "data"})
    lease = ada_rest.post("leases/", {"paths": ["lib/**"], "minutes": 60})
    PLACES["change_id"], PLACES["lease_id"] = str(change.body["id"]), str(lease.body["lease_id"])
    workflow = ada_rest.post("workflows/", {"name": "So."}).body["id"]
    pad = {"workflow_id": workflow, "name": "So.", "content": "# Findings\nSo."}
    PLACES["scratchpad_id"] = str(ada_rest.post("scratchpads/", pad).body["scratchpad_id"])
    PLACES["workflow_id"] = str(workflow)
    body: Document = ada_rest.send("GET", "/api/schema/", headers=OPENAPI).body
    return body


@pytest.fixture
def api(document: Document, hub: LiveHub) -> OpenApiSchema:
    loaded = schemathesis.openapi.from_dict(document)
    loaded.config.update(base_url=hub.url)
    return loaded


def operations(document: Document) -> Iterator[tuple[str, str, Document]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


# -- What it says ----------------------------------------------------------------------------------


def test_the_schema_is_made_without_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "schema.yml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(file))
    assert "/api/v1/projects/{slug}/decisions/" in file.read_text()


def test_every_operation_has_typed_answers_and_errors(document: Document) -> None:
    for path, method, operation in operations(document):
        answers = {code: answer for code, answer in operation["responses"].items() if code < "400"}
        for code, answer in answers.items():
            assert code == "204" or answer["content"]["application/json"]["schema"], (path, method)
        for code in ("400", "401", "403", "404"):
            schema = operation["responses"][code]["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/Error"}
        assert operation["description"], (path, method)


def test_every_operation_takes_an_agent_and_every_write_a_request_key(document: Document) -> None:
    for path, method, operation in operations(document):
        if path.startswith("/api/v1/projects/{slug}/"):
            named = {p["$ref"].rpartition("/")[2] for p in operation["parameters"] if "$ref" in p}
            assert named == {"Agent", "AgentHeader", *(["Retry"] if method != "get" else [])}


def test_a_lists_filters_are_declared(document: Document) -> None:
    listing = document["paths"]["/api/v1/projects/{slug}/decisions/"]["get"]
    names = {parameter.get("name") for parameter in listing["parameters"]}
    assert names >= {"status", "layer", "tags", "match", "exclude_tags", "scope", "by", "since", "until"}
    assert names >= {"sort", "order", "limit", "cursor", "full", "max_tokens", "key", "include"}


# -- What it does ----------------------------------------------------------------------------------


def test_the_hub_answers_as_the_schema_says(api: OpenApiSchema, apollo: Project) -> None:
    token = create_token(project=apollo, scopes=["read", "write", "admin"]).secret
    for result in api.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        _try_out(operation, GenerationMode.POSITIVE, 12, token)
        if operation.body:
            _try_out(operation, GenerationMode.NEGATIVE, 8, token)


def test_things_are_read_in_parts_as_the_schema_says(api: OpenApiSchema, apollo: Project) -> None:
    token = create_token(project=apollo, scopes=["read"]).secret
    readable = set()
    for result in api.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if "lines" not in {parameter.name for parameter in operation.query}:
            continue
        readable.add(operation.path.removeprefix("/api/v1/projects/{slug}/"))
        version = {"version": "1.0.0"} if operation.path.endswith("/versions/") else {}
        for query in ({}, {"lines": "1-"}, {"lines": "1@2-"}, {"tail": 1}, {"max_tokens": 1}):
            where = {p.name: PLACES.get(p.name, "1") for p in operation.path_parameters}
            case = operation.Case(path_parameters=where, query={**query, **(version if query else {})})
            headers = {"Authorization": f"Bearer {token}"}
            assert case.call_and_validate(headers=headers, checks=CHECKS).status_code == 200, (case, query)
    assert readable == {
        "changes/{change_id}/",
        "constraints/{constraint_id}/",
        "contexts/{context}/",
        "decisions/{key}/",
        "decisions/{key}/versions/",
        "memories/{memory_id}/",
        "messages/{message_id}/",
        "scratchpads/{scratchpad_id}/",
        "scratchpads/{scratchpad_id}/revisions/{revision}/",
    }


def _try_out(operation: Any, mode: GenerationMode, examples: int, token: str) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
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
        case.call_and_validate(headers=headers, checks=[*CHECKS, *_checks_of_a_wrong_body(case)])

    answers_as_promised()


def _checks_of_a_wrong_body(case: Case[Any]) -> list[Any]:
    """What the schema forbids in a body is refused. In a query all is text, and a text is a list of one."""
    assert case.meta is not None
    body = case.meta.components.get(ParameterLocation.BODY)
    is_wrong = body and body.mode is GenerationMode.NEGATIVE
    # A batch that is not atomic is answered with 200, and each wrong item with its error.
    return [negative_data_rejection] if is_wrong and not case.path.endswith("/batch/") else []


# -- A stranger ------------------------------------------------------------------------------------


def test_a_stranger_finds_nothing_at_any_address(document: Document, cy_rest: RestClient) -> None:
    body = {"key": "k", "value": 1}
    for path, method, _ in operations(document):
        address = filled(path)
        reply = cy_rest.send(method.upper(), address, None if method in ("get", "delete") else body)
        if "{slug}" in path or "{token_id}" in path:
            assert (reply.status, reply.body["error"]) == (404, "not_found"), (method, address)
        assert "So." not in str(reply.body)
        assert "apollo" not in str(reply.body).replace("There is no project 'apollo'", "")


def test_nobody_gets_in_without_a_token(document: Document, hub: LiveHub) -> None:
    for path, method, _ in operations(document):
        address = filled(path)
        reply = hub.rest().send(method.upper(), address, None if method == "get" else {})
        assert (reply.status, "www-authenticate" in reply.headers) == (401, True), (method, address)


def test_what_the_pages_offer_to_start_from_is_taken(document: Document, ada_rest: RestClient) -> None:
    offered = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "requestBody" not in operation or path == "/api/v1/projects/":  # That one is a superuser's.
                continue
            [example] = operation["requestBody"]["content"]["application/json"]["examples"].values()
            address = filled(path, tool="hub", action="stats")
            said = {**example["value"], **({"action": "stats"} if path.endswith("{tool}/") else {})}
            said |= {name: int(PLACES[name]) for name in said if name.endswith("_id") and name in PLACES}
            said |= {"target": "decision:k"} if "target" in said else {}
            assert ada_rest.send(method.upper(), address, said).status in (200, 201), (method, path)
            offered += 1
    assert offered >= 8
