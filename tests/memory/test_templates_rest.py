"""Templates and analytics over REST."""

from typing import Any

import pytest

from ctxhub.core.models import Project
from memory.models import Decision
from tests.hub import WHOLE, Reply, RestClient

INCIDENT: dict[str, Any] = {
    "defaults": {"layer": "infrastructure", "tags": ["incident"]},
    "require": ["rationale", "severity"],
    "patterns": {"severity": "^(low|high)$"},
}
BODY: dict[str, Any] = {"key": "k", "value": "x", "rationale": "So.", "metadata": {"severity": "low"}}


@pytest.fixture
def incident(ada_rest: RestClient) -> RestClient:
    assert ada_rest.put("templates/incident/", INCIDENT).status == 201
    return ada_rest


def is_error(reply: Reply, status: int, code: str) -> bool:
    return (reply.status, reply.body["error"]) == (status, code)


# -- Templates -------------------------------------------------------------------------------------


def test_a_put_replaces_every_field(incident: RestClient) -> None:
    body = incident.put("templates/incident/", {"require": ["cause"]}).body
    assert (body["defaults"], body["require"], body["patterns"]) == ({}, ["cause"], {})


def test_a_patch_copies_a_built_in_template_to_the_project(ada_rest: RestClient, cy_rest: RestClient) -> None:
    changed = ada_rest.patch("templates/breaking_change/", {"require": ["rationale"]})
    assert (changed.status, changed.body["origin"]) == (201, "own")
    assert changed.body["defaults"]["tags"] == ["breaking"]
    assert cy_rest.get("templates/breaking_change/").body["origin"] == "built-in"


def test_a_deleted_template_is_gone_and_a_built_in_template_stays(incident: RestClient) -> None:
    for _ in range(2):  # Sent again under the same key, it answers as before.
        assert incident.delete("templates/incident/", {"Idempotency-Key": "r-1"}).status == 204
    assert is_error(incident.get("templates/incident/"), 404, "not_found")
    assert is_error(incident.delete("templates/incident/"), 404, "not_found")
    assert is_error(incident.delete("templates/deprecation/"), 403, "not_allowed")


def test_only_an_administrator_deletes(incident: RestClient, ben_rest: RestClient) -> None:
    assert is_error(ben_rest.delete("templates/incident/"), 403, "not_allowed")


def test_an_unknown_template_answers_404_with_a_suggestion(incident: RestClient) -> None:
    reply = incident.get("templates/incidents/")
    assert is_error(reply, 404, "not_found")
    assert reply.body["did_you_mean"] == "incident"


@pytest.mark.parametrize("name", ["with blanks", "a%2Fb", "%E6%95%B0"])
def test_a_percent_encoded_name_is_reached_at_its_address(ada_rest: RestClient, name: str) -> None:
    address = f"templates/{name.replace(' ', '%20')}/"
    assert ada_rest.put(address, {}).status == 201
    assert ada_rest.get(address).status == 200
    assert ada_rest.post(f"{address}decisions/", {"key": "k", "value": 1}).status == 201


# -- Decisions from a template ---------------------------------------------------------------------


def test_a_decision_is_made_from_a_template(incident: RestClient, ben_rest: RestClient) -> None:
    made = ben_rest.post("templates/incident/decisions/", {**BODY, "tags": ["api"]}, WHOLE)
    assert (made.status, made.body["result"], made.headers["etag"]) == (201, "created", '"1.0.0"')
    assert (made.body["layer"], made.body["tags"]) == ("infrastructure", ["api", "incident"])
    assert made.body["agent"] == "ben"
    again = ben_rest.post("templates/incident/decisions/", {**BODY, "value": "y"}, {"If-Match": '"1.0.0"'})
    assert (again.status, again.body["version"]) == (200, "1.0.1")
    late = ben_rest.post("templates/incident/decisions/", BODY, {"If-Match": '"1.0.0"'})
    assert is_error(late, 412, "conflict")


@pytest.mark.parametrize(
    "bad",
    [
        {"rationale": ""},
        {"metadata": {}},
        {"metadata": {"severity": "bad"}},
        {"layer": "nowhere"},
        {"severity": "low"},
    ],
    ids=str,
)
def test_a_decision_that_the_template_refuses_is_not_written(
    incident: RestClient, apollo: Project, bad: Any
) -> None:
    assert is_error(incident.post("templates/incident/decisions/", {**BODY, **bad}), 400, "invalid")
    assert not Decision.objects.in_project(apollo).exists()


def test_missing_fields_are_named(incident: RestClient) -> None:
    reply = incident.post("templates/incident/decisions/", {"key": "k", "value": "x"})
    assert reply.body["missing"] == ["rationale", "severity"]


# -- Analytics -------------------------------------------------------------------------------------


def test_analytics_match_those_of_the_tool(ada_rest: RestClient) -> None:
    for value in (10, 20):
        ada_rest.post("decisions/", {"key": "perf/a", "value": value, "layer": "data"})
    query = {"pattern": "perf/*", "bucket": "day", "since": "1h", "layer": "data"}
    body = ada_rest.get("decisions/analytics/", **query).body
    assert body.pop("next") is None
    assert body == ada_rest.post("call/decision/analytics/", {**query, "format": "objects"}).body
    [bucket] = body["items"]
    assert (body["count"], body["mean"], bucket["count"], bucket["mean"]) == (2, 15, 2, 15)
    assert ada_rest.get("decisions/analytics/", pattern="perf/*", until="1h").body["count"] == 0


def test_a_decision_named_like_the_endpoint_is_found_by_query(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "analytics", "value": 1})
    assert ada_rest.get("decisions/", key="analytics").body["items"][0]["value"] == 1
    assert ada_rest.get("decisions/x/analytics/").status == 404
