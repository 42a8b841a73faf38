"""What the OpenAPI document says to people: summaries, groups in order, and where to begin."""

from typing import Any

import pytest
from django.test import Client

from ctxhub.rest.documented import LONGEST_SUMMARY, summary_of
from tests.hub import RestClient


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    headers = {"Accept": "application/vnd.oai.openapi+json"}
    body: dict[str, Any] = Client().get("/api/schema/", headers=headers).json()
    return body


def all_operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for methods in document["paths"].values() for operation in methods.values()]


def test_every_operation_has_a_summary_of_one_line(document: dict[str, Any]) -> None:
    for operation in all_operations(document):
        summary = operation["summary"]
        assert 8 <= len(summary) <= LONGEST_SUMMARY, summary
        assert summary[0].isupper()
        assert summary[-1] not in ".:;,"
        assert not summary.startswith("The same")


def test_every_group_is_described_in_the_order_in_which_people_look(document: dict[str, Any]) -> None:
    used = {tag for operation in all_operations(document) for tag in operation["tags"]}
    named = [tag["name"] for tag in document["tags"]]
    assert {*named} == used
    assert all(tag["description"].endswith(".") for tag in document["tags"])
    first = ("me", "projects", "decisions", "constraints", "messages", "webhooks", "import")
    assert sorted(first, key=named.index) == [*first]


def test_it_says_where_to_begin(document: dict[str, Any], ada_rest: RestClient) -> None:
    says = document["info"]["description"]
    for what in ("manage.py token create", "Authorization: Bearer", "/api/v1/me/", "/api/v1/projects/-/"):
        assert what in says
    assert "token create" in document["components"]["securitySchemes"]["token"]["description"]
    slugs = [
        parameter["schema"]["default"]
        for operation in all_operations(document)
        for parameter in operation.get("parameters", ())
        if parameter.get("name") == "slug"
    ]
    assert {*slugs} == {"-"}
    assert ada_rest.get("/api/v1/projects/-/decisions/").status == 200


def test_a_session_that_begins_answers_200_as_documented(
    document: dict[str, Any], ada_rest: RestClient
) -> None:
    path = "/api/v1/projects/{slug}/sessions/begin/"
    assert [s for s in document["paths"][path]["post"]["responses"] if s < "3"] == ["200"]
    assert ada_rest.post("sessions/begin/", {"session": "window"}).status == 200


def test_null_is_no_state(ada_rest: RestClient) -> None:
    nothing = dict.fromkeys(("active_project", "enabled_mcps", "settings", "branch", "worktree"))
    states = []
    for fields in ({}, nothing, {"branch": "", "settings": {}}):
        made = ada_rest.post("sessions/", {"summary": "Half done.", **fields}).body["session"]
        states.append(ada_rest.get(f"sessions/{made}/").body.get("state"))
    assert states[0] == states[1] == states[2]
    assert ada_rest.post("sessions/", nothing).body["error"] == "invalid"


def test_summaries_end_where_a_sentence_can() -> None:
    assert summary_of("What is new: 201 where it is new.") == "What is new"
    assert summary_of("One `key.` here.\n\nMore.") == "One `key.` here"
    assert summary_of("Words, " * 30) == "Words"
    assert summary_of("x" * 20) == "x" * 20
