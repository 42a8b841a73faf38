"""Workflows and scratchpads over REST."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from tests.hub import Reply, RestClient
from tests.memory.pads import content_of, new_workflow, pad_of

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


def test_a_patch_changes_only_its_fields(ada_rest: RestClient) -> None:
    path = f"workflows/{workflow_of(ada_rest, name='w', metadata={'a': 1})}/"
    changed = ada_rest.patch(path, {"name": "new", "metadata": {"b": 2}})
    assert (changed.status, changed.body["result"], changed.body["active"]) == (200, "updated", True)
    assert (changed.body["name"], changed.body["metadata"]) == ("new", {"a": 1, "b": 2})
    assert ada_rest.patch(path, {"active": False}).body["active"] is False
    assert ada_rest.patch(path, {"active": False}).body["result"] == "unchanged"
    cleared = ada_rest.patch(path, {"name": None, "metadata": None}).body
    assert (cleared["name"], cleared["metadata"], cleared["active"]) == ("", {}, False)


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
    assert (made.status, set(made.body)) == (201, {"id", "ref", "scratchpad_id", "created_at"})
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


@pytest.mark.parametrize("unknown", ["0", "9" * 40])
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


# -- Rights and requests ---------------------------------------------------------------------------


def test_each_write_of_a_pad_answers_its_names(ada_rest: RestClient) -> None:
    row_id = pad(ada_rest, "first")
    answers = [
        ada_rest.post(f"scratchpads/{row_id}/append/", {"content": "b"}),
        ada_rest.patch(f"scratchpads/{row_id}/", {"content": "c"}),
        ada_rest.post(f"scratchpads/{row_id}/revisions/1/restore/", {}),
        ada_rest.post(f"scratchpads/scratchpad:{row_id}/append/", {"content": "b"}),
    ]
    names = {"id": row_id, "ref": f"scratchpad:{row_id}"}
    assert [{name: answer.body[name] for name in names} for answer in answers] == [names] * 4
