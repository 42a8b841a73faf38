"""Constraints over REST."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership, Project
from memory.constraints.services import add_constraint, deactivate_constraint
from tests.hub import LiveHub, Reply, RestClient
from tests.signed_in import sign_in
from tests.tables import dump_project

TEXT = "Every address of the API asks for a token."
ALL_FIELDS: dict[str, Any] = {
    "category": "security",
    "text": TEXT,
    "priority": "critical",
    "layer": "business",
    "tags": ["api"],
    "scopes": ["api/auth"],
    "paths": ["src/api/**"],
    "reason": "It is public.",
}


def add(client: RestClient, **rest: Any) -> Reply:
    return client.post("constraints/", {"category": "security", "text": TEXT, **rest})


def texts(client: RestClient, **query: Any) -> list[str]:
    reply = client.get("constraints/", **query)
    assert reply.status == 200, reply
    return [item["text"] for item in reply.body["items"]]


# -- Single constraints ----------------------------------------------------------------------------


def test_post_answers_201_with_the_whole_constraint(ada_rest: RestClient) -> None:
    created = add(ada_rest, **ALL_FIELDS)
    assert created.status == 201
    stored = ada_rest.get(f"constraints/{created.body['id']}/")
    assert created.body == {**stored.body, "result": "created"}
    assert {name: stored.body[name] for name in ALL_FIELDS} == ALL_FIELDS
    assert (stored.body["status"], stored.body["agent"]) == ("active", "ada")


def test_posting_an_existing_constraint_answers_200(ada_rest: RestClient, ben_rest: RestClient) -> None:
    first = add(ada_rest, priority="high")
    again = add(ben_rest, priority="low")
    assert (again.status, again.body["result"], again.body["id"]) == (200, "exists", first.body["id"])
    assert "priority" in again.body["hint"]
    assert again.body["priority"] == "high"


def test_null_means_the_default(ada_rest: RestClient) -> None:
    empty = dict.fromkeys(("layer", "tags", "scopes", "paths", "reason"))
    created = add(ada_rest, **empty)
    assert created.status == 201
    assert [created.body[name] for name in empty] == [None, [], [], [], ""]


def test_patching_the_status_deactivates_and_activates(ada_rest: RestClient) -> None:
    path = f"constraints/{add(ada_rest).body['id']}/"
    for status, shown in (("inactive", "inactive"), ("ACTIVE", "active"), (2, "inactive")):
        changed = ada_rest.patch(path, {"status": status, "reason": "So it was decided."})
        assert (changed.status, changed.body["status"], changed.body["result"]) == (200, shown, "updated")
        assert ada_rest.patch(path, {"status": status}).body["result"] == "unchanged"
    notes = [item["note"] for item in ada_rest.get("activity/").body["items"]]
    assert notes == ["So it was decided."] * 3 + ["security, medium"]


def test_deactivate_and_activate_have_endpoints(ada_rest: RestClient) -> None:
    path = f"constraints/{add(ada_rest).body['id']}/"
    deactivated = ada_rest.post(f"{path}deactivate/", {"reason": "It is not public any more."})
    assert (deactivated.status, deactivated.body["status"], deactivated.body["result"]) == (
        200,
        "inactive",
        "updated",
    )
    assert ada_rest.post(f"{path}deactivate/").body["result"] == "unchanged"
    assert ada_rest.post(f"{path}activate/").body["status"] == "active"


def test_call_endpoints_answer_like_the_mcp_tool(ada_rest: RestClient) -> None:
    created = ada_rest.post("call/constraint/add/", {"category": "security", "text": TEXT})
    assert created.body == {"id": created.body["id"], "result": "created"}
    deactivated = ada_rest.post("call/constraint/deactivate/", {"id": f"constraint:{created.body['id']}"})
    assert deactivated.body["status"] == "inactive"
    assert ada_rest.post("call/constraint/list/", {"status": "any"}).body["count"] == 1


# -- Lists -----------------------------------------------------------------------------------------


@pytest.fixture
def filled(hub: LiveHub, ada: Caller, ben: Caller) -> None:
    """Four constraints that differ in every field that lists filter by."""
    for caller, text, rest in (
        (ada, "one", {"priority": 4, "layer": "data", "tags": ["api", "db"], "scopes": ["api/users"]}),
        (ben, "two", {"priority": "low", "tags": ["api"], "scopes": ["api/orders"]}),
        (ada, "three", {"category": "Cost", "tags": ["db"], "scopes": ["db"], "reason": "y" * 300}),
        (ben, "four", {"category": "performance", "priority": "high", "layer": "business"}),
    ):
        answer = add_constraint(caller=caller, **{"category": "security", "text": text, **rest})  # type: ignore[arg-type]
    deactivate_constraint(caller=ben, constraint_id=answer["id"])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["one", "three", "two"]),
        ({"category": ""}, ["one", "three", "two"]),
        ({"priority": "4"}, ["one"]),
        ({"tags": "api,db"}, ["one", "three", "two"]),
        ({"tags": ["api", "db"], "match": "all"}, ["one"]),
        ({"status": "inactive"}, ["four"]),
        ({"status": "2"}, ["four"]),
        ({"status": "any", "by": "ben"}, ["four", "two"]),
    ],
    ids=str,
)
def test_each_filter_finds_what_it_names(
    filled: None, ada_rest: RestClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert texts(ada_rest, **query) == expected


def test_texts_are_cut_unless_full(filled: None, ada_rest: RestClient) -> None:
    [cut] = ada_rest.get("constraints/", category="cost").body["items"]
    [full] = ada_rest.get("constraints/", category="cost", full="true").body["items"]
    assert (cut["reason"], full["reason"]) == ("y" * 200 + "…", "y" * 300)


def test_categories_come_most_used_first(filled: None, ada_rest: RestClient) -> None:
    items = ada_rest.get("categories/").body["items"]
    assert [(item["name"], item["uses"]) for item in items] == [
        ("security", 2),
        ("performance", 1),
        ("Cost", 1),
        ("architecture", 0),
    ]


# -- Bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": " "},
        {"text": "x" * 65_537},
        {"category": ""},
        {"category": "x" * 101},
        {"priority": "urgent"},
        {"priority": 9},
        {"layer": "nowhere"},
        {"scopes": [" "]},
        {"paths": ["/etc/passwd"]},
    ],
    ids=lambda body: str(body)[:60],
)
def test_a_bad_body_is_invalid(ada_rest: RestClient, apollo: Project, body: dict[str, Any]) -> None:
    sent = {"category": "security", "text": TEXT, **body} if body else {}
    reply = ada_rest.post("constraints/", sent)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert dump_project(apollo)["memory_constraint"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"status": "odd"},
        {"priority": "odd"},
        {"layer": "odd"},
        {"match": "odd"},
        {"limit": 0},
        {"cursor": "zzz"},
        {"category": "x" * 101},
    ],
    ids=str,
)
def test_a_bad_query_is_invalid(ada_rest: RestClient, query: dict[str, Any]) -> None:
    reply = ada_rest.get("constraints/", **query)
    assert (reply.status, reply.body["error"]) == (400, "invalid")


@pytest.mark.parametrize("body", [{}, {"status": "odd"}, {"priority": "low"}], ids=str)
def test_a_bad_patch_is_invalid(ada_rest: RestClient, body: dict[str, Any]) -> None:
    path = f"constraints/{add(ada_rest).body['id']}/"
    reply = ada_rest.patch(path, body)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert ada_rest.get(path).body["status"] == "active"


@pytest.mark.parametrize("unknown", ["0", "9" * 40])
def test_an_unknown_id_answers_404(ada_rest: RestClient, unknown: str) -> None:
    path = f"constraints/{unknown}/"
    replies = [
        ada_rest.patch(path, {"status": "inactive"}),
        ada_rest.post(f"{path}deactivate/"),
        ada_rest.post(f"{path}activate/"),
    ]
    assert [(reply.status, reply.body["error"]) for reply in replies] == [(404, "not_found")] * 3


# -- Permissions -----------------------------------------------------------------------------------


def test_a_write_only_token_gets_only_the_result_of_its_own_writes(hub: LiveHub, apollo: Project) -> None:
    writer = hub.rest(create_token(project=apollo, agent="ci", scopes=["write"]).secret)
    created = add(writer)
    assert created.body == {"id": created.body["id"], "result": "created"}
    deactivated = writer.post(f"constraints/{created.body['id']}/deactivate/")
    assert deactivated.body == {"id": created.body["id"], "status": "inactive", "result": "updated"}
    assert writer.get("constraints/").status == 403


@pytest.mark.parametrize(
    ("role", "status"), [(Membership.Role.VIEWER, 403), (Membership.Role.MEMBER, 201)], ids=str
)
def test_the_role_of_a_person_decides_whether_they_may_write(
    hub: LiveHub, apollo: Project, role: Membership.Role, status: int
) -> None:
    assert add(sign_in(hub, "vi", apollo, role)).status == status


@pytest.mark.every_engine
def test_an_idempotency_key_writes_once(ada_rest: RestClient) -> None:
    headers = {"Idempotency-Key": "k-1"}
    body = {"category": "security", "text": TEXT}
    first, again = (ada_rest.post("constraints/", body, headers) for _ in range(2))
    assert first.body == again.body
    assert ada_rest.get("stats/").body["constraints"] == [1, 1]


def test_an_unsupported_if_match_is_refused(ada_rest: RestClient) -> None:
    path = f"constraints/{add(ada_rest).body['id']}/"
    assert ada_rest.patch(path, {"status": "inactive"}, {"If-Match": '"1"'}).status == 400


def test_the_number_of_queries_does_not_grow_with_rows(ada: Caller) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {create_token(project=ada.project, agent='ada').secret}")

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/api/v1/projects/apollo/constraints/?limit=200").status_code == 200
        return len(queries)

    count()
    for n in range(3):
        add_constraint(caller=ada, category=f"c{n}", text="x", tags=[f"t{n}"], scopes=["s"])
    few = count()
    for n in range(3, 40):
        add_constraint(caller=ada, category=f"c{n}", text="x", tags=[f"t{n}"], scopes=["s"])
    assert count() == few
