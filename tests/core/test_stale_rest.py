"""Staleness and its confirmation over REST."""

import pytest

from ctxhub.core.models import Project
from ctxhub.core.paths.counting import count_changes
from tests.hub import RestClient

PATHS = ["src/**"]


@pytest.fixture
def stale(apollo: Project, ada_rest: RestClient, ben_rest: RestClient) -> dict[str, str]:
    """The pages of a stale decision, constraint and memory, by ref."""
    ada_rest.post("decisions/", {"key": "api/auth", "value": "JWT", "paths": PATHS})
    rule = ada_rest.post("constraints/", {"category": "c", "text": "No secrets.", "paths": PATHS}).body
    note = ada_rest.post("memories/", {"title": "Keys", "content": "They rotate.", "paths": PATHS}).body
    ben_rest.post("changes/", {"path": "src/a.py", "change": "modified"})
    count_changes(apollo.pk)
    return {
        "decision:api/auth": "decisions/api/auth/",
        f"constraint:{rule['id']}": f"constraints/{rule['id']}/",
        f"memory:{note['id']}": f"memories/{note['id']}/",
    }


def test_objects_and_lists_say_it(stale: dict[str, str], ada_rest: RestClient) -> None:
    for page in stale.values():
        item = ada_rest.get(page).body
        assert (item["stale"], item["stale_since"][:2]) == (1, "20")
        [listed] = ada_rest.get(f"{page.partition('/')[0]}/").body["items"]
        assert listed["stale"] == 1


def test_a_search_says_it(stale: dict[str, str], ada_rest: RestClient) -> None:
    [hit] = ada_rest.get("search/", query="JWT").body["items"]
    assert (hit["ref"], hit["stale"]) == ("decision:api/auth", 1)
    [hit] = ada_rest.get("memories/search/", query="rotate").body["items"]
    assert hit["stale"] == 1


def test_they_are_confirmed(stale: dict[str, str], ben_rest: RestClient) -> None:
    answer = ben_rest.post("confirm/", {"refs": list(stale)})
    assert (answer.status, answer.body) == (200, {"confirmed": 3})
    assert "stale" not in ben_rest.get("decisions/api/auth/").body


def test_a_retry_answers_the_same(stale: dict[str, str], ben_rest: RestClient) -> None:
    key = {"Idempotency-Key": "once"}
    answers = [ben_rest.post("confirm/", {"refs": list(stale)}, key).body for _ in range(2)]
    assert answers == [{"confirmed": 3}] * 2


def test_wrong_refs_are_refused(stale: dict[str, str], ben_rest: RestClient, cy_rest: RestClient) -> None:
    assert ben_rest.post("confirm/", {"refs": ["memory:999"]}).status == 404
    assert ben_rest.post("confirm/", {"refs": ["message:1"]}).status == 400
    assert ben_rest.post("confirm/", {}).status == 400
    assert cy_rest.post("confirm/", {"refs": list(stale)}).status == 404
    assert ben_rest.post("confirm/", {"refs": list(stale)}).body == {"confirmed": 3}
