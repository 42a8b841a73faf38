"""Single decisions over REST: POST, GET, PATCH, PUT and DELETE, with ETag and If-Match."""

from typing import Any
from urllib.parse import quote

import pytest

from ctxhub.core.models import Event, Project
from tests.hub import WHOLE, Reply, RestClient

ALL_FIELDS: dict[str, Any] = {
    "value": "JWT",
    "layer": "business",
    "tags": ["api", "security"],
    "scopes": ["api/auth"],
    "paths": ["src/auth/**"],
    "status": "draft",
    "rationale": "Stateless.",
    "alternatives": ["sessions", {"option": "SAML", "why_not": "heavy"}],
    "tradeoffs": {"pros": ["fast"], "cons": ["revocation"]},
    "metadata": {"owner": "ada", "ticket": 7},
}


def is_error(reply: Reply, status: int, code: str) -> bool:
    return (reply.status, reply.body["error"]) == (status, code)


def count_events(project: Project) -> int:
    return Event.objects.in_project(project).count()


# -- Set and read ----------------------------------------------------------------------------------


def test_setting_a_key_that_exists_answers_200(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "k", **ALL_FIELDS})
    again = ada_rest.post("decisions/", {"key": "k", "value": "OAuth"}, WHOLE)
    assert (again.status, again.body["result"], again.body["version"]) == (200, "updated", "1.0.1")
    assert again.body["tags"] == ALL_FIELDS["tags"]
    assert ada_rest.post("decisions/", {"key": "k", "value": "OAuth"}).body["result"] == "unchanged"


@pytest.mark.parametrize(
    "key", ["a", "a/b/c", "ä/ö ü", "a?b#c%d", "a//b", "a/", "数据库", "می\u200cخواهم", "versions", "x.y/z"]
)
def test_any_key_works_in_a_url(ada_rest: RestClient, key: str) -> None:
    ada_rest.post("decisions/", {"key": key, "value": 1})
    for path in (quote(key), quote(key, safe="")):
        assert ada_rest.get(f"decisions/{path}/").body["key"] == key
        assert ada_rest.patch(f"decisions/{path}/", {"value": 2}).status == 200
        assert ada_rest.get(f"decisions/{path}/versions/").body["count"] >= 2


@pytest.mark.parametrize("key", ["batch", "a/versions", "..", "a/../b", "."])
def test_a_key_that_collides_with_a_path_is_found_by_query(ada_rest: RestClient, key: str) -> None:
    ada_rest.post("decisions/", {"key": key, **ALL_FIELDS})
    [item] = ada_rest.get("decisions/", key=key).body["items"]
    assert (item["key"], item["rationale"], item["metadata"]) == (key, "Stateless.", ALL_FIELDS["metadata"])


def test_an_unknown_key_answers_404_with_similar_keys(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "api/auth/method", "value": 1})
    reply = ada_rest.get("decisions/api/auth/metod/")
    assert is_error(reply, 404, "not_found")
    assert reply.body["similar"] == ["api/auth/method"]


def test_include_adds_history_and_links(ada_rest: RestClient) -> None:
    for value in (1, 2):
        ada_rest.post("decisions/", {"key": "old", "value": value})
    ada_rest.post("decisions/", {"key": "new", "value": "x" * 500})
    ada_rest.post("call/decision/deprecate/", {"key": "old", "reason": "Slow.", "superseded_by": "new"})
    old = ada_rest.get("decisions/old/", include="history,links").body
    assert [entry["value"] for entry in old["history"]] == [2, 2, 1]
    assert (old["status"], old["reason"], old["superseded_by"]) == ("deprecated", "Slow.", "new")
    new = ada_rest.get("decisions/new/", include=["links", "history"]).body
    assert (new["supersedes"], new["history"][0]["value"]) == (["old"], "x" * 500)
    assert "history" not in ada_rest.get("decisions/new/").body


def test_versions_are_paged_newest_first(ada_rest: RestClient) -> None:
    for value in range(5):
        ada_rest.post("decisions/", {"key": "a/b", "value": value})
    first = ada_rest.get("decisions/a/b/versions/", limit=2).body
    assert [item["version"] for item in first["items"]] == ["1.0.4", "1.0.3"]
    second = ada_rest.get("decisions/a/b/versions/", limit=2, cursor=first["next"]).body
    third = ada_rest.get("decisions/a/b/versions/", limit=2, cursor=second["next"]).body
    assert [item["value"] for item in [*second["items"], *third["items"]]] == [2, 1, 0]
    assert third["next"] is None


def test_an_unknown_key_has_no_versions(ada_rest: RestClient) -> None:
    assert ada_rest.get("decisions/nothing/versions/").body == {"items": [], "next": None, "count": 0}


# -- Change ----------------------------------------------------------------------------------------


def test_a_patch_of_other_fields_keeps_a_stored_credential(
    ada_rest: RestClient, ben_rest: RestClient
) -> None:
    secret = "ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8"
    assert ada_rest.post("decisions/", {"key": "k", "value": secret, "allow_secret": True}).status == 201
    assert ben_rest.patch("decisions/k/", {"tags": ["api"]}).body["value"] == secret
    assert is_error(ben_rest.patch("decisions/k/", {"rationale": secret}), 400, "invalid")


def test_a_put_resets_omitted_fields_to_their_defaults(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "k", **ALL_FIELDS})
    body = ada_rest.put("decisions/k/", {"value": "OAuth", "metadata": {"team": "x"}}).body
    assert (body["value"], body["version"], body["status"]) == ("OAuth", "1.0.1", "active")
    assert (body["layer"], body["tags"], body["scopes"], body["paths"]) == (None, [], [], [])
    assert (body["rationale"], body["alternatives"], body["tradeoffs"]) == ("", [], {})
    assert body["metadata"] == {"team": "x"}


def test_a_put_creates_a_missing_decision(ada_rest: RestClient) -> None:
    created = ada_rest.put("decisions/k/", ALL_FIELDS)
    assert (created.status, created.body["result"], created.body["tags"]) == (
        201,
        "created",
        ALL_FIELDS["tags"],
    )
    again = ada_rest.put("decisions/k/", ALL_FIELDS)
    assert (again.status, again.body["result"]) == (200, "unchanged")


def test_a_put_needs_a_value(ada_rest: RestClient) -> None:
    reply = ada_rest.put("decisions/k/", {"tags": ["api"]})
    assert is_error(reply, 400, "invalid")
    assert reply.body["missing"] == ["value"]


def test_setting_a_deprecated_key_answers_a_hint(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": 1, "status": "deprecated"})
    reply = ada_rest.post("decisions/", {"key": "k", "value": 2}, WHOLE)
    assert (reply.body["status"], "revives" in reply.body["hint"]) == ("deprecated", True)


# -- ETag and If-Match -----------------------------------------------------------------------------


def test_the_etag_is_the_quoted_version(ada_rest: RestClient) -> None:
    assert ada_rest.post("decisions/", {"key": "k", "value": 1}).headers["etag"] == '"1.0.0"'
    assert ada_rest.patch("decisions/k/", {"value": 2}).headers["etag"] == '"1.0.1"'
    assert ada_rest.get("decisions/k/").headers["etag"] == '"1.0.1"'


@pytest.mark.parametrize("tag", ['"1.0.1"', 'W/"1.0.1"', "1.0.1"])
def test_if_match_accepts_the_current_version(ada_rest: RestClient, tag: str) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": 1})
    ada_rest.post("decisions/", {"key": "k", "value": 2})
    assert ada_rest.patch("decisions/k/", {"value": 3}, {"If-Match": tag}).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_if_match_refuses_any_other_version(ada_rest: RestClient, apollo: Project, method: str) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": 1})
    key = {"key": "k"} if method == "POST" else {}
    path = ada_rest._url("decisions/" if method == "POST" else "decisions/k/")
    body = None if method == "DELETE" else {"value": 2, **key}
    reply = ada_rest.send(method, path, body, {"If-Match": '"0.9"'})
    assert is_error(reply, 412, "conflict")
    assert reply.body["current"] == {"version": "1.0.0", "value": 1}
    assert count_events(apollo) == 1


@pytest.mark.parametrize("version", ["two words", 'say "hi"', "100%", "ü", "a,b", "*"])
def test_any_version_works_as_etag_and_if_match(ada_rest: RestClient, version: str) -> None:
    created = ada_rest.post("decisions/", {"key": "k", "value": 1, "version": version})
    changed = ada_rest.patch("decisions/k/", {"tags": ["api"]}, {"If-Match": created.headers["etag"]})
    assert (changed.status, changed.body["version"]) == (200, version)


@pytest.mark.parametrize("tag", ['"1.0.0", "1.0.1"', "*", '"1.0.0', ""])
def test_if_match_must_be_exactly_one_version(ada_rest: RestClient, tag: str) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": 1})
    assert is_error(ada_rest.patch("decisions/k/", {"value": 2}, {"If-Match": tag}), 400, "invalid")


def test_if_match_on_an_unknown_key_fails(ada_rest: RestClient, apollo: Project) -> None:
    reply = ada_rest.put("decisions/k/", {"value": 1}, {"If-Match": '"1.0.0"'})
    assert is_error(reply, 412, "conflict")
    assert count_events(apollo) == 0


def test_an_expected_version_in_the_body_conflicts_with_409(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": 1})
    stale = {"key": "k", "value": 2, "expected_version": "0.9"}
    assert is_error(ada_rest.post("decisions/", stale), 409, "conflict")
    both = ada_rest.post("decisions/", stale, {"If-Match": '"1.0.0"'})
    assert is_error(both, 400, "invalid")


# -- Bad input -------------------------------------------------------------------------------------


def test_a_too_long_key_in_the_url_is_invalid(ada_rest: RestClient) -> None:
    path = f"decisions/{'x' * 201}/"
    assert is_error(ada_rest.get(path), 400, "invalid")
    assert is_error(ada_rest.put(path, {"value": 1}), 400, "invalid")
    assert is_error(ada_rest.delete(path), 400, "invalid")


def test_an_error_names_all_unknown_fields(ada_rest: RestClient) -> None:
    reply = ada_rest.post("decisions/", {"name": "k", "decision": 1, "reason": "x", "zzz": 1})
    assert is_error(reply, 400, "invalid")
    assert reply.body["did_you_mean"] == {"name": "key", "decision": "value", "reason": "rationale"}
    query = ada_rest.get("decisions/", labels="a", max_results=5)
    assert query.body["did_you_mean"] == {"labels": "tags", "max_results": "limit"}


def test_an_error_names_missing_fields(ada_rest: RestClient) -> None:
    assert ada_rest.post("decisions/", {}).body["missing"] == ["key", "value"]
    assert ada_rest.post("decisions/batch/", {}).body["missing"] == ["items"]


def test_unknown_query_parameters_are_refused_at_every_endpoint(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": 1})
    assert is_error(ada_rest.get("decisions/k/", inclued="links"), 400, "invalid")
    assert is_error(ada_rest.get("decisions/k/", include="everything"), 400, "invalid")
    assert is_error(ada_rest.patch("decisions/k/?force=1", {"value": 2}), 400, "invalid")
    assert is_error(ada_rest.delete("decisions/k/?force=1"), 400, "invalid")


# -- Another project -------------------------------------------------------------------------------
