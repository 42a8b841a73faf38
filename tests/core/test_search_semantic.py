"""The extra `semantic`: off by default; if on, similarity of meaning influences the order of hits."""

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.search import semantic
from ctxhub.core.search.search import search
from memory.decisions.services import set_decision

pytestmark = pytest.mark.django_db


@pytest.fixture
def _cars(ada: Caller) -> None:
    set_decision(caller=ada, key="garage/a", value="The fast banana is yellow and sweet.")
    set_decision(caller=ada, key="garage/b", value="The fast automobile is yellow and loud.")
    set_decision(caller=ada, key="garage/c", value="Nothing of the kind: the moon.")


@pytest.fixture
def _meaning(settings: object) -> None:
    settings.SEMANTIC_SEARCH = True  # type: ignore[attr-defined]


@pytest.mark.usefixtures("_cars")
def test_by_default_only_words_decide_the_order(ada: Caller) -> None:
    found = search(ada.project_id, "a fast car")

    assert found.method == "any"
    assert {hit.score for hit in found.hits[:2]} == {found.hits[0].score}


@pytest.mark.usefixtures("_cars", "_meaning")
def test_a_hit_of_similar_meaning_ranks_first(ada: Caller) -> None:
    found = search(ada.project_id, "a fast car")

    assert found.method == "any+semantic"
    assert [hit.ref for hit in found.hits] == ["decision:garage/b", "decision:garage/a"]
    assert 1 >= found.hits[0].score > found.hits[1].score > 0


@pytest.mark.usefixtures("_cars", "_meaning")
def test_a_row_without_a_matching_word_is_not_found(ada: Caller) -> None:
    assert not search(ada.project_id, "zeppelin").hits


@pytest.mark.usefixtures("_meaning")
def test_scores_stay_sorted_beyond_the_reranked_hits(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "DEPTH", 2)
    for number in range(5):
        set_decision(caller=ada, key=f"k{number}", value=f"fast {'word ' * number}")

    scores = [hit.score for hit in search(ada.project_id, "a fast car").hits]

    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)


def test_the_network_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    semantic.load.cache_clear()

    assert semantic._similarity("car", ["automobile", "banana"])[0] > 0.4
