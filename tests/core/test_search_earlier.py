"""Search finds earlier versions of texts: marked with their version, and below all current rows."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, SearchEntry
from ctxhub.core.search.documents import EARLIER_CHARACTERS, earlier_text
from ctxhub.core.search.index import forget
from ctxhub.core.search.order import Shown, current_first
from ctxhub.core.search.reindexing import index_missing, reindex
from ctxhub.core.search.search import Hit, search
from memory.decisions.services import delete_decision, deprecate_decision, set_decision
from memory.models import Decision, DecisionRevision, Scratchpad, ScratchpadRevision
from memory.scratchpads import revisions
from memory.scratchpads.services import (
    append_to_scratchpad,
    delete_scratchpad,
    restore_scratchpad,
    update_scratchpad,
)
from tests.hub import McpClient, RestClient
from tests.memory.pads import pad_of
from tests.people import member
from tests.search_index import index_is_right

KEY = "api/auth"
CURRENT, EARLIER = (f"decision:{KEY}", KEY), (f"decision:{KEY}", f"{KEY} (was 1.0.0, now Sessions in Redis)")


def decide(caller: Caller, key: str, value: str, **rest: Any) -> None:
    set_decision(caller=caller, key=key, value=value, **rest)


def hits(caller: Caller, query: str, **options: Any) -> list[Hit]:
    return list(search(caller.project_id, query, **options).hits)


def refs_and_titles(caller: Caller, query: str, **options: Any) -> list[tuple[str, str]]:
    return [(hit.ref, hit.title) for hit in hits(caller, query, **options)]


def count_revisions(project: Project) -> int:
    return SearchEntry.objects.in_project(project).filter(kind__endswith="_revision").count()


@pytest.fixture
def changed(ada: Caller, ben: Caller, index_is_kept: None) -> None:
    """A decision whose value was JSON web tokens, and which ben has changed to sessions."""
    fields = {"layer": "business", "tags": ["security"], "paths": ["src/auth/**"], "scopes": ["login"]}
    decide(ada, KEY, "JWT signed with RS256", rationale="Nothing is stored.\nIt scales.", **fields)
    decide(ben, KEY, "Sessions in Redis", rationale="They can be revoked.\nIt scales.", tags=["redis"])


with_changed_decision = pytest.mark.usefixtures("changed")


# -- Decisions -------------------------------------------------------------------------------------


@with_changed_decision
def test_an_old_value_is_found_with_its_version(ada: Caller) -> None:
    [hit] = hits(ada, "rs256")
    assert (hit.ref, hit.title) == EARLIER
    assert hit.excerpt.startswith("JWT signed with RS256")
    assert "It scales" not in hit.excerpt
    assert refs_and_titles(ada, "nothing is stored") == [EARLIER]


@with_changed_decision
@pytest.mark.parametrize("question", ["sessions", "It scales", "redis sessions revoked", "auth", "login"])
def test_a_query_for_current_text_finds_the_current_version(ada: Caller, question: str) -> None:
    assert refs_and_titles(ada, question) == [CURRENT]


@with_changed_decision
def test_earlier_versions_rank_below_current_rows(ada: Caller) -> None:
    decide(ada, "mobile/login", "The app signs in by itself.")
    for n in range(3):
        decide(ada, f"billing/{n}", "A key that is signed once a year.")
    answer = hits(ada, "rs256 signed for the app")
    assert [hit.title for hit in answer][-1] == EARLIER[1]
    assert len(answer) == 5
    scores = [hit.score for hit in answer]
    assert scores == sorted(scores, reverse=True)


@with_changed_decision
@pytest.mark.parametrize(
    ("question", "is_first"),
    [
        ("JWT signed with RS256", True),
        ("jwt rs256", True),
        ("RS256 signed JWT", False),
        ("JWT signed with RS256 by the app", False),
    ],
)
def test_what_was_said_in_just_these_words_comes_first(ada: Caller, question: str, is_first: bool) -> None:
    for n in range(3):
        decide(ada, f"billing/{n}", "A key that is signed once a year by the app.")
    answer = hits(ada, question)
    assert ([hit.title for hit in answer].index(EARLIER[1]) == 0) == is_first
    scores = [hit.score for hit in answer]
    assert scores == sorted(scores, reverse=True)


@with_changed_decision
def test_what_stands_comes_first_if_it_says_the_same(ada: Caller) -> None:
    decide(ada, "mobile/login", "The app has a JWT that the server signed with its RS256 key.")
    assert refs_and_titles(ada, "JWT signed with RS256")[0][0] == "decision:mobile/login"


def test_an_old_value_that_is_shorter_than_the_key_is_found_as_it_was(ada: Caller) -> None:
    """The current state has more of the words, but not all."""
    decide(ada, "api/gateway/timeout", "ninety seconds")
    decide(ada, "api/gateway/timeout", "a minute of seconds")
    assert refs_and_titles(ada, "api gateway timeout ninety seconds") == [
        ("decision:api/gateway/timeout", "api/gateway/timeout (was 1.0.0, now a minute of seconds)")
    ]


@with_changed_decision
def test_what_holds_no_more_is_said_of_a_deprecated_decision(ada: Caller) -> None:
    deprecate_decision(caller=ada, key=KEY, reason="Too slow.")
    assert refs_and_titles(ada, "rs256") == [(CURRENT[0], f"{KEY} (was 1.0.0, now deprecated)")]


def test_a_long_value_is_cut_in_the_mark(ada: Caller) -> None:
    decide(ada, "a", "pelican")
    decide(ada, "a", "Badgers of the northern woods, " * 10)
    [hit] = hits(ada, "pelican", detail="detailed")
    assert hit.title.startswith("a (was 1.0.0, now Badgers of the northern woods, Badgers of")
    assert hit.title.endswith("…)")


@with_changed_decision
def test_a_restored_value_is_found_as_current(ada: Caller) -> None:
    decide(ada, KEY, "JWT signed with RS256")
    assert refs_and_titles(ada, "rs256") == [CURRENT]
    assert refs_and_titles(ada, "sessions") == [(CURRENT[0], f"{KEY} (was 1.0.1, now JWT signed with RS256)")]


@with_changed_decision
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
def test_filters_apply_to_the_earlier_version(ada: Caller, filters: dict[str, Any], is_found: bool) -> None:
    assert refs_and_titles(ada, "rs256", **filters) == ([EARLIER] if is_found else [])


@with_changed_decision
def test_a_change_of_other_fields_indexes_no_earlier_text(ada: Caller, apollo: Project) -> None:
    before = count_revisions(apollo)
    decide(ada, KEY, "Sessions in Redis", tags=["other"], layer="data")
    deprecate_decision(caller=ada, key=KEY, reason="Too slow.")
    assert count_revisions(apollo) == before == 1


@with_changed_decision
def test_the_total_counts_decisions_rather_than_versions(ada: Caller) -> None:
    for n in range(5):
        decide(ada, KEY, f"Variant {n} of the handshake")
    assert search(ada.project_id, "variant handshake").total == {"total": 1}


@with_changed_decision
def test_the_ids_detail_marks_an_earlier_version(ada: Caller, ada_mcp: McpClient) -> None:
    decide(ada, "app/keys", "An RS256 key signs the app.")
    answer = ada_mcp.call("search", query="rs256", detail="ids")
    assert answer["columns"] == ["ref", "title", "score", "tokens"]
    assert [row[:2] for row in answer["rows"]] == [["decision:app/keys", None], [CURRENT[0], "was 1.0.0"]]


@with_changed_decision
def test_an_earlier_version_moves_below_with_its_duplicates_and_a_capped_score(ada: Caller) -> None:
    [earlier], [current] = hits(ada, "rs256"), hits(ada, "sessions")
    weaker = current.ranked._replace(strength=0.1)
    shown = current_first([Shown(earlier.ranked, more=3), Shown(weaker)])
    assert [(hit.ranked.candidate.is_earlier, hit.more) for hit in shown] == [(False, 0), (True, 3)]
    assert [hit.ranked.strength for hit in shown] == [0.1, 0.1]


@with_changed_decision
def test_a_hint_names_the_filter_that_excluded_an_earlier_version(ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("search", query="rs256", kinds=["decision"], tags=["redis"])
    assert answer["hint"] == "tags excludes all: without it there is 1."


@with_changed_decision
def test_lists_and_suggestions_find_current_versions_only(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("decision", "list", text="rs256")["count"] == 0
    assert ada_mcp.call("decision", "suggest", text="rs256")["count"] == 0


def test_deleting_a_decision_deletes_its_earlier_versions(
    ada: Caller, apollo: Project, changed: None
) -> None:
    decide(ada, "other", "one")
    decide(ada, "other", "two")
    delete_decision(caller=ada, key=KEY)
    assert count_revisions(apollo) == 1
    Decision.objects.in_project(apollo).delete()
    assert not SearchEntry.objects.in_project(apollo).exists()


def test_deleting_a_project_deletes_its_earlier_versions(apollo: Project, changed: None) -> None:
    apollo.delete()
    assert not SearchEntry.unscoped.exists()


def test_a_save_by_the_orm_indexes_the_earlier_version(ada: Caller, apollo: Project, changed: None) -> None:
    decision = Decision.objects.in_project(apollo).get(key=KEY)
    decision.value = "Passkeys"
    decision.save()
    assert refs_and_titles(ada, "redis sessions") == [(CURRENT[0], f"{KEY} (was 1.0.1, now Passkeys)")]


def test_another_project_finds_no_earlier_version(cy: Caller, changed: None) -> None:
    assert hits(cy, "rs256") == []


# -- Scratchpads -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("index_is_kept")
def test_replaced_lines_of_a_scratchpad_are_found(ada: Caller, apollo: Project) -> None:
    pad = pad_of(ada, "The queue is RabbitMQ.\nThe log is JSON.", name="notes")
    append_to_scratchpad(caller=ada, scratchpad_id=pad, content="More.")
    assert count_revisions(apollo) == 0
    update_scratchpad(caller=ada, scratchpad_id=pad, content="The queue is NATS.", line=1, end=1)
    assert refs_and_titles(ada, "rabbitmq") == [
        (f"scratchpad:{pad}", "notes (was revision 2, now revision 3)")
    ]
    assert refs_and_titles(ada, "json log") == [(f"scratchpad:{pad}", "notes")]
    restore_scratchpad(caller=ada, scratchpad_id=pad, revision=1)
    assert refs_and_titles(ada, "rabbitmq") == [(f"scratchpad:{pad}", "notes")]
    assert refs_and_titles(ada, "nats") == [(f"scratchpad:{pad}", "notes (was revision 3, now revision 4)")]


@pytest.mark.usefixtures("index_is_kept")
def test_earlier_text_of_a_renamed_scratchpad_is_found_under_the_new_name(
    ada: Caller, apollo: Project
) -> None:
    pad = pad_of(ada, "RabbitMQ", name="notes")
    update_scratchpad(caller=ada, scratchpad_id=pad, content="NATS")
    row = Scratchpad.objects.in_project(apollo).get(pk=pad)
    row.name, row.content = "plans", "Kafka"
    row.save()
    assert refs_and_titles(ada, "rabbitmq") == [
        (f"scratchpad:{pad}", "plans (was revision 1, now revision 3)")
    ]
    assert refs_and_titles(ada, "nats") == [(f"scratchpad:{pad}", "plans (was revision 2, now revision 3)")]


@pytest.mark.usefixtures("index_is_kept")
def test_pruned_revisions_are_not_found(
    ada: Caller, apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revisions, "WHOLE_KEPT", 2)
    pad = pad_of(ada, "alpha")
    for word in ("beta", "gamma", "delta"):
        update_scratchpad(caller=ada, scratchpad_id=pad, content=word)
    whole_revisions = ScratchpadRevision.objects.in_project(apollo).filter(content__isnull=False).count()
    assert count_revisions(apollo) == whole_revisions < 3
    assert hits(ada, "alpha") == []
    delete_scratchpad(caller=ada, scratchpad_id=pad)
    assert count_revisions(apollo) == 0


@pytest.mark.usefixtures("index_is_kept")
def test_deleting_a_workflow_deletes_the_revisions_of_its_scratchpads(ada: Caller, apollo: Project) -> None:
    pad = pad_of(ada, "alpha")
    update_scratchpad(caller=ada, scratchpad_id=pad, content="beta")
    Scratchpad.objects.in_project(apollo).get(pk=pad).workflow.delete()
    assert count_revisions(apollo) == 0


# -- Texts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("a\nb\nc", "a\nc", "b"),
        ("a", "a\nb", ""),
        ("a\nb", "b\na", ""),
        ("a", "A", "a"),
        ("", "a", ""),
        ("a\nb\n", "", "a\nb"),
    ],
)
def test_earlier_text_is_the_lines_that_are_gone(old: str, new: str, gone: str) -> None:
    assert earlier_text(old, new) == gone


def test_a_long_earlier_text_is_truncated() -> None:
    assert len(earlier_text("many words\n" * 10_000, "")) == EARLIER_CHARACTERS


# -- The index -------------------------------------------------------------------------------------


@with_changed_decision
def test_an_upgrade_indexes_earlier_versions(ada: Caller, apollo: Project) -> None:
    forget(apollo.pk, "decision_revision", [DecisionRevision.objects.in_project(apollo).get().pk])
    assert hits(ada, "rs256") == []
    index_missing()
    assert refs_and_titles(ada, "rs256") == [EARLIER]


@with_changed_decision
def test_reindexing_repairs_earlier_versions(ada: Caller, apollo: Project) -> None:
    [entry] = SearchEntry.objects.in_project(apollo).filter(kind="decision_revision")
    SearchEntry.objects.in_project(apollo).filter(pk=entry.pk).update(ref="decision:other")
    with pytest.raises(CommandError):
        call_command("reindex", "--check")
    list(reindex(apollo.pk))
    call_command("reindex", "--check")
    index_is_right(apollo)


@with_changed_decision
def test_a_deleted_revision_is_not_found(ada: Caller, apollo: Project) -> None:
    DecisionRevision.objects.in_project(apollo).delete()
    assert hits(ada, "rs256") == []
    list(reindex(apollo.pk))


# -- MCP, REST and the admin -----------------------------------------------------------------------


def test_earlier_versions_are_found_over_mcp_and_rest(
    ada_mcp: McpClient, ada_rest: RestClient, cy_rest: RestClient
) -> None:
    for value in ("JWT signed with RS256", "Sessions in Redis"):
        ada_mcp.call("decision", "set", key=KEY, value=value)
    [row] = ada_mcp.call("search", query="rs256")["rows"]
    assert row[:3] == [*EARLIER, "JWT signed with RS256"]
    [item] = ada_rest.get("search/", query="rs256").body["items"]
    assert (item["ref"], item["title"]) == EARLIER
    assert cy_rest.get("search/", query="rs256").body["items"] == []
    assert ada_mcp.call("get", refs=[row[0]])["items"][0]["value"] == "Sessions in Redis"


@with_changed_decision
def test_the_admin_links_an_earlier_version_to_its_decision(apollo: Project) -> None:
    client = member(apollo)
    page = client.get("/admin/search/", {"q": "rs256"})
    [card] = page.context["cards"]
    assert (card.kind, card.mark) == ("decision", "was 1.0.0, now Sessions in Redis")
    assert b"Sessions in Redis" in client.get(card.url).content
    counts = {choice.title: choice.count for choice in page.context["facets"][0][1]}
    assert counts == {"Everything": 1, "Decisions": 1}
    assert [c.ref for c in client.get("/admin/search/", {"q": "rs256", "kind": "decision"}).context["cards"]]
