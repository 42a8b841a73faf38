"""What scores far less than the best hit is left out over MCP, and where it is asked for."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.search import rankings
from ctxhub.core.search.rankings import ALWAYS, rank_objects
from ctxhub.core.search.search import search
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision, set_decision_batch
from messaging.messages.services import send_message
from tests.hub import RestClient

QUESTION = "retry policy of the invoice exporter, service"


@pytest.fixture
def invoices(ada: Caller) -> Caller:
    """One decision that answers, one that has half of the words, and twelve that have one common word."""
    set_decision(caller=ada, key="invoices/retry", value="Retry policy of the invoice exporter: three times.")
    set_decision(caller=ada, key="exporter", value="The exporter has a policy on names.")
    items = [{"key": f"other/{n}", "value": f"The service number {n} is one of several."} for n in range(12)]
    set_decision_batch(caller=ada, items=items)
    return ada


def strong(answer: dict[str, Any]) -> list[str]:
    return [row[0] for row in answer["rows"]]


def test_weak_hits_are_left_out_and_counted(invoices: Caller) -> None:
    answer = call(invoices, "search", {"query": QUESTION})
    assert strong(answer) == ["decision:invoices/retry", "decision:exporter"]
    assert (answer["total"], answer["more"]) == (14, 12)


def test_all_are_there_when_asked_for(invoices: Caller) -> None:
    answer = call(invoices, "search", {"query": QUESTION, "least": 0, "limit": 50})
    assert len(strong(answer)) == answer["total"] == 14
    assert "more" not in answer
    assert call(invoices, "search", {"query": QUESTION, "least": 1})["count"] == 1


def test_hits_that_are_about_as_good_all_stay(invoices: Caller) -> None:
    answer = call(invoices, "search", {"query": "service number", "limit": 20})
    assert (answer["count"], "more" in answer) == (12, False)


def test_more_does_not_count_what_stands_for_its_like(invoices: Caller) -> None:
    for _ in range(2):
        send_message(caller=invoices, text="The retry policy of the invoice exporter is the service's.")
    answer = call(invoices, "search", {"query": QUESTION, "kinds": ["message", "decision"]})
    shown = answer["count"] + sum(row[answer["columns"].index("more")] or 0 for row in answer["rows"])
    assert shown + answer["more"] == answer["total"] == 16


@pytest.mark.parametrize("least", [-0.1, 1.1])
def test_least_is_a_share(invoices: Caller, least: float) -> None:
    with pytest.raises(InvalidInput, match="least"):
        call(invoices, "search", {"query": QUESTION, "least": least})


def test_rest_leaves_nothing_out_unless_asked(invoices: Caller, ada_rest: RestClient) -> None:
    whole = ada_rest.get("search/", query=QUESTION, limit=50).body
    assert (whole["count"], whole["total"], "more" in whole) == (14, 14, False)
    some = ada_rest.get("search/", query=QUESTION, limit=50, least=0.3).body
    assert (some["count"], some["total"], some["more"]) == (2, 14, 12)
    posted = ada_rest.post("search/", {"query": QUESTION, "least": 0.3}).body
    assert (posted["count"], posted["more"]) == (2, 12)


def test_a_turn_beside_a_hit_stays(ada: Caller) -> None:
    """Its own words are seldom those of the question."""
    first = send_message(caller=ada, text="The retry policy of the invoice exporter is three times.")
    send_message(caller=ada, text="Fine with me.", reply_to=first["id"])
    last = send_message(caller=ada, text="By noon, then.", reply_to=first["id"])
    found = search(ada.project_id, QUESTION, least=0.9)
    assert f"message:{last['id']}" in [hit.ref for hit in found.hits]


def test_the_candidates_of_a_brief_can_be_cut(invoices: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the first ten of a kind."""
    whole = rank_objects(invoices.project_id, QUESTION, ["decision"], limit=20)
    some = rank_objects(invoices.project_id, QUESTION, ["decision"], limit=20, least=0.3)
    assert some.scores == dict(list(whole.scores.items())[:ALWAYS])
    assert (len(whole.scores), len(some.scores)) == (14, ALWAYS)
    monkeypatch.setattr(rankings, "ALWAYS", 0)
    few = rank_objects(invoices.project_id, QUESTION, ["decision"], limit=20, least=0.3)
    best = max(whole.scores.values())
    assert few.scores == {key: score for key, score in whole.scores.items() if score >= 0.3 * best}
    assert len(few.scores) == 2
    assert some.starts.keys() == some.scores.keys()


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("Which airline policy flies to Brazil?", "Nothing here has: airline, flies, brazil."),
        ("retry policy of airline invoices", None),
        ("retry policy", None),
        ("airline and brazil", "Nothing has these words, or any like them; other words may find it."),
    ],
)
def test_words_that_nothing_has_are_named_if_they_are_most_of_the_question(
    invoices: Caller, query: str, hint: str | None
) -> None:
    answer = call(invoices, "search", {"query": query})
    assert answer.get("hint") == hint
    assert bool(answer["rows"]) == (query != "airline and brazil")
