"""Snapshots over REST."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from sessions.windows import opening  # noqa: F401  # Says which session a call belongs to.
from tests.hub import LiveHub, RestClient
from tests.tables import dump_project

CONTENT = "We keep sessions in Redis. A restart loses them."
ALL_FIELDS: dict[str, Any] = {
    "content": CONTENT,
    "summary": "Sessions in Redis",
    "action_type": "decision",
    "rationale": "Speed.",
    "tags": ["caching", "shop"],
    "source": "editor",
    "metadata": {"seen": 1},
}


def save(client: RestClient, **rest: Any) -> int:
    reply = client.post("snapshots/", {"content": CONTENT, "dependencies": [], "tags": [], **rest})
    assert reply.status == 201, reply
    return int(reply.body["id"])


def ids(client: RestClient, path: str = "snapshots/", **query: Any) -> list[int]:
    reply = client.get(path, **query)
    assert reply.status == 200, reply
    return [item["id"] for item in reply.body["items"]]


def test_a_new_snapshot_answers_201_with_all_fields(ada_rest: RestClient) -> None:
    cause, other = save(ada_rest), save(ada_rest)
    links = {"caused_by": cause, "dependencies": [f"snapshot:{other}"], "session": "window"}
    made = ada_rest.post("snapshots/", {**ALL_FIELDS, **links})
    assert made.status == 201
    one = ada_rest.get(f"snapshots/snapshot:{made.body['id']}/")
    assert made.body == one.body
    assert {name: one.body[name] for name in ALL_FIELDS} == ALL_FIELDS
    assert one.body["caused_by"] == {"id": cause, "summary": CONTENT}
    assert one.body["dependencies"] == [{"id": other, "summary": CONTENT}]
    assert isinstance(one.body["session"], int)


def test_the_source_is_the_api_unless_said(ada_rest: RestClient) -> None:
    assert ada_rest.get(f"snapshots/{save(ada_rest)}/").body["source"] == "api"
    assert ada_rest.get(f"snapshots/{save(ada_rest, source=None)}/").body["source"] == "api"


def test_a_credential_is_masked_and_counted(ada_rest: RestClient) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    made = ada_rest.post("snapshots/", {"content": f"Push with {token} please."})
    assert (made.status, made.body["masked"]) == (201, 1)
    assert token not in made.body["content"]


def test_each_filter_keeps_what_passes_it(ada_rest: RestClient, ben_rest: RestClient) -> None:
    one = save(ada_rest, action_type="decision", tags=["shop"])
    two = save(ben_rest, content="PostgreSQL")
    assert ids(ada_rest, action_type="decision") == ids(ada_rest, tags="SHOP") == [one]
    assert ids(ada_rest, by="ben") == ids(ada_rest, text="postgresql") == [two]
    assert ids(ada_rest, tier="active", since="1h") == [two, one]
    assert ids(ada_rest, tier="expired") == ids(ada_rest, until="1h") == []


def test_pages_follow_one_another(ada_rest: RestClient) -> None:
    found = [save(ada_rest) for _ in range(3)]
    first = ada_rest.get("snapshots/", limit=2)
    assert (first.body["count"], first.body["total"]) == (2, 3)
    assert "cursor=" in first.headers["link"]
    assert ids(ada_rest, limit=2, cursor=first.body["next"]) == found[:1]


def test_snapshots_are_loaded_and_searched_in_views(ada_rest: RestClient) -> None:
    first, last = save(ada_rest), save(ada_rest)
    assert ids(ada_rest, "snapshots/load/") == [last]
    assert ids(ada_rest, "snapshots/load/", limit=5, view="historian") == [last, first]
    assert ada_rest.get("snapshots/load/", view="minimalist").body["items"] == [
        {"id": last, "summary": CONTENT}
    ]
    assert ids(ada_rest, "snapshots/search/", query="redis", view="historian", limit=5) == [last, first]
    assert (
        ada_rest.get("snapshots/search/", query="redis", view="auditor").body["items"][0]["source"] == "api"
    )


def test_reasons_causes_and_effects_are_read(ada_rest: RestClient) -> None:
    root = save(ada_rest, rationale="Why not?")
    last = save(ada_rest, caused_by=root)
    linked = {"id": root, "summary": CONTENT, "why": "Why not?"}
    assert ada_rest.get(f"snapshots/{last}/why/").body == {
        "id": last,
        "action_type": "conversation",
        "rationale": "",
        "summary": CONTENT,
        "caused_by": linked,
        "dependencies": [],
        "dependents": 0,
    }
    chain = ada_rest.get(f"snapshots/snapshot:{last}/chain/").body
    assert [(row["id"], row["depth"], row["link"]) for row in chain["items"]] == [
        (root, 0, "caused_by"),
        (last, 1, None),
    ]
    assert ids(ada_rest, f"snapshots/{root}/impact/") == [last]


def test_the_graph_is_read_as_objects_or_mermaid(ada_rest: RestClient) -> None:
    root = save(ada_rest)
    last = save(ada_rest, caused_by=root)
    graph = ada_rest.get("snapshots/graph/").body
    assert [node["id"] for node in graph["nodes"]] == [last, root]
    assert graph["edges"] == [{"source": last, "target": root, "link": "caused_by"}]
    assert ada_rest.get("snapshots/graph/", mermaid="true").body["mermaid"].startswith("flowchart TD\n")
    assert ada_rest.get("snapshots/graph/", limit=1).body["more"] is True


def test_a_content_is_read_in_parts(ada_rest: RestClient) -> None:
    row_id = save(ada_rest, content="one\ntwo\nthree")
    assert ada_rest.get(f"snapshots/{row_id}/", lines="2").body["content"] == "two"
    assert ada_rest.get(f"snapshots/{row_id}/", tail=1).body["content"] == "three"


def test_only_an_administrator_deletes(ada_rest: RestClient, ben_rest: RestClient) -> None:
    row_id = save(ben_rest)
    assert ben_rest.delete(f"snapshots/{row_id}/").status == 403
    assert ada_rest.delete(f"snapshots/{row_id}/").status == 204
    assert ada_rest.get(f"snapshots/{row_id}/").status == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"content": " "}, 400),
        ({"content": 5}, 400),
        ({"content": CONTENT, "caused_by": 999_999}, 404),
        ({"content": CONTENT, "caused_by": "memory:1"}, 404),
        ({"content": CONTENT, "caused_by": "template:1"}, 400),
        ({"content": CONTENT, "dependencies": [999_999]}, 404),
        ({"content": CONTENT, "dependencies": "one"}, 400),
        ({"content": CONTENT, "action_type": "refactor"}, 400),
        ({"content": CONTENT, "tags": 5}, 400),
        ({"content": CONTENT, "metadata": []}, 400),
        ({"content": CONTENT, "session": 999_999}, 404),
        ({"content": CONTENT, "cause": 1}, 400),
    ],
)
def test_a_bad_body_is_refused_and_nothing_is_written(
    ada_rest: RestClient, apollo: Project, body: dict[str, Any], status: int
) -> None:
    assert ada_rest.post("snapshots/", body).status == status
    assert not any(dump_project(apollo)[f"memory_snapshot{end}"] for end in ("", "dependency", "tag"))


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("snapshots/", {"tier": "hot"}, 400),
        ("snapshots/", {"nothing": 1}, 400),
        ("snapshots/load/", {"limit": 11}, 400),
        ("snapshots/load/", {"view": "critic"}, 400),
        ("snapshots/search/", {}, 400),
        ("snapshots/search/", {"query": "x", "limit": "many"}, 400),
        ("snapshots/graph/", {"limit": 1_001}, 400),
        ("snapshots/graph/", {"mermaid": "perhaps"}, 400),
        ("snapshots/999999/", {}, 404),
        ("snapshots/memory:1/", {}, 400),
        ("snapshots/999999/why/", {}, 404),
        ("snapshots/999999/chain/", {}, 404),
        ("snapshots/99999999999999999999/impact/", {}, 404),
    ],
)
def test_a_bad_query_is_refused(ada_rest: RestClient, path: str, query: dict[str, Any], status: int) -> None:
    assert ada_rest.get(path, **query).status == status


def test_another_project_sees_nothing(ada_rest: RestClient, cy_rest: RestClient) -> None:
    row_id = save(ada_rest)
    for end in ("", "why/", "chain/", "impact/"):
        assert cy_rest.get(f"snapshots/{row_id}/{end}").status == 404
    assert cy_rest.delete(f"snapshots/{row_id}/").status == 404
    assert ids(cy_rest) == ids(cy_rest, "snapshots/load/") == []
    assert cy_rest.get("snapshots/graph/").body["nodes"] == []
    assert cy_rest.post("snapshots/", {"content": CONTENT, "caused_by": row_id}).status == 404


def test_a_reader_saves_nothing(hub: LiveHub, apollo: Project) -> None:
    reader = hub.rest(create_token(project=apollo, agent="rea", scopes=["read"]).secret)
    assert reader.post("snapshots/", {"content": CONTENT}).status == 403
    assert ids(reader) == []


def test_a_writer_who_may_not_read_gets_the_answer_alone(hub: LiveHub, apollo: Project) -> None:
    writer = hub.rest(create_token(project=apollo, agent="wri", scopes=["write"]).secret)
    reply = writer.post("snapshots/", {"content": CONTENT})
    assert (reply.status, "content" in reply.body) == (201, False)
    assert writer.get(f"snapshots/{reply.body['id']}/").status == 403


def test_a_repeated_key_answers_the_first(ada_rest: RestClient) -> None:
    replies = [ada_rest.post("snapshots/", {"content": CONTENT}, {"Idempotency-Key": "k1"}) for _ in range(2)]
    assert replies[0].body["id"] == replies[1].body["id"]
    assert len(ids(ada_rest)) == 1
