"""Snapshots over REST."""

from typing import Any

from sessions.windows import opening  # noqa: F401  # Says which session a call belongs to.
from tests.hub import WHOLE, RestClient

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
    made = ada_rest.post("snapshots/", {**ALL_FIELDS, **links}, WHOLE)
    assert made.status == 201
    one = ada_rest.get(f"snapshots/snapshot:{made.body['id']}/")
    assert made.body == {**one.body, "ref": f"snapshot:{one.body['id']}"}
    assert {name: one.body[name] for name in ALL_FIELDS} == ALL_FIELDS
    assert one.body["caused_by"] == {"id": cause, "summary": CONTENT}
    assert one.body["dependencies"] == [{"id": other, "summary": CONTENT}]
    assert isinstance(one.body["session"], int)


def test_the_source_is_the_api_unless_said(ada_rest: RestClient) -> None:
    assert ada_rest.get(f"snapshots/{save(ada_rest)}/").body["source"] == "api"
    assert ada_rest.get(f"snapshots/{save(ada_rest, source=None)}/").body["source"] == "api"


def test_a_credential_is_masked_and_counted(ada_rest: RestClient) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    made = ada_rest.post("snapshots/", {"content": f"Push with {token} please."}, WHOLE)
    assert (made.status, made.body["masked"]) == (201, 1)
    assert token not in made.body["content"]


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
