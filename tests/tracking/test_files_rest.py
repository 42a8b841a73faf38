"""Files and leases over REST: writing, reading, filters, pages and errors."""

from typing import Any

import pytest

from ctxhub.core.models import Event, Project
from tests.hub import WHOLE, RestClient


def recorded(client: RestClient, path: str, change: str = "modified", **rest: Any) -> dict[str, Any]:
    reply = client.post("changes/", {"path": path, "change": change, **rest}, WHOLE)
    assert reply.status == 201, reply
    body: dict[str, Any] = reply.body
    return body


def leased(client: RestClient, *paths: str, **rest: Any) -> dict[str, Any]:
    reply = client.post("leases/", {"paths": list(paths), **rest}, WHOLE)
    assert reply.status == 201, reply
    body: dict[str, Any] = reply.body
    return body


# -- Changes ---------------------------------------------------------------------------------------


def test_a_change_is_recorded_and_read_back(ada_rest: RestClient) -> None:
    made = recorded(ada_rest, "./src/app.py", "Created", layer="data", description="x" * 300)
    assert made["at"][-1] == "Z"
    expected = {"path": "src/app.py", "change": "created", "by": "ada", "layer": "data"}
    assert expected.items() <= made.items()
    assert {**ada_rest.get(f"changes/{made['id']}/").body, "ref": f"change:{made['id']}"} == made
    del made["ref"]
    [item] = ada_rest.get("changes/").body["items"]
    assert item == {**made, "description": "x" * 200 + "…"}


@pytest.fixture
def history(ada_rest: RestClient, ben_rest: RestClient) -> None:
    recorded(ada_rest, "src/api/auth.py", "created", layer="business")
    recorded(ben_rest, "src/app.py", layer="data")
    recorded(ada_rest, "docs/x.md", "deleted", layer="data")


def test_a_lock_over_rest(ada_rest: RestClient, ben_rest: RestClient) -> None:
    recorded(ada_rest, "a")
    lock = ben_rest.get("changes/lock/", path="./a", within_seconds=60).body
    assert (lock["locked"], lock["by"], lock["change"]) == (True, "ada", "modified")
    assert ada_rest.get("changes/lock/", path="a").body == {"locked": False}


# -- Leases ----------------------------------------------------------------------------------------


def test_a_lease_is_acquired_renewed_and_released(ada_rest: RestClient) -> None:
    made = leased(ada_rest, "src/**", minutes=5, reason="Rework.")
    assert (made["by"], made["paths"], made["state"], made["fence"]) == (
        "ada",
        ["src/**"],
        "live",
        made["lease_id"],
    )
    address = f"leases/{made['lease_id']}/"
    renewed = ada_rest.patch(address, {"minutes": 60})
    assert renewed.status == 200
    assert renewed.body["expires"] > made["expires"]
    assert ada_rest.patch(address, {}).status == 200
    assert ada_rest.delete(address).status == 204
    assert ada_rest.delete(address).status == 204
    assert ada_rest.get(address).body["state"] == "released"
    refused = ada_rest.patch(address, {"minutes": 5})
    assert (refused.status, refused.body["hint"]) == (409, "Lease it again.")


def test_leasing_again_extends_the_lease(ada_rest: RestClient) -> None:
    made = leased(ada_rest, "src/**", "docs/x.md", minutes=5, reason="Rework.")
    reply = ada_rest.post("leases/", {"paths": ["docs/x.md", "src/**"], "minutes": 60}, WHOLE)
    assert (made["result"], reply.status, reply.body["result"]) == ("created", 200, "extended")
    assert reply.body == {**made, "result": "extended", "expires": reply.body["expires"]}
    assert reply.body["expires"] > made["expires"]
    again = {"paths": ["docs/x.md", "src/**"], "reason": None}
    assert ada_rest.post("leases/", again, WHOLE).body["reason"] == ""
    assert ada_rest.get("leases/").body["count"] == 1


def test_another_agents_lease_needs_force_and_the_admin_scope(
    ada_rest: RestClient, ben_rest: RestClient, apollo: Project
) -> None:
    made, own = leased(ben_rest, "a")["lease_id"], leased(ada_rest, "b")["lease_id"]
    assert ada_rest.patch(f"leases/{made}/", {"minutes": 5}).status == 403
    assert ada_rest.delete(f"leases/{made}/").status == 403
    assert ben_rest.delete(f"leases/{own}/?force=true").status == 403
    assert ada_rest.delete(f"leases/{made}/?force=true&reason=Silent").status == 204
    event = Event.objects.in_project(apollo).order_by("-pk")[0]
    assert (event.verb, event.data["reason"]) == ("force_released", "Silent")
    [heard] = ben_rest.get("messages/").body["items"]
    assert heard["text"].startswith("I released your lease on a: Silent.")
    refused = ada_rest.post("leases/release/", {"all": True, "reason": 5})
    assert (refused.status, "reason" in refused.body["message"]) == (400, True)


def test_all_own_leases_are_released(ada_rest: RestClient, ben_rest: RestClient) -> None:
    for path in ("a", "b"):
        leased(ada_rest, path)
    other = leased(ben_rest, "c")["lease_id"]
    assert ada_rest.post("leases/release/", {"all": True}).body == {"released": 2}
    assert [item["lease_id"] for item in ada_rest.get("leases/").body["items"]] == [other]
    assert ada_rest.post("leases/release/", {"lease_id": other}).status == 403
    assert ada_rest.post("leases/release/", {"lease_id": other, "force": True}).body == {"released": 1}


def test_leases_come_in_the_order_of_their_end(ada_rest: RestClient, ben_rest: RestClient) -> None:
    for client, path, minutes in ((ada_rest, "src/**", 30), (ben_rest, "docs/", 20), (ben_rest, "lib", 10)):
        leased(client, path, minutes=minutes)

    def paths(**query: Any) -> list[str]:
        return [path for item in ada_rest.get("leases/", **query).body["items"] for path in item["paths"]]

    assert paths() == ["lib", "docs/", "src/**"]
    assert paths(path="src/") == ["src/**"]


@pytest.mark.parametrize(
    "body", [{}, {"all": False}, {"all": True, "lease_id": 1}, {"lease_id": "memory:1"}], ids=str
)
def test_a_wrong_release_is_refused(ada_rest: RestClient, body: dict[str, Any]) -> None:
    assert ada_rest.post("leases/release/", body).status == 400


# -- Files, bad queries, rights --------------------------------------------------------------------


def test_files_over_rest(history: None, ada_rest: RestClient) -> None:
    first = ada_rest.get("resources/", limit=2).body
    assert [item["path"] for item in first["items"]] == ["docs/x.md", "src/api/auth.py"]
    [last] = ada_rest.get("resources/", cursor=first["next"]).body["items"]
    assert {"path": "src/app.py", "change": "modified", "by": "ben"}.items() <= last.items()
    assert ada_rest.get("resources/", path="docs/*").body["count"] == 1


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("changes/", {"change": "moved"}),
        ("changes/", {"layer": "cellar"}),
        ("changes/", {"since": "soon"}),
        ("changes/", {"path": "/x"}),
        ("changes/", {"limit": 0}),
        ("changes/", {"cursor": "x"}),
        ("changes/lock/", {}),
        ("changes/lock/", {"path": "../a"}),
        ("changes/lock/", {"path": "a", "within_seconds": 0}),
        ("changes/lock/", {"path": "a", "within_seconds": 86_401}),
        ("leases/", {"cursor": "x"}),
        ("leases/", {"path": ".."}),
        ("resources/", {"cursor": "x"}),
        ("resources/", {"path": ".."}),
    ],
    ids=str,
)
def test_a_bad_query_is_invalid(ada_rest: RestClient, path: str, query: dict[str, Any]) -> None:
    reply = ada_rest.get(path, **query)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
