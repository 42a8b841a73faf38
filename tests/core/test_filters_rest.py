"""Lists that are querysets are filtered and ordered by their FilterSets, page by page."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.access_tokens import create_token, revoke_token
from ctxhub.core.kit.clock import now
from ctxhub.core.models import AccessToken, Project, Tag
from ctxhub.core.vocabulary.queries import list_words, words_of
from tests.hub import LiveHub, RestClient

TAGS = [["api", "db"], ["api", "cache"], ["api"], ["cache"]]
TEXTS = [
    ("tags/", "ACH"),
    ("scopes/", "users"),
    ("categories/", "secur"),
    ("layers/", "dat"),
    ("agents/", "AD"),
]
ORDERINGS = {
    "tags/": ["name", "-name", "uses", "-uses"],
    "scopes/": ["name", "-uses"],
    "categories/": ["-name", "uses"],
    "layers/": ["name", "-position", "-uses,name"],
    "agents/": ["name", "-name", "last_seen", "-last_seen"],
}


@pytest.fixture
def filled(ada_rest: RestClient, ben_rest: RestClient) -> RestClient:
    for n, tags in enumerate(TAGS):
        body = {"key": f"k{n}", "value": n, "tags": tags, "scopes": ["users/login"][: n % 2], "layer": "data"}
        (ada_rest, ben_rest)[n % 2].post("decisions/", body)
    return ada_rest


def names(client: RestClient, path: str, **query: Any) -> list[str]:
    reply = client.get(path, **query)
    assert reply.status == 200, reply
    return [item["name"] for item in reply.body["items"]]


@pytest.mark.parametrize(("path", "text"), TEXTS)
def test_a_text_filters(filled: RestClient, path: str, text: str) -> None:
    found = names(filled, path, text=text)
    assert found
    assert found == [name for name in names(filled, path, limit=200) if text.lower() in name]
    assert filled.get(path, text=text).body["total"] == len(found)
    assert names(filled, path, text="nowhere") == []


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("path", "ordering"), [(path, ordering) for path, orders in ORDERINGS.items() for ordering in orders]
)
def test_pages_follow_the_ordering(filled: RestClient, path: str, ordering: str) -> None:
    reply = filled.get(path, ordering=ordering, limit=200).body
    field = ordering.partition(",")[0]
    if field.lstrip("-") != "position":
        values = [item[field.lstrip("-")] for item in reply["items"]]
        values = [value for value in values if value is not None]
        assert values == sorted(values, reverse=field.startswith("-"))
    walked: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = filled.get(path, ordering=ordering, limit=1, **cursor).body
        walked += [item["name"] for item in page["items"]]
        if not page["next"]:
            break
        cursor = {"cursor": page["next"]}
    assert walked == [item["name"] for item in reply["items"]]


def test_an_unknown_ordering_names_those_there_are(filled: RestClient) -> None:
    reply = filled.get("tags/", ordering="colour")
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert "colour" in reply.body["message"]
    assert {"name", "-name", "uses", "-uses"} <= {*reply.body["allowed"]}
    assert filled.get("tags/", ordered="name").body["did_you_mean"] == {"ordered": "ordering"}


def test_a_parameter_is_given_once_and_its_error_is_short(filled: RestClient) -> None:
    for query in ({"text": ["a", "b"]}, {"ordering": ["name", "uses"]}):
        reply = filled.get("tags/", **query)
        assert (reply.status, reply.body["message"]) == (400, f"{next(iter(query))} is given more than once.")
    assert len(filled.get("tags/", ordering="name" * 3_000).body["message"]) < 200
    assert filled.get("tags/", ordering="nme").body["did_you_mean"] == "name"


def test_a_page_counts_words_without_their_uses(apollo: Project) -> None:
    with CaptureQueriesContext(connection) as captured:
        list_words(words_of(Tag, apollo.pk), limit=2)
    page, count = [query["sql"] for query in captured.captured_queries]
    assert "memory_decisiontag" in page
    assert "memory_decisiontag" not in count


def test_a_cursor_belongs_to_its_ordering(filled: RestClient) -> None:
    cursor = filled.get("tags/", ordering="name", limit=1).body["next"]
    for query in ({}, {"ordering": "-name"}, {"ordering": "uses"}):
        reply = filled.get("tags/", cursor=cursor, **query)
        assert (reply.status, reply.body["error"]) == (400, "invalid"), query


def test_tokens_are_filtered_by_agent_and_state(hub: LiveHub, ada_rest: RestClient, apollo: Project) -> None:
    revoke_token(create_token(project=apollo, name="old", agent="Ben").row)
    past = create_token(project=apollo, name="past", agent="ben").row
    AccessToken.objects.in_project(apollo).filter(pk=past.pk).update(expires_at=now())
    create_token(project=apollo, name="ci")
    path = "/api/v1/tokens/"
    assert names(ada_rest, path, agent="BEN", ordering="name") == ["old", "past"]
    assert names(ada_rest, path, state="revoked") == ["old"]
    assert names(ada_rest, path, state="expired") == ["past"]
    assert names(ada_rest, path, state="active", ordering="name") == ["ada", "ci"]
    assert names(ada_rest, path, text="CI") == ["ci"]
    assert names(ada_rest, path, ordering="created")[-1] == names(ada_rest, path)[0] == "ci"
    assert ada_rest.get(path, state="lost").body["allowed"] == ["active", "unused", "expired", "revoked"]


@pytest.mark.every_engine
def test_projects_are_filtered_and_ordered(ada_rest: RestClient) -> None:
    path = "/api/v1/projects/"
    assert [project["slug"] for project in ada_rest.get(path, text="POLL").body["items"]] == ["apollo"]
    assert ada_rest.get(path, text="hermes").body["items"] == []
    assert ada_rest.get(path, ordering="-created,slug").status == 200
