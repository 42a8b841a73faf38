"""Contexts suggested for a text, and the keywords of a text."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.search.similarity import Rarity
from ctxhub.toolbox.dispatch import call
from memory.contexts.services import create_context
from memory.memories.services import add_memory
from memory.memories.similar import find_keywords
from tests.hub import RestClient

EMPTY = Rarity.of_texts([])


def keywords(text: str, rarity: Rarity = EMPTY) -> list[str]:
    return [keyword.written for keyword in find_keywords(text, rarity)]


def suggest(caller: Caller, text: str) -> dict[str, Any]:
    return call(caller, "memory", {"action": "suggest_context", "text": text})


# -- Keywords --------------------------------------------------------------------------------------


def test_frequent_words_come_first_in_their_original_spelling() -> None:
    assert keywords("Redis caches answers. Caching in Redis is quick; Redis's memory is not.") == [
        *("Redis", "caches", "answers", "quick", "memory")
    ]


def test_words_rare_in_the_project_come_first() -> None:
    rarity = Rarity.of_texts(["redi cach"] * 20)
    assert keywords("Redis caching Kafka", rarity) == ["Kafka", "Redis", "caching"]


@pytest.mark.parametrize(
    "text",
    ["it is what it was", "dans une avec pour les", "und nicht für über eine", "12 345", "a b", "!?"],
)
def test_stop_words_numbers_and_letters_are_no_keywords(text: str) -> None:
    assert keywords(text) == []


def test_chinese_words_and_pairs_are_keywords() -> None:
    assert keywords("快取 Redis") == ["快取", "Redis"]
    assert keywords("效能瓶頸") == ["效能", "能瓶", "瓶頸"]


def test_there_are_at_most_ten_keywords() -> None:
    assert len(keywords(" ".join(f"word{letter}" for letter in "abcdefghijklmn"))) == 10


# -- Contexts --------------------------------------------------------------------------------------


def test_a_context_with_half_of_the_keywords_is_suggested(ada: Caller) -> None:
    """The context has redis, cache and shop, but not queue: 3 / 4."""
    create_context(caller=ada, name="Shop", description="Redis caches.", tags=["api"])
    answer = suggest(ada, "Redis cache shop queue")
    assert answer == {
        "existing": {"context": "Shop", "score": 0.75},
        "keywords": ["Redis", "cache", "shop", "queue"],
    }


def test_keywords_in_memories_count_for_their_context(ada: Caller) -> None:
    """The name is shop. Of the other keywords the first memory has two, the second one and the third none."""
    for content in ("redis cache", "redis", "nothing of it"):
        add_memory(caller=ada, title="x", content=content, context="shop")
    answer = suggest(ada, "shop redis cache queue")
    # The third does not match, so the average is of two: (1 + (2 + 1) / 2) / 4.
    assert answer["existing"] == {"context": "shop", "score": 0.62}


def test_a_context_with_a_low_score_is_listed_as_similar(ada: Caller) -> None:
    """One keyword of four is 0.25: more than 0.2, less than 0.5."""
    create_context(caller=ada, name="Redis")
    answer = suggest(ada, "Redis cache shop queue")
    assert answer == {
        "new": {
            "name": "Redis Cache",
            "description": "About Redis, cache, shop and queue.",
            "tags": ["redis", "cache", "shop", "queue"],
        },
        "similar": [{"context": "Redis", "score": 0.25}],
        "keywords": ["Redis", "cache", "shop", "queue"],
    }


def test_a_context_with_a_score_of_a_fifth_is_not_listed(ada: Caller) -> None:
    create_context(caller=ada, name="Redis")
    assert "similar" not in suggest(ada, "Redis cache shop queue basket")  # 1 / 5.


def test_the_best_context_is_suggested_and_others_are_similar(ada: Caller) -> None:
    create_context(caller=ada, name="redis")
    create_context(caller=ada, name="redis cache")
    answer = suggest(ada, "redis cache")
    assert answer["existing"] == {"context": "redis cache", "score": 1.0}
    assert answer["similar"] == [{"context": "redis", "score": 0.5}]


def test_a_new_context_gets_an_unused_name(ada: Caller) -> None:
    text = "Redis cache shop queue basket mailer"
    create_context(caller=ada, name="redis CACHE")
    assert suggest(ada, text)["new"]["name"] == "Redis Cache Shop"


def test_an_empty_project_suggests_a_new_context(ada: Caller) -> None:
    answer = suggest(ada, "Der Warenkorb wird im Speicher gehalten.")
    assert answer["new"]["name"] == "Warenkorb"
    assert answer["keywords"] == ["Warenkorb", "Speicher", "gehalten"]


def test_a_text_without_keywords_suggests_nothing(ada: Caller) -> None:
    create_context(caller=ada, name="shop")
    assert suggest(ada, "it is what it is") == {"keywords": []}


def test_another_projects_contexts_are_not_suggested(ada: Caller, cy: Caller) -> None:
    create_context(caller=ada, name="redis cache")
    add_memory(caller=ada, title="redis cache", content="redis cache", context="redis cache")
    assert suggest(cy, "redis cache")["new"]["name"] == "Redis Cache"


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "x" * 65_537])
def test_an_invalid_text_is_refused(ada: Caller, text: str) -> None:
    with pytest.raises(InvalidInput):
        suggest(ada, text)


def test_suggestions_over_rest(ada_rest: RestClient) -> None:
    ada_rest.post("contexts/", {"name": "redis cache"})
    reply = ada_rest.get("contexts/suggest/?text=redis%20cache")
    assert (reply.status, reply.body["existing"]) == (200, {"context": "redis cache", "score": 1.0})
    assert ada_rest.get("contexts/suggest/").status == 400
