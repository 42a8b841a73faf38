"""Workflows and scratchpads over REST."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership, Project
from memory.models import Scratchpad
from tests.hub import LiveHub, Reply, RestClient
from tests.memory.pads import LIMIT, content_of, new_workflow, pad_of
from tests.signed_in import sign_in
from tests.tables import dump_project

TEXT = "# Findings\nA slow query\n\n# Plan\nMend it"


def workflow_of(client: RestClient, **fields: Any) -> int:
    reply = client.post("workflows/", fields)
    assert reply.status == 201, reply
    return int(reply.body["id"])


def pad(client: RestClient, content: str = TEXT, workflow: int | None = None, name: str = "notes") -> int:
    workflow = workflow_of(client) if workflow is None else workflow
    reply = client.post("scratchpads/", {"workflow_id": workflow, "name": name, "content": content})
    assert reply.status == 201, reply
    return int(reply.body["scratchpad_id"])


def refused(reply: Reply, status: int = 400, code: str = "invalid") -> bool:
    return (reply.status, reply.body["error"]) == (status, code)


# -- Workflows -------------------------------------------------------------------------------------


def test_a_new_workflow_answers_201_and_comes_back(ada_rest: RestClient) -> None:
    made = ada_rest.post("workflows/", {"name": "w", "metadata": {"team": "payments"}})
    assert made.status == 201
    one = ada_rest.get(f"workflows/{made.body['id']}/").body
    assert made.body == {**one, "workflow_id": one["id"]}
    assert (one["name"], one["metadata"], one["active"], one["pads"]) == ("w", {"team": "payments"}, True, 0)


def test_a_patch_changes_only_its_fields(ada_rest: RestClient) -> None:
    path = f"workflows/{workflow_of(ada_rest, name='w', metadata={'a': 1})}/"
    changed = ada_rest.patch(path, {"name": "new", "metadata": {"b": 2}})
    assert (changed.status, changed.body["result"], changed.body["active"]) == (200, "updated", True)
    assert (changed.body["name"], changed.body["metadata"]) == ("new", {"a": 1, "b": 2})
    assert ada_rest.patch(path, {"active": False}).body["active"] is False
    assert ada_rest.patch(path, {"active": False}).body["result"] == "unchanged"
    cleared = ada_rest.patch(path, {"name": None, "metadata": None}).body
    assert (cleared["name"], cleared["metadata"], cleared["active"]) == ("", {}, False)


def test_a_workflow_is_deleted_with_its_pads(ben_rest: RestClient, apollo: Project) -> None:
    workflow = workflow_of(ben_rest)
    pad(ben_rest, workflow=workflow)
    assert ben_rest.delete(f"workflows/{workflow}/").status == 204
    assert refused(ben_rest.get(f"workflows/{workflow}/"), 404, "not_found")
    assert not Scratchpad.objects.in_project(apollo).exists()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["closed", "open"]),
        ({"active": "true"}, ["open"]),
        ({"active": "false"}, ["closed"]),
        ({"text": "eagle"}, ["open"]),
    ],
    ids=str,
)
def test_each_filter_narrows_the_workflows(
    ada_rest: RestClient, query: dict[str, Any], expected: list[str]
) -> None:
    pad(ada_rest, "eagle", workflow_of(ada_rest, name="open"))
    closed = workflow_of(ada_rest, name="closed")
    ada_rest.patch(f"workflows/{closed}/", {"active": False})
    reply = ada_rest.get("workflows/", **query)
    assert [item["name"] for item in reply.body["items"]] == expected


# -- Pads ------------------------------------------------------------------------------------------


def test_a_new_pad_answers_201_and_comes_back_with_its_etag(ada_rest: RestClient) -> None:
    workflow = workflow_of(ada_rest)
    made = ada_rest.post("scratchpads/", {"workflow_id": workflow, "name": "notes", "content": TEXT})
    assert (made.status, set(made.body)) == (201, {"scratchpad_id", "created_at"})
    one = ada_rest.get(f"scratchpads/{made.body['scratchpad_id']}/")
    assert one.headers["etag"] == '"1"'
    assert (one.body["content"], one.body["workflow_id"], one.body["revision"]) == (TEXT, workflow, 1)


def test_two_addresses_list_the_pads_of_a_workflow(ada_rest: RestClient) -> None:
    workflow = workflow_of(ada_rest)
    ids = [pad(ada_rest, workflow=workflow, name=f"pad {n}") for n in range(3)]
    below = ada_rest.get(f"workflows/{workflow}/scratchpads/", limit=2)
    beside = ada_rest.get("scratchpads/", workflow_id=workflow, limit=2)
    assert [item["id"] for item in below.body["items"]] == ids[:2]
    assert below.body == beside.body
    rest = ada_rest.get("scratchpads/", workflow_id=workflow, cursor=beside.body["next"])
    assert [item["id"] for item in rest.body["items"]] == ids[2:]
    assert [item["content"] for item in rest.body["items"]] == [None]
    whole = ada_rest.get(f"workflows/{workflow}/scratchpads/", include_content="true").body
    assert [item["content"] for item in whole["items"]] == [TEXT] * 3


def test_get_reads_parts_of_a_pad(ada_rest: RestClient) -> None:
    path = f"scratchpads/{pad(ada_rest)}/"
    assert ada_rest.get(path, lines="1-2").body["content"] == "# Findings\nA slow query"
    assert ada_rest.get(path, tail=1).body["lines"] == "5-5"
    assert ada_rest.get(path, outline="true").body["outline"] == [
        {"level": 1, "text": "Findings", "line": 1, "size": 25},
        {"level": 1, "text": "Plan", "line": 4, "size": 14},
    ]


def test_a_pad_is_appended_to(ada_rest: RestClient, ben_rest: RestClient) -> None:
    row_id = pad(ada_rest, "first")
    reply = ben_rest.post(f"scratchpads/{row_id}/append/", {"content": "第二"})
    assert (reply.status, reply.body["new_length"]) == (200, 9)
    ben_rest.post(f"scratchpads/{row_id}/append/", {"content": "x", "separator": ""})
    assert content_of(row_id) == "first\n\n第二x"


def test_a_patch_edits(ada_rest: RestClient) -> None:
    row_id = pad(ada_rest)
    place = {"mode": "append_section", "section": "Findings"}
    body = {"content": "new", "expected_length": len(TEXT), **place}
    changed = ada_rest.patch(f"scratchpads/{row_id}/", body)
    assert (changed.status, changed.body["result"], changed.body["revision"]) == (200, "updated", 2)
    assert changed.headers["etag"] == '"2"'
    assert content_of(row_id) == TEXT.replace("query\n", "query\nnew\n")
    ada_rest.patch(f"scratchpads/{row_id}/", {"content": "x", "mode": "replace_lines", "line": 1, "end": 5})
    assert content_of(row_id) == "x\nMend it"


def test_revisions_are_listed_read_and_restored(ada_rest: RestClient, ben_rest: RestClient) -> None:
    path = f"scratchpads/{pad(ada_rest, 'one')}/"
    ben_rest.patch(path, {"content": "two"})
    items = ada_rest.get(f"{path}revisions/").body["items"]
    assert [(item["revision"], item["change"], item["agent"]) for item in items] == [
        (2, "replaced", "ben"),
        (1, "created", "ada"),
    ]
    revision = ada_rest.get(f"{path}revisions/1/").body
    assert (revision["content"], revision["revision"], revision["length"]) == ("one", 1, 3)
    restored = ada_rest.post(f"{path}revisions/1/restore/")
    assert (restored.status, restored.body["revision"], restored.headers["etag"]) == (200, 3, '"3"')
    assert ada_rest.get(path).body["content"] == "one"
    assert refused(ada_rest.get(f"{path}revisions/9/"), 404, "not_found")
    assert refused(ada_rest.post(f"{path}revisions/9/restore/"), 404, "not_found")


def test_pads_are_searched(ada_rest: RestClient) -> None:
    workflow = workflow_of(ada_rest)
    row_id = pad(ada_rest, "發現\nUserService 效能瓶頸", workflow)
    pad(ada_rest, "效能")
    found = ada_rest.get("scratchpads/search/", query="快取 效能", workflow_id=workflow).body
    [item] = found["items"]
    shown = {"scratchpad_id": row_id, "name": "notes", "workflow_id": workflow, "line": None}
    assert {name: item[name] for name in shown} == shown
    assert "«效能»瓶頸" in item["snippet"]
    assert ada_rest.get("scratchpads/search/", query="效能").body["total"] == 2
    assert ada_rest.get("scratchpads/search/", query="效能", limit=1).body["count"] == 1
    [place] = ada_rest.get("scratchpads/search/", query="效能", scratchpad_id=row_id).body["items"]
    assert (place["line"], place["snippet"]) == (2, "UserService «效能»瓶頸")
    bare = ada_rest.get("scratchpads/search/", query="效能", include_content="false").body["items"]
    assert [item["snippet"] for item in bare] == [None, None]


def test_content_that_is_too_long_is_cut_with_a_warning(ada_rest: RestClient) -> None:
    body = {"workflow_id": workflow_of(ada_rest), "name": "long", "content": "x" * (LIMIT + 5)}
    made = ada_rest.post("scratchpads/", body)
    assert (made.status, "the last 5 were cut off" in made.body["warning"]) == (201, True)
    path = f"scratchpads/{made.body['scratchpad_id']}/"
    assert len(ada_rest.get(path).body["content"]) == LIMIT
    assert "cut off" in ada_rest.post(f"{path}append/", {"content": "more"}).body["warning"]


def test_a_call_runs_the_action_of_the_tool(ada_rest: RestClient) -> None:
    workflow = ada_rest.post("call/scratchpad/create_workflow/", {"name": "w"}).body["workflow_id"]
    body = {"workflow_id": workflow, "name": "notes", "content": "text"}
    row_id = ada_rest.post("call/scratchpad/create/", body).body["scratchpad_id"]
    assert ada_rest.post("call/scratchpad/get/", {"scratchpad_id": 999_999}).body == {"scratchpad": None}
    got = ada_rest.post("call/scratchpad/get/", {"scratchpad_id": row_id}).body
    assert got["scratchpad"]["content"] == "text"


# -- Conditions ------------------------------------------------------------------------------------


def test_every_write_checks_if_match(ada_rest: RestClient) -> None:
    row_id = pad(ada_rest, "text")
    path, stale = f"scratchpads/{row_id}/", {"If-Match": '"7"'}
    for reply in (
        ada_rest.patch(path, {"content": "x"}, stale),
        ada_rest.post(f"{path}append/", {"content": "x"}, stale),
        ada_rest.post(f"{path}revisions/1/restore/", {}, stale),
        ada_rest.delete(path, stale),
        ada_rest.patch(path, {"content": "x"}, {"If-Match": '"another"'}),
    ):
        assert refused(reply, 412, "conflict")
    assert content_of(row_id) == "text"
    assert ada_rest.patch(path, {"content": "x"}, {"If-Match": '"1"'}).status == 200
    assert ada_rest.post(f"{path}append/", {"content": "y"}, {"If-Match": '"2"'}).status == 200
    assert ada_rest.delete(path, {"If-Match": '"3"'}).status == 204


def test_a_stale_length_without_a_condition_answers_409(ada_rest: RestClient) -> None:
    reply = ada_rest.patch(f"scratchpads/{pad(ada_rest)}/", {"content": "x", "expected_length": 1})
    assert refused(reply, 409, "conflict")
    assert reply.body["current"] == {"length": len(TEXT), "revision": 1}


def test_an_unsupported_if_match_is_refused(ada_rest: RestClient) -> None:
    workflow = workflow_of(ada_rest)
    headers = {"If-Match": '"1"'}
    assert refused(ada_rest.patch(f"workflows/{workflow}/", {"name": "x"}, headers))
    assert refused(ada_rest.post("scratchpads/", {"workflow_id": workflow, "name": "x"}, headers))


# -- Errors ----------------------------------------------------------------------------------------


def test_a_closed_workflow_answers_409(ada_rest: RestClient) -> None:
    workflow = workflow_of(ada_rest)
    path = f"scratchpads/{pad(ada_rest, workflow=workflow)}/"
    ada_rest.patch(f"workflows/{workflow}/", {"active": False})
    for reply in (
        ada_rest.post("scratchpads/", {"workflow_id": workflow, "name": "x"}),
        ada_rest.post(f"{path}append/", {"content": "x"}),
        ada_rest.patch(path, {"content": "x"}),
        ada_rest.post(f"{path}revisions/1/restore/"),
        ada_rest.delete(path),
    ):
        assert refused(reply, 409, "conflict")


def test_the_51st_pad_answers_409(ada_rest: RestClient, ada: Caller) -> None:
    workflow = new_workflow(ada)
    for _ in range(50):
        pad_of(ada, workflow=workflow)
    assert refused(
        ada_rest.post("scratchpads/", {"workflow_id": workflow, "name": "x"}), 409, "limit_reached"
    )


@pytest.mark.parametrize("unknown", ["0", "999999", str(2**63), "9" * 40])
def test_an_unknown_id_answers_404(ada_rest: RestClient, unknown: str) -> None:
    workflow, path = f"workflows/{unknown}/", f"scratchpads/{unknown}/"
    for reply in (
        ada_rest.get(workflow),
        ada_rest.patch(workflow, {"name": "x"}),
        ada_rest.delete(workflow),
        ada_rest.get(path),
        ada_rest.patch(path, {"content": "x"}),
        ada_rest.delete(path),
        ada_rest.post(f"{path}append/", {"content": "x"}),
        ada_rest.get(f"{path}revisions/1/"),
        ada_rest.post(f"{path}revisions/1/restore/"),
    ):
        assert refused(reply, 404, "not_found")
    assert ada_rest.get(f"{workflow}scratchpads/").body["items"] == []
    assert ada_rest.get("scratchpads/", workflow_id=unknown).body["items"] == []
    assert ada_rest.get(f"{path}revisions/").body["items"] == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "scratchpads/", {}),
        ("POST", "scratchpads/", {"workflow_id": 1, "name": " "}),
        ("POST", "scratchpads/", {"workflow_id": 1, "name": "x", "content": "\x00"}),
        ("POST", "scratchpads/{p}/append/", {}),
        ("POST", "scratchpads/{p}/append/", {"content": ""}),
        ("POST", "scratchpads/{p}/append/", {"content": "\ud83d"}),
        ("PATCH", "scratchpads/{p}/", {}),
        ("PATCH", "scratchpads/{p}/", {"content": "x", "mode": "odd"}),
        ("PATCH", "scratchpads/{p}/", {"content": "x", "mode": "insert"}),
        ("PATCH", "scratchpads/{p}/", {"content": "x", "mode": "insert", "line": 10**30}),
        ("PATCH", "scratchpads/{p}/", {"content": "x", "mode": "insert", "line": "1"}),
        ("POST", "scratchpads/{p}/revisions/1/restore/", {"content": "x"}),
        ("DELETE", "scratchpads/{p}/", {"content": "x"}),
    ],
    ids=str,
)
def test_a_bad_body_is_invalid(
    ada_rest: RestClient, apollo: Project, method: str, path: str, body: dict[str, Any]
) -> None:
    workflow = workflow_of(ada_rest)
    url = ada_rest._url(path.format(w=workflow, p=pad(ada_rest, workflow=workflow)))
    before = dump_project(apollo)["memory_scratchpad"]
    assert refused(ada_rest.send(method, url, body))
    assert dump_project(apollo)["memory_scratchpad"] == before


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("workflows/", {"limit": 0}),
        ("workflows/", {"cursor": "zzz"}),
        ("scratchpads/", {}),
        ("scratchpads/{p}/", {"lines": "x"}),
        ("scratchpads/{p}/", {"tail": 0}),
        ("scratchpads/{p}/", {"tail": 1, "outline": "true"}),
        ("scratchpads/{p}/revisions/", {"cursor": "zzz"}),
        ("scratchpads/search/", {}),
        ("scratchpads/search/", {"query": " "}),
        ("scratchpads/search/", {"query": "x", "limit": 201}),
        ("scratchpads/search/", {"query": "x", "cursor": "x"}),
    ],
    ids=str,
)
def test_a_bad_query_is_invalid(ada_rest: RestClient, path: str, query: dict[str, Any]) -> None:
    assert refused(ada_rest.get(path.format(p=pad(ada_rest)), **query))


# -- Rights and requests ---------------------------------------------------------------------------


def test_another_projects_objects_answer_404(
    ada_rest: RestClient, cy_rest: RestClient, apollo: Project
) -> None:
    workflow = workflow_of(ada_rest)
    pad(ada_rest, "moonshot", workflow)
    before = dump_project(apollo)
    reply = cy_rest.post("scratchpads/", {"workflow_id": workflow, "name": "x"})
    assert refused(reply, 404, "not_found")
    assert cy_rest.get("scratchpads/search/", query="moonshot").body["items"] == []
    assert dump_project(apollo) == before


def test_a_write_only_token_gets_short_answers(hub: LiveHub, apollo: Project) -> None:
    writer = hub.rest(create_token(project=apollo, agent="ci", scopes=["write"]).secret)
    made = writer.post("workflows/", {"name": "w"})
    assert set(made.body) == {"workflow_id", "created_at"}
    changed = writer.patch(f"workflows/{made.body['workflow_id']}/", {"name": "x"})
    assert set(changed.body) == {"workflow_id", "active", "result"}
    assert writer.get("workflows/").status == 403


@pytest.mark.parametrize(
    ("role", "status"), [(Membership.Role.VIEWER, 403), (Membership.Role.MEMBER, 201)], ids=str
)
def test_the_role_decides_who_may_write(
    hub: LiveHub, apollo: Project, role: Membership.Role, status: int
) -> None:
    assert sign_in(hub, "vi", apollo, role).post("workflows/", {}).status == status


@pytest.mark.every_engine
def test_an_idempotency_key_writes_once(ada_rest: RestClient) -> None:
    row_id = pad(ada_rest, "text")
    headers = {"Idempotency-Key": "k-1"}
    path = f"scratchpads/{row_id}/append/"
    first, again = (ada_rest.post(path, {"content": "once"}, headers) for _ in range(2))
    assert first.body == again.body
    assert content_of(row_id) == "text\n\nonce"


def test_the_number_of_queries_does_not_grow_with_the_rows(ada: Caller) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {create_token(project=ada.project, agent='ada').secret}")
    workflow = new_workflow(ada)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            for path in ("workflows/?limit=200", f"workflows/{workflow}/scratchpads/?include_content=true"):
                assert client.get(f"/api/v1/projects/apollo/{path}").status_code == 200
        return len(queries)

    count()
    for _ in range(3):
        pad_of(ada, "x")
        pad_of(ada, "x", workflow=workflow)
    few = count()
    for _ in range(30):
        pad_of(ada, "x")
        pad_of(ada, "x", workflow=workflow)
    assert count() == few
