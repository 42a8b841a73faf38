"""Every list over REST can be ordered: pages follow one another, equal rows by id, on both engines."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from drf_spectacular.generators import SchemaGenerator
from pytest import Subtests  # noqa: PT013  # A name for a type.
from rest_framework.test import APIClient

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.ordering import columns_in, sorted_by, way_of
from ctxhub.core.models import Project
from ctxhub.core.refusals.services import WRITER as REFUSALS
from ctxhub.core.use.tally import EMPTY_SEARCHES
from ctxhub.core.use.tally import WRITER as USE
from memory.models import Memory, Scratchpad, Workflow
from messaging.models import Message
from sessions.models import AgentSession
from tests.core.test_query_counts import fill

NAME = re.compile(r"\{(\w+)\}")
BASE = "/api/v1/projects/{slug}/"
# Lists in an order of their own, each with what that is.
IN_THEIR_OWN_ORDER = {
    **dict.fromkeys(
        ("search/", "memories/search/", "memories/fuzzy/", "memories/similar/", "scratchpads/search/"),
        "the best match first",
    ),
    **dict.fromkeys(("decisions/suggest/", "snapshots/prefetch/"), "the highest score first"),
    **dict.fromkeys(("snapshots/load/", "snapshots/search/"), "as the view of the argument `view` puts them"),
    **dict.fromkeys(("links/why/", "links/chain/", "links/impact/"), "along the links"),
    **dict.fromkeys(("snapshots/{snapshot_id}/chain/", "snapshots/{snapshot_id}/impact/"), "along the links"),
    "memories/grep/": "as files have their lines",
    "decisions/analytics/": "figures, by time where they have buckets",
    "views/{name}/": "as the view says",
}
QUERIES: dict[str, dict[str, Any]] = {
    "decisions/": {"status": "any"},
    "constraints/": {"status": "any"},
    "messages/": {"unread": "false"},
    "changes/": {"by": "ada"},
    "dependencies/": {"path": "t0.py", "depth": 5},
    "sessions/": {"implicit": "true"},
    "use/": {"by": "agent,operation"},
    "trends/": {"by": "tag"},
    "scratchpads/": {"workflow_id": "{workflow_id}"},
}
# What an address names where it is not what the others of its kind name.
OWN_NAMES = {
    **dict.fromkeys(("sessions/{session_id}/accesses/", "sessions/{session_id}/resources/"), "full"),
    "messages/{message_id}/status/": "to_many",
}
# Where the field of an item is not that of the ordering, or is no word that sorts.
RANKS = {"critical": 4, "high": 3, "medium": 2, "low": 1}
# Ordered in memory: equal ones keep the order that they have without.
IN_MEMORY = {"trends/", "use/", "dependencies/"}


@cache
def lists() -> dict[str, list[str]]:
    """The addresses of lists below a project, each with the words of its `ordering`."""
    document = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    found = {}
    for path, methods in document["paths"].items():
        if path.startswith(BASE) and "get" in methods:
            content = methods["get"]["responses"]["200"].get("content", {}).get("application/json", {})
            shape = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
            if {"items", "next"} <= document["components"]["schemas"].get(shape, {}).get(
                "properties", {}
            ).keys():
                said = {p.get("name"): p for p in methods["get"]["parameters"]}
                words = said["ordering"]["schema"]["items"]["enum"] if "ordering" in said else []
                found[path.removeprefix(BASE)] = words
    return found


@pytest.fixture
def client(apollo: Project) -> APIClient:
    token = create_token(project=apollo, agent="ada", scopes=["read", "write", "admin"]).secret
    return APIClient(headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def names(ada: Caller, client: APIClient, apollo: Project) -> dict[str, Any]:
    """Some of everything, and what the addresses name of it."""
    fill(ada, 6)
    first = Message.objects.in_project(apollo).filter(text="m1").earliest("pk")
    line = AgentSession.objects.in_project(apollo).filter(name="line 5").earliest("pk")
    hook = post(client, "webhooks/", {"url": "https://example.com/hook", "active": False})["id"]
    for n in range(5):
        post(client, "webhooks/", {"url": f"https://example.com/{n}", "active": False})
        post(client, f"webhooks/{hook}/test/", {}, 202)
        post(client, "leases/", {"paths": [f"lib{n}/x"]}, 409)
        client.get(f"/api/v1/projects/apollo/search/?query=nothing{n}ofthis")
        post(client, "workflows/", {"name": f"deleted {n}"})
    for row in Workflow.objects.in_project(apollo).filter(name__startswith="deleted"):
        assert client.delete(f"/api/v1/projects/apollo/workflows/{row.pk}/").status_code == 204
    REFUSALS.flush()
    USE.flush()
    EMPTY_SEARCHES.flush()
    return {
        "key": "api/k0",
        "memory_id": Memory.objects.in_project(apollo).earliest("pk").pk,
        "message_id": first.pk,
        "scratchpad_id": Scratchpad.objects.in_project(apollo).filter(name="pad 5").earliest("pk").pk,
        "workflow_id": Workflow.objects.in_project(apollo).filter(name="w5").earliest("pk").pk,
        "session_id": line.pk,
        "full": AgentSession.objects.in_project(apollo).filter(name="full").earliest("pk").pk,
        "to_many": Message.objects.in_project(apollo).filter(text="m0").earliest("pk").pk,
        "webhook_id": hook,
    }


def post(client: APIClient, path: str, body: Any, status: int = 201) -> Any:
    reply = client.post(f"/api/v1/projects/apollo/{path}", body, format="json")
    assert reply.status_code == status, reply.content
    return reply.json()


def read(client: APIClient, path: str, /, **query: Any) -> dict[str, Any]:
    reply = client.get(path, query)
    assert reply.status_code == 200, (path, query, reply.content)
    page: dict[str, Any] = reply.json()
    return page


def walked(client: APIClient, path: str, rows: int, /, **query: Any) -> list[Any]:
    """All items of a list of so many rows, read in about three pages."""
    items: list[Any] = []
    cursor: dict[str, Any] = {}
    while True:
        page = read(client, path, **query, limit=max(2, rows // 3), **cursor)
        items += page["items"]
        if not page["next"]:
            return items
        cursor = {"cursor": page["next"]}


def places(names: dict[str, Any]) -> Iterator[tuple[str, list[str], str, dict[str, Any]]]:
    """Each list that has an order of choice, with its words, its path and the query that lists all."""
    for place, words in lists().items():
        if words:
            own = names | ({NAME.findall(place)[0]: names[OWN_NAMES[place]]} if place in OWN_NAMES else {})
            query = {n: str(v).format_map(names) for n, v in QUERIES.get(place, {}).items()}
            yield place, words, "/api/v1/projects/apollo/" + quote(place.format_map(own)), query


def values_of(items: list[Any], field: str) -> list[Any]:
    found = [item[field] for item in items if field in item]
    return [RANKS.get(each, each.casefold()) if isinstance(each, str) else each for each in found]


def test_every_list_has_an_order_of_choice_or_a_reason() -> None:
    assert {place for place, words in lists().items() if not words} == {*IN_THEIR_OWN_ORDER}
    assert len(lists()) - len(IN_THEIR_OWN_ORDER) >= 35


def test_every_order_of_every_list(client: APIClient, names: dict[str, Any], subtests: Subtests) -> None:
    for place, words, path, query in places(names):
        usual = read(client, path, **query, limit=200)["items"]
        assert len(usual) > 3, place
        for word in words:
            with subtests.test(f"{place} {word}"):
                whole = read(client, path, **query, ordering=word, limit=200)["items"]
                assert sorted(map(str, whole)) == sorted(map(str, usual))
                assert walked(client, path, len(whole), **query, ordering=word) == whole
                field = word.removeprefix("-")
                values = values_of(whole, field)
                if place == "refusals/":  # Counted by the minute, and in that order.
                    values = [value[:16] for value in values]
                assert None in values or values == sorted(values, reverse=word.startswith("-"))
                assert len(values) in (0, len(whole))
                if place not in IN_MEMORY:
                    other = field if word.startswith("-") else f"-{word}"
                    back = read(client, path, **query, ordering=other, limit=200)["items"]
                    is_one_to_one = len({*map(str, values)}) == len(values) > 0
                    assert back == whole[::-1] or not is_one_to_one


@pytest.mark.one_engine
def test_a_wrong_order_is_refused(client: APIClient, names: dict[str, Any], subtests: Subtests) -> None:
    for place, words, path, query in places(names):
        with subtests.test(place):
            wrong = client.get(path, {**query, "ordering": "zzz"})
            assert wrong.status_code == 400
            assert {*wrong.json()["allowed"]} <= {*words}
            assert "zzz" in wrong.json()["message"]
            cursor = read(client, path, **query, ordering=words[0], limit=1)["next"]
            other = {**query, "ordering": words[-1], "cursor": cursor, "limit": 1}
            assert client.get(path, other).json()["error"] == "invalid"


@pytest.mark.one_engine
def test_an_order_reads_a_page_with_as_many_queries_as_a_row(
    client: APIClient, names: dict[str, Any], subtests: Subtests
) -> None:
    for place, words, path, query in places(names):
        for word in words:
            with subtests.test(f"{place} {word}"):
                counts = []
                for limit in (200, 2, 200):
                    with CaptureQueriesContext(connection) as queries:
                        read(client, path, **query, ordering=word, limit=limit)
                    counts.append(len(queries))
                # The total of a list with more pages is counted by one more.
                assert min(counts[0], counts[2]) <= counts[1]


FILTERED = [
    ("decisions/?status=any&tags=api", "key"),
    ("decisions/?status=any&tags=api,t1", "-version"),
    ("decisions/?status=any&text=new", "-key"),
    ("decisions/?status=any&scope=api", "version,-key"),
    ("constraints/?status=any&category=security", "priority"),
    ("constraints/?status=any&tags=api&priority=medium", "priority"),
    ("memories/?tags=api", "id"),
    ("memories/?context=known", "-id"),
    ("memories/?tags=api,t1,t2", "updated"),
    ("contexts/?text=c2", "name"),
    ("snapshots/?tags=api", "at"),
    ("snapshots/?tier=active", "at"),
    ("snapshots/?text=new", "at"),
    ("messages/?unread=false&type=request", "at"),
    ("messages/?unread=false&since=1h", "priority"),
    ("changes/?path=src/**", "at"),
    ("leases/?path=src/f1", "-expires"),
]


def test_filters_hold_in_any_order(client: APIClient, names: dict[str, Any], subtests: Subtests) -> None:
    for place, ordering in FILTERED:
        address, _, filters = place.partition("?")
        query = dict(pair.split("=") for pair in filters.split("&"))
        path = f"/api/v1/projects/apollo/{address}"
        with subtests.test(f"{place} {ordering}"):
            usual = read(client, path, **query, limit=200)
            found = read(client, path, **query, limit=200, ordering=ordering)
            assert found["count"] == usual["count"] > 0
            assert sorted(map(str, found["items"])) == sorted(map(str, usual["items"]))
            assert walked(client, path, found["count"], **query, ordering=ordering) == found["items"]
            assert found.get("total") == usual.get("total")


def test_several_fields(client: APIClient, names: dict[str, Any]) -> None:
    path = "/api/v1/projects/apollo/decisions/"
    by_version = read(client, path, status="any", ordering="-version,key", limit=200)["items"]
    parts = [(tuple(-int(n) for n in item["version"].split(".")), item["key"]) for item in by_version]
    assert parts == sorted(parts)
    assert walked(client, path, 9, status="any", ordering=["-version", "key"]) == by_version
    for wrong in ("key,-key", "key,sort"):
        assert client.get(path, {"ordering": wrong}).status_code == 400
    both = client.get(path, {"ordering": "key", "sort": "key"})
    assert (both.status_code, both.json()["message"]) == (400, "ordering and sort exclude one another.")
    several = client.get("/api/v1/projects/apollo/messages/", {"ordering": "at,priority"})
    assert several.json()["message"] == "ordering takes one field here."


def test_words_become_columns() -> None:
    fields = {"name": ["folded"], "priority": ["-rank", "at"], "id": ["id"]}
    assert columns_in(["name"], fields) == ["folded", "id"]
    assert columns_in(["-priority"], fields) == ["rank", "-at", "-id"]
    assert columns_in(["name", "-id"], fields) == ["folded", "-id"]
    assert columns_in(None, fields) == columns_in([], fields) == []
    assert sorted_by([3, 1, 2], ["-n"], {"n": int}) == [3, 2, 1]
    with pytest.raises(InvalidInput, match="more than once"):
        columns_in(["name", "-name"], fields)
    with pytest.raises(InvalidInput, match="cursor is of another order"):
        way_of(["at"], "-at").read(way_of(["-x"], "x").cursor(7), int)
