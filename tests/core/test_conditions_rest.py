"""Headers, bodies and queries beside the operation itself are applied or refused, never ignored."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from tests.hub import LiveHub, RestClient

STALE = {"If-Match": '"0.0.0"'}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("decisions/batch/", {"items": [{"key": "a", "value": 2}]}),
        ("call/decision/set/", {"key": "a", "value": 2}),
        ("layers/", {"name": "review"}),
    ],
)
def test_if_match_is_refused_where_it_is_not_supported(ada_rest: RestClient, path: str, body: Any) -> None:
    ada_rest.post("decisions/", {"key": "a", "value": 1})
    reply = ada_rest.post(path, body, STALE)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert ada_rest.get("decisions/a/").body["value"] == 1


def test_if_none_match_is_refused(ada_rest: RestClient) -> None:
    assert ada_rest.post("decisions/", {"key": "a", "value": 1}, {"If-None-Match": "*"}).status == 400
    assert ada_rest.get("decisions/a/").status == 404


def test_a_body_on_delete_is_refused_and_nothing_is_removed(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "a", "value": 1})
    url = "/api/v1/projects/apollo/decisions/a/"
    reply = ada_rest.send("DELETE", url, {"expected_version": "7"})
    assert (reply.status, ada_rest.get("decisions/a/").status) == (400, 200)
    assert ada_rest.delete("decisions/a/").status == 204


def test_a_write_only_token_reads_nothing(hub: LiveHub, ada_rest: RestClient, apollo: Project) -> None:
    ada_rest.post("decisions/", {"key": "a", "value": 1, "rationale": "hidden"})
    writer = hub.rest(create_token(project=apollo, scopes=["write"]).secret)
    assert writer.get("decisions/a/").status == 403
    reply = writer.patch("decisions/a/", {})
    assert reply.status == 200
    assert set(reply.body) == {"key", "id", "ref", "version", "result"}


def test_an_agents_name_is_the_same_over_rest_and_mcp(hub: LiveHub, ben_token: str, apollo: Project) -> None:
    agent = {"Ctxhub-Agent": "Zoë".encode().decode("latin-1")}
    token = create_token(project=apollo, scopes=["read"]).secret
    assert hub.rest(token).send("GET", "/api/v1/projects/apollo/", headers=agent).body["agent"] == "Zoë"
    hub.mcp(token, **agent).call("hub", "stats")
    names = [row["name"] for row in hub.mcp(ben_token).rows("hub", "agents")]
    assert names.count("Zoë") == 1
    assert len(names) == len({*names} - {agent["Ctxhub-Agent"]})


def test_an_unknown_host_gets_421_in_the_format_of_all_errors(hub: LiveHub, ada_token: str) -> None:
    reply = hub.http(ada_token).send("GET", "/api/v1/projects/", headers={"Host": "hub.lan"})
    assert (reply.status, reply.body["error"]) == (421, "not_allowed")
    assert "CTXHUB_ALLOWED_HOSTS" in reply.body["hint"]


def test_a_list_of_one_key_has_the_whole_value(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "big", "value": "知识" * 10_000})
    [item] = ada_rest.get("decisions/", key="big").body["items"]
    assert item["value"] == "知识" * 10_000


def test_the_next_page_begins_after_a_row_too_long_for_any_page(ada_rest: RestClient) -> None:
    for key, value in (("a", "知识" * 10_000), ("b", "short")):
        ada_rest.post("decisions/", {"key": key, "value": value})
    first = ada_rest.get("decisions/", full="true", sort="key", order="asc").body
    assert (first["count"], first["omitted"], first["truncated"]) == (1, 1, True)
    second = ada_rest.get("decisions/", full="true", sort="key", order="asc", cursor=first["next"]).body
    assert [item["key"] for item in second["items"]] == ["b"]


def test_docs_and_healthz_are_read_only(hub: LiveHub) -> None:
    assert hub.http().send("OPTIONS", "/api/docs/").status in (405, 406)
    assert hub.http().send("POST", "/healthz").status == 405
