"""Similar memories, through the selector, the tool and REST."""

import math
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.search.similarity import read_spread
from ctxhub.toolbox.dispatch import call
from memory.memories import similar as similar_memories
from memory.memories.services import add_memory, delete_memory, update_memory
from memory.memories.similar import find_similar
from tests.hub import RestClient

CACHE = "Keep the product list in Redis for five minutes, because the page is slow without it."


def add(caller: Caller, title: str, content: str, **rest: Any) -> int:
    return add_memory(caller=caller, title=title, content=content, **rest)["id"]


def similar(caller: Caller, **arguments: Any) -> dict[str, Any]:
    return call(caller, "memory", {"action": "similar", **arguments})


def test_a_score_by_hand(ada: Caller) -> None:
    """Two memories; each has `redis`, of weight ln 2, and one word of its own, of weight ln 2.5."""
    add(ada, "redis", "alpha", context="x")
    other = add(ada, "redis", "beta", context="x")
    shared, own = math.log(2), math.log(2.5)
    [_, found] = find_similar(ada.project_id, "redis\nalpha", threshold=0.0)
    assert found.id == other
    assert found.score == pytest.approx(shared**2 / (shared**2 + own**2))  # 0.364


def test_the_same_text_scores_one_and_comes_first(ada: Caller) -> None:
    add(ada, "Slow pages", "The product page is slow in the evening.")
    same = add(ada, "Caching", CACHE)
    assert similar(ada, text=f"Caching {CACHE}")["rows"][0] == [same, "Caching", 1.0]


def test_abbreviations_match_their_long_forms(ada: Caller) -> None:
    short = add(ada, "Auth", "The db repo has the config of k8s.")
    add(ada, "Lunch", "Noodles on Friday.")
    text = "Authentication: the database repository has the configuration of Kubernetes."
    assert similar(ada, text=text)["rows"] == [[short, "Auth", 1.0]]


def test_a_memory_is_not_similar_to_itself(ada: Caller) -> None:
    one, copy = add(ada, "Caching", CACHE), add(ada, "Caching", CACHE)
    assert similar(ada, id=one)["rows"] == [[copy, "Caching", 1.0]]


def test_memories_without_common_words_are_not_similar(ada: Caller) -> None:
    add(ada, "Caching", CACHE)
    assert similar(ada, text="Kafka lags behind", threshold=0)["count"] == 0


def test_similarity_is_symmetric(ada: Caller) -> None:
    one = add(ada, "Caching", CACHE)
    other = add(ada, "Caching the basket", "Keep the basket in Redis for an hour, because it is slow.")
    for _ in range(5):
        add(ada, "Queues", "Kafka holds what the mailer has not sent yet.")
    scores = [similar(ada, id=each, threshold=0)["rows"][0] for each in (one, other)]
    assert [score[0] for score in scores] == [other, one]
    assert scores[0][2] == scores[1][2] > 0.1


def test_chinese_is_compared_by_pairs_of_characters(ada: Caller) -> None:
    near = add(ada, "快取", "使用者資料的快取放在記憶體裡，五分鐘後失效。")
    add(ada, "備份", "每天晚上把磁碟複製到另一台機器。")
    assert similar(ada, text="使用者資料快取五分鐘後失效", threshold=0.3)["rows"][0][0] == near


def test_the_threshold_and_the_limit_are_applied(ada: Caller) -> None:
    for n in range(5):
        add(ada, f"Caching {n}", CACHE)
    assert similar(ada, text=CACHE, limit=2)["count"] == 2
    assert similar(ada, text=CACHE, threshold=1)["count"] == 0
    assert similar(ada, text=CACHE, limit=200)["count"] == 5


def test_a_large_limit_is_honoured(ada: Caller) -> None:
    for n in range(70):
        add(ada, f"Caching {n}", CACHE)
    assert similar(ada, text=CACHE, limit=60)["count"] == 60


def test_a_changed_memory_is_compared_by_its_new_text(ada: Caller) -> None:
    one = add(ada, "Caching", CACHE)
    update_memory(caller=ada, memory_id=one, title="Queues", content="Kafka holds what is not sent yet.")
    assert similar(ada, text=CACHE)["count"] == 0
    delete_memory(caller=ada, memory_id=one)
    assert similar(ada, text="Kafka holds what is not sent yet.")["count"] == 0


def test_rarity_is_estimated_from_a_sample_of_many_memories(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [add(ada, f"Note {n}", f"common word{n}x") for n in range(30)]
    spread = read_spread(ada.project_id, "memory", 7)
    assert len(spread) == 7
    assert {f"word{n}x" in " ".join(spread) for n in (0, 29)} == {True}  # From the first to the last.
    monkeypatch.setattr(similar_memories, "SPREAD", 7)
    [first, *_] = find_similar(ada.project_id, "Note 13 common word13x", threshold=0.5)
    assert first.id == ids[13]


def test_an_empty_project_has_nothing_similar(ada: Caller) -> None:
    assert find_similar(ada.project_id, CACHE) == []
    assert similar(ada, text=CACHE)["count"] == 0


def test_another_projects_memories_are_not_similar(ada: Caller, cy: Caller) -> None:
    theirs = add(ada, "Caching", CACHE)
    add(cy, "Queues", "Kafka")
    assert similar(cy, text=CACHE, threshold=0)["count"] == 0
    with pytest.raises(NotFound):
        similar(cy, id=theirs)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"id": 1, "text": "both"},
        {"text": "  "},
        {"text": "a\x00b"},
        {"text": "x" * 65_537},
        {"text": "x", "threshold": 1.1},
        {"text": "x", "threshold": -0.1},
        {"text": "x", "threshold": float("nan")},
        {"text": "x", "threshold": True},
        {"text": "x", "threshold": "much"},
        {"text": "x", "limit": 0},
        {"text": "x", "limit": 201},
        {"id": "one"},
    ],
)
def test_invalid_arguments_are_refused(ada: Caller, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        similar(ada, **arguments)


@pytest.mark.parametrize("memory_id", [0, -1, 999, 10**30])
def test_an_unknown_memory_is_not_found(ada: Caller, memory_id: int) -> None:
    with pytest.raises(NotFound):
        similar(ada, id=memory_id)


def test_a_text_without_words_is_similar_to_nothing(ada: Caller) -> None:
    add(ada, "Caching", CACHE)
    assert similar(ada, text="!!! ??? ...")["count"] == 0
    assert similar(ada, text="the of and", threshold=0)["count"] >= 0


def test_rest_returns_similar_memories(ada_rest: RestClient) -> None:
    one = ada_rest.post("memories/", {"title": "Caching", "content": CACHE}).body["id"]
    ada_rest.post("memories/", {"title": "Caching", "content": CACHE})
    reply = ada_rest.get(f"memories/similar/?id={one}&threshold=0.9&limit=5")
    assert (reply.status, reply.body["count"], reply.body["items"][0]["score"]) == (200, 1, 1.0)
    assert ada_rest.get("memories/similar/?text=redis%20minutes&threshold=0").body["count"] == 2
    assert ada_rest.get("memories/similar/").status == 400
    assert ada_rest.get("memories/similar/?text=x&threshold=2").status == 400
    assert ada_rest.get("memories/similar/?id=999999999").status == 404
    assert ada_rest.get("memories/similar/?id=1_0").status == 400
