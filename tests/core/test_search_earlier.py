"""What was said until yesterday is found: marked with its version, and below all that stands."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, SearchEntry
from ctxhub.core.search.documents import EARLIER_CHARACTERS, earlier_text
from ctxhub.core.search.repeats import Shown
from ctxhub.core.search.selectors.search import Hit, current_first, search
from ctxhub.core.search.services.index import forget
from ctxhub.core.search.services.reindexing import index_missing, reindex
from memory.decisions.services.decisions import delete_decision, deprecate_decision, set_decision
from memory.models import Decision, DecisionRevision, Scratchpad, ScratchpadRevision
from memory.scratchpads.services.scratchpads import (
    append_to_scratchpad,
    delete_scratchpad,
    restore_scratchpad,
    update_scratchpad,
)
from memory.scratchpads.sql import revisions as pad_states
from tests.hub import McpClient, RestClient
from tests.memory.pads import pad_of
from tests.people import member
from tests.search_index import index_is_right

KEY = "api/auth"
STANDS, WAS = (f"decision:{KEY}", KEY), (f"decision:{KEY}", f"{KEY} (was 1.0.0)")


def decide(caller: Caller, key: str, value: str, **rest: Any) -> None:
    set_decision(caller=caller, key=key, value=value, **rest)


def hits(caller: Caller, query: str, **how: Any) -> list[Hit]:
    return list(search(caller.project_id, query, **how).hits)


def found(caller: Caller, query: str, **how: Any) -> list[tuple[str, str]]:
    return [(hit.ref, hit.title) for hit in hits(caller, query, **how)]


def states(project: Project) -> int:
    return SearchEntry.objects.in_project(project).filter(kind__endswith="_revision").count()


@pytest.fixture
def changed(ada: Caller, ben: Caller, index_is_kept: None) -> None:
    """It was JSON web tokens and is sessions, which ben has changed."""
    whole = {"layer": "business", "tags": ["security"], "paths": ["src/auth/**"], "scopes": ["login"]}
    decide(ada, KEY, "JWT signed with RS256", rationale="Nothing is stored.\nIt scales.", **whole)
    decide(ben, KEY, "Sessions in Redis", rationale="They can be revoked.\nIt scales.", tags=["redis"])


everything = pytest.mark.usefixtures("changed")


# -- Decisions -------------------------------------------------------------------------------------


@everything
def test_an_old_value_is_found_with_its_version(ada: Caller) -> None:
    [hit] = hits(ada, "rs256")
    assert (hit.ref, hit.title) == WAS
    assert hit.excerpt.startswith("JWT signed with RS256")
    assert "It scales" not in hit.excerpt
    assert found(ada, "nothing is stored") == [WAS]


@everything
@pytest.mark.parametrize("question", ["sessions", "It scales", "redis sessions revoked", "auth", "login"])
def test_what_stands_is_shown_as_it_stands(ada: Caller, question: str) -> None:
    assert found(ada, question) == [STANDS]


@everything
def test_what_was_is_below_all_that_stands(ada: Caller) -> None:
    decide(ada, "mobile/login", "The app signs in by itself.")
    for n in range(3):
        decide(ada, f"billing/{n}", "A key that is signed once a year.")
    answer = hits(ada, "jwt signed with rs256")
    assert [hit.title for hit in answer][-1] == WAS[1]
    assert len(answer) == 5
    scores = [hit.score for hit in answer]
    assert scores == sorted(scores, reverse=True)


@everything
def test_a_value_that_came_back_stands(ada: Caller) -> None:
    decide(ada, KEY, "JWT signed with RS256")
    assert found(ada, "rs256") == [STANDS]
    assert found(ada, "sessions") == [(STANDS[0], f"{KEY} (was 1.0.1)")]


@everything
@pytest.mark.parametrize(
    ("filters", "is_found"),
    [
        ({"kinds": ["decision"]}, True),
        ({"kinds": ["decisions", "message"]}, True),
        ({"kinds": ["message"]}, False),
        ({"tags": ["security"]}, True),
        ({"tags": ["redis"]}, False),
        ({"layer": "business"}, True),
        ({"layer": "data"}, False),
        ({"by": "ada"}, True),
        ({"by": "ben"}, False),
        ({"since": "1h"}, True),
        ({"match": "all"}, True),
    ],
    ids=str,
)
def test_it_is_narrowed_by_what_it_was(ada: Caller, filters: dict[str, Any], is_found: bool) -> None:
    assert found(ada, "rs256", **filters) == ([WAS] if is_found else [])


@everything
def test_a_change_of_other_things_is_no_earlier_text(ada: Caller, apollo: Project) -> None:
    before = states(apollo)
    decide(ada, KEY, "Sessions in Redis", tags=["other"], layer="data")
    deprecate_decision(caller=ada, key=KEY, reason="Too slow.")
    assert states(apollo) == before == 1


@everything
def test_the_total_counts_things(ada: Caller) -> None:
    for n in range(5):
        decide(ada, KEY, f"Variant {n} of the handshake")
    assert search(ada.project_id, "variant handshake").total == {"total": 1}


@everything
def test_ids_alone_say_that_it_was(ada: Caller, ada_mcp: McpClient) -> None:
    decide(ada, "app/keys", "An RS256 key signs the app.")
    answer = ada_mcp.call("search", query="rs256", detail="ids")
    assert answer["columns"] == ["ref", "title", "score", "tokens"]
    assert [row[:2] for row in answer["rows"]] == [["decision:app/keys", None], [STANDS[0], "was 1.0.0"]]


@everything
def test_what_was_goes_below_with_its_repeats_and_no_higher_score(ada: Caller) -> None:
    [was], [stands] = hits(ada, "rs256"), hits(ada, "sessions")
    weaker = stands.ranked._replace(strength=0.1)
    shown = current_first([Shown(was.ranked, more=3), Shown(weaker)])
    assert [(one.ranked.candidate.is_earlier, one.more) for one in shown] == [(False, 0), (True, 3)]
    assert [one.ranked.strength for one in shown] == [0.1, 0.1]


@everything
def test_a_hint_names_the_filter_that_excluded_what_was(ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("search", query="rs256", kinds=["decision"], tags=["redis"])
    assert answer["hint"] == "tags excludes all: without it there is 1."


@everything
def test_lists_and_proposals_know_what_stands_alone(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("decision", "list", text="rs256")["count"] == 0
    assert ada_mcp.call("decision", "suggest", text="rs256")["count"] == 0


def test_whoever_deletes_a_decision_deletes_what_it_was(ada: Caller, apollo: Project, changed: None) -> None:
    decide(ada, "other", "one")
    decide(ada, "other", "two")
    delete_decision(caller=ada, key=KEY)
    assert states(apollo) == 1
    Decision.objects.in_project(apollo).delete()
    assert not SearchEntry.objects.in_project(apollo).exists()


def test_a_project_goes_with_all_that_was(apollo: Project, changed: None) -> None:
    apollo.delete()
    assert not SearchEntry.unscoped.exists()


def test_whoever_saves_by_the_orm_leaves_what_was(ada: Caller, apollo: Project, changed: None) -> None:
    decision = Decision.objects.in_project(apollo).get(key=KEY)
    decision.value = "Passkeys"
    decision.save()
    assert found(ada, "redis sessions") == [(STANDS[0], f"{KEY} (was 1.0.1)")]


def test_another_project_finds_nothing_of_it(cy: Caller, changed: None) -> None:
    assert hits(cy, "rs256") == []


# -- Scratchpads -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("index_is_kept")
def test_replaced_lines_of_a_pad_are_found(ada: Caller, apollo: Project) -> None:
    pad = pad_of(ada, "The queue is RabbitMQ.\nThe log is JSON.", name="notes")
    append_to_scratchpad(caller=ada, scratchpad_id=pad, content="More.")
    assert states(apollo) == 0
    update_scratchpad(caller=ada, scratchpad_id=pad, content="The queue is NATS.", line=1, end=1)
    assert found(ada, "rabbitmq") == [(f"scratchpad:{pad}", "notes (was revision 2)")]
    assert found(ada, "json log") == [(f"scratchpad:{pad}", "notes")]
    restore_scratchpad(caller=ada, scratchpad_id=pad, revision=1)
    assert found(ada, "rabbitmq") == [(f"scratchpad:{pad}", "notes")]
    assert found(ada, "nats") == [(f"scratchpad:{pad}", "notes (was revision 3)")]


@pytest.mark.usefixtures("index_is_kept")
def test_a_renamed_pad_was_so_under_its_new_name(ada: Caller, apollo: Project) -> None:
    pad = pad_of(ada, "RabbitMQ", name="notes")
    update_scratchpad(caller=ada, scratchpad_id=pad, content="NATS")
    row = Scratchpad.objects.in_project(apollo).get(pk=pad)
    row.name, row.content = "plans", "Kafka"
    row.save()
    assert found(ada, "rabbitmq") == [(f"scratchpad:{pad}", "plans (was revision 1)")]
    assert found(ada, "nats") == [(f"scratchpad:{pad}", "plans (was revision 2)")]


@pytest.mark.usefixtures("index_is_kept")
def test_texts_that_are_kept_no_longer_are_found_no_longer(
    ada: Caller, apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pad_states, "WHOLE_KEPT", 2)
    pad = pad_of(ada, "alpha")
    for word in ("beta", "gamma", "delta"):
        update_scratchpad(caller=ada, scratchpad_id=pad, content=word)
    kept = ScratchpadRevision.objects.in_project(apollo).filter(content__isnull=False).count()
    assert states(apollo) == kept < 3
    assert hits(ada, "alpha") == []
    delete_scratchpad(caller=ada, scratchpad_id=pad)
    assert states(apollo) == 0


@pytest.mark.usefixtures("index_is_kept")
def test_an_idle_workflow_takes_what_its_pads_were(ada: Caller, apollo: Project) -> None:
    pad = pad_of(ada, "alpha")
    update_scratchpad(caller=ada, scratchpad_id=pad, content="beta")
    Scratchpad.objects.in_project(apollo).get(pk=pad).workflow.delete()
    assert states(apollo) == 0


# -- Texts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("was", "now", "gone"),
    [
        ("a\nb\nc", "a\nc", "b"),
        ("a", "a\nb", ""),
        ("a\nb", "b\na", ""),
        ("a", "A", "a"),
        ("", "a", ""),
        ("a\nb\n", "", "a\nb"),
    ],
)
def test_gone_is_what_no_line_says_any_longer(was: str, now: str, gone: str) -> None:
    assert earlier_text(was, now) == gone


def test_a_long_text_is_looked_up_by_its_beginning() -> None:
    assert len(earlier_text("many words\n" * 10_000, "")) == EARLIER_CHARACTERS


# -- The index -------------------------------------------------------------------------------------


@everything
def test_an_upgrade_indexes_what_was(ada: Caller, apollo: Project) -> None:
    forget(apollo.pk, "decision_revision", [DecisionRevision.objects.in_project(apollo).get().pk])
    assert hits(ada, "rs256") == []
    index_missing()
    assert found(ada, "rs256") == [WAS]


@everything
def test_reindexing_puts_right_what_was(ada: Caller, apollo: Project) -> None:
    [entry] = SearchEntry.objects.in_project(apollo).filter(kind="decision_revision")
    SearchEntry.objects.in_project(apollo).filter(pk=entry.pk).update(ref="decision:other")
    with pytest.raises(CommandError):
        call_command("reindex", "--check")
    list(reindex(apollo.pk))
    call_command("reindex", "--check")
    index_is_right(apollo)


@everything
def test_a_revision_that_is_gone_is_shown_to_nobody(ada: Caller, apollo: Project) -> None:
    DecisionRevision.objects.in_project(apollo).delete()
    assert hits(ada, "rs256") == []
    list(reindex(apollo.pk))


# -- Faces -----------------------------------------------------------------------------------------


def test_agents_and_programs_find_it(ada_mcp: McpClient, ada_rest: RestClient, cy_rest: RestClient) -> None:
    for value in ("JWT signed with RS256", "Sessions"):
        ada_mcp.call("decision", "set", key=KEY, value=value)
    [row] = ada_mcp.call("search", query="rs256")["rows"]
    assert row[:3] == [*WAS, "JWT signed with RS256"]
    [item] = ada_rest.get("search/", query="rs256").body["items"]
    assert (item["ref"], item["title"]) == WAS
    assert cy_rest.get("search/", query="rs256").body["items"] == []
    assert ada_mcp.call("get", refs=[row[0]])["items"][0]["value"] == "Sessions"


@everything
def test_people_are_led_to_the_thing(apollo: Project) -> None:
    client = member(apollo)
    page = client.get("/admin/search/", {"q": "rs256"})
    [card] = page.context["cards"]
    assert (card.kind, card.mark) == ("decision", "was 1.0.0")
    assert b"Sessions in Redis" in client.get(card.url).content
    counts = {choice.title: choice.count for choice in page.context["facets"][0][1]}
    assert counts == {"Everything": 1, "Decisions": 1}
    assert [c.ref for c in client.get("/admin/search/", {"q": "rs256", "kind": "decision"}).context["cards"]]
