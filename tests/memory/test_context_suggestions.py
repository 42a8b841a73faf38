"""Which context a text belongs to."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.toolbox.dispatch import call
from memory.memories.search.keywords import find_keywords
from memory.memories.search.similarity import Rarity
from memory.memories.services.contexts import create_context
from memory.memories.services.memories import add_memory
from tests.hub import RestClient

EMPTY = Rarity.of_texts([])


def keywords(text: str, rarity: Rarity = EMPTY) -> list[str]:
    return [keyword.written for keyword in find_keywords(text, rarity)]


def suggest(caller: Caller, text: str) -> dict[str, Any]:
    return call(caller, "memory", {"action": "suggest_context", "text": text})


# -- Keywords --------------------------------------------------------------------------------------


def test_the_frequent_come_first_as_they_are_written() -> None:
    assert keywords("Redis caches answers. Caching in Redis is quick; Redis's memory is not.") == [
        *("Redis", "caches", "answers", "quick", "memory")
    ]


def test_the_rare_come_before_the_frequent_of_the_project() -> None:
    rarity = Rarity.of_texts(["redi cach"] * 20)
    assert keywords("Redis caching Kafka", rarity) == ["Kafka", "Redis", "caching"]


@pytest.mark.parametrize(
    "text",
    ["it is what it was", "dans une avec pour les", "und nicht für über eine", "12 345", "a b", "!?"],
)
def test_words_that_say_nothing_are_none(text: str) -> None:
    assert keywords(text) == []


def test_chinese_words_and_pairs_are_keywords() -> None:
    assert keywords("快取 Redis") == ["快取", "Redis"]
    assert keywords("效能瓶頸") == ["效能", "能瓶", "瓶頸"]


def test_there_are_ten_at_most() -> None:
    assert len(keywords(" ".join(f"word{letter}" for letter in "abcdefghijklmn"))) == 10


# -- Contexts --------------------------------------------------------------------------------------


def test_half_of_the_keywords_in_its_own_words_is_enough(ada: Caller) -> None:
    """redis, cache and shop of redis, cache, shop, queue: 3 / 4."""
    create_context(caller=ada, name="Shop", description="Redis caches.", tags=["api"])
    answer = suggest(ada, "Redis cache shop queue")
    assert answer == {
        "existing": {"context": "Shop", "score": 0.75},
        "keywords": ["Redis", "cache", "shop", "queue"],
    }


def test_its_memories_cover_what_they_hold(ada: Caller) -> None:
    """shop is its name; of three memories the first has two of the others, the second one, the third none."""
    for content in ("redis cache", "redis", "nothing of it"):
        add_memory(caller=ada, title="x", content=content, context="shop")
    answer = suggest(ada, "shop redis cache queue")
    # The third is not among those that match: (1 + (2 + 1) / 2) / 4.
    assert answer["existing"] == {"context": "shop", "score": 0.62}


def test_little_is_not_enough_and_is_named(ada: Caller) -> None:
    """One of four is 0.25: more than 0.2, less than 0.5."""
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


def test_next_to_nothing_is_not_named(ada: Caller) -> None:
    create_context(caller=ada, name="Redis")
    assert "similar" not in suggest(ada, "Redis cache shop queue basket")  # 1 / 5.


def test_the_best_comes_first_and_the_others_beside_it(ada: Caller) -> None:
    create_context(caller=ada, name="redis")
    create_context(caller=ada, name="redis cache")
    answer = suggest(ada, "redis cache")
    assert answer["existing"] == {"context": "redis cache", "score": 1.0}
    assert answer["similar"] == [{"context": "redis", "score": 0.5}]


def test_a_new_context_has_a_name_that_is_free(ada: Caller) -> None:
    text = "Redis cache shop queue basket mailer"
    create_context(caller=ada, name="redis CACHE")
    assert suggest(ada, text)["new"]["name"] == "Redis Cache Shop"


def test_an_empty_hub_suggests_a_new_one(ada: Caller) -> None:
    answer = suggest(ada, "Der Warenkorb wird im Speicher gehalten.")
    assert answer["new"]["name"] == "Warenkorb Speicher"
    assert answer["keywords"] == ["Warenkorb", "Speicher", "gehalten"]


def test_a_text_without_keywords_suggests_nothing(ada: Caller) -> None:
    create_context(caller=ada, name="shop")
    assert suggest(ada, "it is what it is") == {"keywords": []}


def test_another_projects_contexts_are_not_suggested(ada: Caller, cy: Caller) -> None:
    create_context(caller=ada, name="redis cache")
    add_memory(caller=ada, title="redis cache", content="redis cache", context="redis cache")
    assert suggest(cy, "redis cache")["new"]["name"] == "Redis Cache"


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "x" * 65_537])
def test_what_is_said_wrong_is_refused(ada: Caller, text: str) -> None:
    with pytest.raises(InvalidInput):
        suggest(ada, text)


def test_it_answers_over_rest(ada_rest: RestClient) -> None:
    ada_rest.post("contexts/", {"name": "redis cache"})
    reply = ada_rest.get("contexts/suggest/?text=redis%20cache")
    assert (reply.status, reply.body["existing"]) == (200, {"context": "redis cache", "score": 1.0})
    assert ada_rest.get("contexts/suggest/").status == 400
