"""The bin over REST and MCP: lists, restoring, purging, and who may."""

import json
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import BinItem, Event, Project
from tests.hub import LiveHub, McpClient, RestClient
from tests.stdio import stdio_hub

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def remember(rest: RestClient, title: str = "t", **more: Any) -> str:
    body = {"title": title, "content": "The content.", **more}
    return f"memory:{rest.post('memories/', body).body['id']}"


def delete(rest: RestClient, *refs: str) -> None:
    assert rest.post("call/delete/", {"refs": list(refs)}).status == 200


def token(hub: LiveHub, project: Project, *scopes: str) -> RestClient:
    return hub.rest(create_token(project=project, name="-".join(scopes), agent="eve", scopes=scopes).secret)


# -- The list --------------------------------------------------------------------------------------


def test_the_list_tells_what_was_deleted_by_whom(ada_rest: RestClient) -> None:
    ref = remember(ada_rest, "Why JWT", context="shop")
    context = f"context:{ada_rest.get('contexts/shop/').body['id']}"
    ada_rest.post("decisions/", {"key": "api/auth", "value": "v"})
    assert ada_rest.delete("contexts/shop/").status == 204
    assert ada_rest.delete("decisions/api/auth/").status == 204
    body = ada_rest.get("bin/").body
    assert [(item["ref"], item["title"], item["by"]) for item in body["items"]] == [
        ("decision:api/auth", "api/auth", "ada"),
        (context, "shop", "ada"),
    ]
    assert body["items"][1]["along"] == {"memories": 1}
    assert {item["state"] for item in body["items"]} == {"kept"}
    assert set(body["items"][0]) == {
        *("id", "ref", "title", "deleted", "until", "by", "along", "state"),
    }
    assert "The content." not in json.dumps(body)
    assert ref not in json.dumps(body)


def test_its_filters_and_pages(ada_rest: RestClient, ben_rest: RestClient) -> None:
    refs = [remember(ada_rest, f"t{n}") for n in range(5)]
    for ref in refs:
        delete(ben_rest if ref == refs[0] else ada_rest, ref)
    ada_rest.post("decisions/", {"key": "k", "value": "v"})
    delete(ada_rest, "decision:k")
    assert [item["ref"] for item in ada_rest.get("bin/", kind="decision").body["items"]] == ["decision:k"]
    assert [item["ref"] for item in ada_rest.get("bin/", by="BEN").body["items"]] == [refs[0]]
    assert ada_rest.get("bin/", kind="nothing").status == 400
    found, cursor = [], None
    while True:
        page = ada_rest.get("bin/", limit=2, **({"cursor": cursor} if cursor else {})).body
        found += [item["ref"] for item in page["items"]]
        if not (cursor := page["next"]):
            break
    assert found == ["decision:k", *refs[::-1]]
    assert page["total"] == 6


def test_titles_show_no_credentials(ada_rest: RestClient) -> None:
    ref = remember(ada_rest, f"the token {SECRET}", allow_secret=True)
    delete(ada_rest, ref)
    [item] = ada_rest.get("bin/").body["items"]
    assert item["title"].startswith("the token [credential: ")
    assert SECRET not in json.dumps(item)


# -- Restoring -------------------------------------------------------------------------------------


def test_restoring_answers_a_row_for_each(ada_rest: RestClient, apollo: Project) -> None:
    ref = remember(ada_rest, context="shop")
    before = ada_rest.get(f"memories/{ref}/").body
    delete(ada_rest, ref)
    assert ada_rest.get(f"memories/{ref}/").status == 404
    tried = ada_rest.post("bin/restore/", {"refs": [ref], "dry_run": True})
    assert tried.body["dry_run"] is True
    assert ada_rest.get(f"memories/{ref}/").status == 404
    answer = ada_rest.post("bin/restore/", {"refs": [ref, "memory:99"]})
    assert answer.status == 200
    assert [(row["ref"], row["result"]) for row in answer.body["items"]] == [
        (ref, "restored"),
        ("memory:99", "not_found"),
    ]
    assert ada_rest.get(f"memories/{ref}/").body == before
    assert ada_rest.post("bin/restore/", {"refs": [ref]}).status == 404
    assert ada_rest.get("bin/").body["items"] == []


def test_a_repeated_request_key_restores_once(ada_rest: RestClient, apollo: Project) -> None:
    ref = remember(ada_rest)
    delete(ada_rest, ref)
    key = {"Idempotency-Key": "r-1"}
    answers = [ada_rest.post("bin/restore/", {"refs": [ref]}, headers=key).body for _ in range(2)]
    assert answers[0] == answers[1]
    assert Event.objects.in_project(apollo).filter(verb="restored").count() == 1


def test_a_taken_name_answers_409(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": "v"})
    delete(ada_rest, "decision:k")
    ada_rest.post("decisions/", {"key": "k", "value": "w"})
    answer = ada_rest.post("bin/restore/", {"refs": ["decision:k"]})
    assert (answer.status, answer.body["error"]) == (409, "conflict")


@pytest.mark.parametrize(
    "body", [{}, {"refs": []}, {"refs": 1}, {"refs": [1]}, {"refs": ["x"], "undo": True}, []]
)
def test_bad_bodies_are_refused(ada_rest: RestClient, body: Any) -> None:
    assert ada_rest.post("bin/restore/", body).status == 400


def test_deleting_over_rest_or_mcp_and_restoring_over_the_other(
    ada_rest: RestClient, ada_mcp: McpClient
) -> None:
    ref = remember(ada_rest)
    assert ada_rest.delete(f"memories/{ref}/").status == 204
    assert ada_mcp.rows("delete", refs=[ref], undo=True) == [{"ref": ref, "result": "restored"}]
    ada_mcp.call("delete", refs=[ref])
    assert ada_rest.post("bin/restore/", {"refs": [ref]}).status == 200


def test_over_mcp_it_is_an_error_only_if_none_was_restored(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="a", value="v")
    ada_mcp.call("delete", refs=["decision:a"])
    asked = {"refs": ["decision:a", "decision:b"], "undo": True}
    tried = ada_mcp.result("delete", {**asked, "dry_run": True})
    results = [ada_mcp.result("delete", asked) for _ in range(2)]
    assert [result["isError"] for result in (tried, *results)] == [False, False, True]
    body = json.loads(results[1]["content"][0]["text"])
    assert body["message"].startswith("None of the 2 was restored.")
    assert [row[1] for row in body["rows"]] == ["not_found"] * 2


@pytest.mark.one_engine
@pytest.mark.django_db(transaction=True)
def test_over_stdio(apollo: Project) -> None:
    with stdio_hub("--project", "apollo") as client:
        client.start()
        client.call("decision", action="set", key="a", value="v")
        client.call("delete", refs=["decision:a"])
        assert client.call("delete", refs='["decision:a"]', undo="true")["rows"] == [
            ["decision:a", "restored"]
        ]


# -- Who may ---------------------------------------------------------------------------------------


def test_readers_list_and_try(hub: LiveHub, apollo: Project, ada_rest: RestClient) -> None:
    ref = remember(ada_rest)
    delete(ada_rest, ref)
    reader = token(hub, apollo, "read")
    assert len(reader.get("bin/").body["items"]) == 1
    assert reader.post("bin/restore/", {"refs": [ref]}).status == 403
    tried = reader.post("bin/restore/", {"refs": [ref], "dry_run": True})
    assert [row["result"] for row in tried.body["items"]] == ["not_allowed"]
    assert reader.delete(f"bin/{BinItem.unscoped.get().pk}/").status == 403


def test_writers_restore_what_they_may_delete(hub: LiveHub, apollo: Project, ada_rest: RestClient) -> None:
    ref = remember(ada_rest)
    ada_rest.post("decisions/", {"key": "k", "value": "v"})
    delete(ada_rest, ref, "decision:k")
    writer = token(hub, apollo, "write")
    assert writer.get("bin/").status == 403
    answer = writer.post("bin/restore/", {"refs": ["decision:k", ref]})
    assert [row["result"] for row in answer.body["items"]] == ["not_allowed", "restored"]
    assert writer.post("bin/restore/", {"refs": ["decision:k"]}).status == 403
    assert token(hub, apollo, "admin").post("bin/restore/", {"refs": ["decision:k"]}).status == 200


def test_strangers_find_nothing(ada_rest: RestClient, cy_rest: RestClient, cy_mcp: McpClient) -> None:
    ref = remember(ada_rest)
    delete(ada_rest, ref)
    item = BinItem.unscoped.get().pk
    assert cy_rest.get("bin/").body["items"] == []
    assert cy_rest.post("bin/restore/", {"refs": [ref]}).status == 404
    assert cy_rest.delete(f"bin/{item}/").status == 404
    assert cy_mcp.call("delete", refs=[ref], undo=True)["error"] == "not_found"
    for address in ("bin/", "bin/restore/"):
        assert cy_rest.get(f"/api/v1/projects/apollo/{address}").status in (404, 405)
    assert BinItem.unscoped.count() == 1


# -- Purging ---------------------------------------------------------------------------------------


def test_an_administrator_purges_an_entry(hub: LiveHub, apollo: Project, ada_rest: RestClient) -> None:
    ref = remember(ada_rest)
    delete(ada_rest, ref)
    item = ada_rest.get("bin/").body["items"][0]["id"]
    assert token(hub, apollo, "read", "write").delete(f"bin/{item}/").status == 403
    key = {"Idempotency-Key": "r-1"}
    assert [ada_rest.delete(f"bin/{item}/", headers=key).status for _ in range(2)] == [204, 204]
    assert ada_rest.delete(f"bin/{item}/").status == 404
    assert ada_rest.post("bin/restore/", {"refs": [ref]}).status == 404
    assert ada_rest.get("bin/").body["items"] == []
