"""Candidates of several kinds in one statement: the best of each, the same on every engine."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest
from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.search import counts as search_counts
from ctxhub.core.search import matches
from ctxhub.core.search.candidates import find_candidates
from ctxhub.core.search.candidates_of_kinds import FEW_OBJECTS, _common_apart, find_candidates_of_kinds
from ctxhub.core.search.documents import Document, kind_word
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.index import index_documents
from ctxhub.core.search.matches import frequencies, holds_most
from ctxhub.core.search.queries import Query, Term
from ctxhub.core.search.ranking import worth
from ctxhub.core.search.rankings import rank_objects
from memory.memories.services import add_memory

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
LIMIT = 2
KINDS = ("decision", "message")
ENTRIES = {"decision": 100, "message": FEW_OBJECTS}
# ENOUGH times LIMIT for both kinds: with so many passages the rarest word leads alone.
LEADS = 32
RARE, COMMON = Term((("pelican",),), "pelican"), Term((("lock",),), "lock")
PHRASE = Term((("sea", "lock"),), "sea lock")
BEGINNING = Term((("loc",),), "loc*", prefix=True)
WITH_OTHER = Term((("badger",),), "badger", also=(COMMON,))
Ids = dict[str, list[int]]


def index(project: Project, bodies: Sequence[str], kind: str = "decision", first: int = 1) -> None:
    documents = [Document(n, f"{n}", "", body, NOON) for n, body in enumerate(bodies, start=first)]
    index_documents(project.pk, kind, documents)


def best(
    project: Project,
    counts: Mapping[Term, int],
    kinds: Sequence[str] = KINDS,
    needs_all: bool = False,
    entries: Mapping[str, int] = ENTRIES,
    by_row: bool = False,
) -> Ids:
    scope = Narrowing([[f"P{project.pk}"]])
    query = Query(tuple(counts), needs_all=needs_all)
    weights = {term: worth(1_000, count) for term, count in counts.items()}
    found = find_candidates_of_kinds(scope, query, weights, kinds, LIMIT, counts, entries, by_row=by_row)
    assert {one.kind for one in found} <= set(kinds)
    return {kind: sorted(one.object_id for one in found if one.kind == kind) for kind in kinds}


@pytest.mark.every_engine
def test_each_kind_has_the_best_as_if_it_were_asked_for_alone(apollo: Project) -> None:
    index(apollo, ["pelican", "pelican and lock", "lock", "a sea lock", "pelican " + "of the air " * 30])
    index(apollo, ["lock", "lock", "lock and pelican"], kind="message")
    index(apollo, ["pelican and lock"], kind="memory")
    counts = {RARE: 5, COMMON: 7, PHRASE: 1}
    weights = {term: worth(1_000, count) for term, count in counts.items()}
    alone = {}
    for kind in KINDS:
        narrowing = Narrowing([[f"P{apollo.pk}"], [kind_word(kind)]])
        found, _ = find_candidates(narrowing, Query(tuple(counts)), weights, LIMIT, 0)
        alone[kind] = sorted(one.object_id for one in found)
    assert best(apollo, counts) == alone == {"decision": [2, 4], "message": [2, 3]}


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "common", [COMMON, PHRASE, BEGINNING, WITH_OTHER], ids=["word", "phrase", "beginning", "alternative"]
)
def test_common_terms_order_what_the_rarest_found(apollo: Project, common: Term) -> None:
    bodies = ["pelican"] * LEADS + ["a sea lock"] * 9
    bodies[LEADS - 7] = bodies[LEADS - 5] = "pelican at sea lock"
    index(apollo, bodies)
    assert best(apollo, {RARE: LEADS, common: 500}, ["decision"]) == {"decision": [LEADS - 6, LEADS - 4]}


@pytest.mark.every_engine
def test_a_kind_in_which_the_rarest_find_too_few_is_searched_by_all_terms(apollo: Project) -> None:
    index(apollo, ["pelican"] * LEADS)
    index(apollo, ["lock"] * 3 + ["otter"], kind="message")
    counts = {RARE: LEADS, COMMON: 500}
    assert best(apollo, counts) == {"decision": [31, 32], "message": [2, 3]}
    for many in ({}, {"message": FEW_OBJECTS + 1}):
        assert best(apollo, counts, entries=many) == {"decision": [31, 32], "message": []}


@pytest.mark.every_engine
def test_words_within_words_are_none(apollo: Project) -> None:
    index(apollo, ["pelican lock"] + ["pelican interlock lockers"] * 5 + ["pelican unknown words"] * 2)
    counts = {RARE: LEADS, COMMON: 500}
    assert best(apollo, counts, ["decision"]) == {"decision": [1, 8]}


@pytest.mark.every_engine
def test_a_common_alternative_of_a_rare_word_does_not_lead(apollo: Project) -> None:
    index(apollo, ["lock"] * 5 + ["badger"] * 16 + ["badger with lock", "badger with lock"] + ["lock"] * 5)
    counts = {WITH_OTHER: 18, WITH_OTHER.alone: 18, COMMON: 500}
    split, weights, _ = _common_apart(Query((WITH_OTHER,)), {WITH_OTHER: 2.0}, counts, 16)
    assert weights == {WITH_OTHER.alone: 2.0, COMMON: 2.0 * COMMON.weight}
    assert split.wanted == (WITH_OTHER.alone, COMMON)
    assert asked_for(apollo, WITH_OTHER, counts) == [22, 23]


@pytest.mark.every_engine
def test_a_common_alternative_leads_where_the_word_is_in_too_few(apollo: Project) -> None:
    index(apollo, ["lock"] * 20 + ["badger"])
    assert asked_for(apollo, WITH_OTHER, {WITH_OTHER: 1, WITH_OTHER.alone: 1, COMMON: 20}) == [20, 21]


@pytest.mark.parametrize(
    "counts",
    [{WITH_OTHER: 500, WITH_OTHER.alone: 0, COMMON: 500}, {WITH_OTHER: 9, WITH_OTHER.alone: 9, COMMON: 16}],
    ids=["without the word itself", "with a rare alternative"],
)
def test_other_alternatives_stay_with_their_terms(counts: dict[Term, int]) -> None:
    split, weights, kept = _common_apart(Query((WITH_OTHER,)), {WITH_OTHER: 2.0}, counts, 16)
    assert split.wanted == (WITH_OTHER,)
    assert weights == {WITH_OTHER: 2.0}
    assert kept == {WITH_OTHER: counts[WITH_OTHER]}


def asked_for(project: Project, term: Term, counts: Mapping[Term, int]) -> list[int]:
    scope = Narrowing([[f"P{project.pk}"]])
    query, weights = Query((term,)), {term: worth(1_000, counts[term])}
    found = find_candidates_of_kinds(scope, query, weights, ["decision"], LIMIT, counts, {})
    return sorted(one.object_id for one in found)


def test_counts_name_each_alternative(apollo: Project) -> None:
    index(apollo, ["lock", "lock", "badger"])
    counts = search_counts.Counts(apollo.pk)
    counts.look_up([WITH_OTHER, RARE])
    assert counts.of_all([WITH_OTHER, RARE]) == {WITH_OTHER: 1, WITH_OTHER.alone: 1, COMMON: 2, RARE: 0}


def test_excluded_and_needed_terms_hold(apollo: Project) -> None:
    index(apollo, ["pelican"] * LEADS + ["pelican lock"])
    needed = best(apollo, {RARE: LEADS, COMMON: 500}, ["decision"], needs_all=True)
    assert needed == {"decision": [33]}
    found = find_candidates_of_kinds(
        Narrowing([[f"P{apollo.pk}"]]),
        Query((RARE,), excluded=(COMMON,)),
        {RARE: 1.0},
        ["decision"],
        LIMIT,
        {RARE: LEADS},
        ENTRIES,
    )
    assert sorted(one.object_id for one in found) == [31, 32]


def test_another_project_is_not_searched(apollo: Project, hermes: Project) -> None:
    index(hermes, ["pelican and lock"] * 3)
    assert best(apollo, {RARE: 3, COMMON: 3}) == {"decision": [], "message": []}


@pytest.mark.every_engine
def test_rows_told_by_themselves_are_those_of_the_project(apollo: Project, hermes: Project) -> None:
    """Of a project that holds most of the hub PostgreSQL reads no list of its rows."""
    for project in (apollo, hermes):
        index(project, ["pelican", "pelican and lock", "lock", "a sea lock"])
        index(project, ["lock", "sea", "badger"], kind="message")
    for counts in (
        {RARE: 2, COMMON: 5},
        {RARE: 40, COMMON: 60},
        {PHRASE: 1},
        {BEGINNING: 5},
        {WITH_OTHER: 6},
    ):
        assert best(apollo, counts, by_row=True) == best(apollo, counts)
        assert any(best(apollo, counts).values())
    terms = [RARE, COMMON, PHRASE, BEGINNING, WITH_OTHER]
    scope = [[f"P{apollo.pk}"]]
    assert frequencies(scope, terms, by_row=True) == frequencies(scope, terms) == [2, 4, 1, 4, 5]
    of_messages = [*scope, [kind_word("message")]]
    assert frequencies(of_messages, terms, by_row=True) == frequencies(of_messages, terms) == [0, 1, 0, 1, 2]


@pytest.mark.every_engine
@pytest.mark.parametrize(("objects", "most"), [(2, False), (3, True), (9, True)])
def test_a_large_project_holds_most_with_a_quarter_of_the_passages(
    apollo: Project, objects: int, most: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "LARGE", 2)
    index(apollo, ["lock"] * 12)
    if connection.vendor == "postgresql":
        sql.execute("ANALYZE core_searchtext")
    assert holds_most(objects) == (most and connection.vendor == "postgresql")
    assert not holds_most(1)


def test_a_brief_of_a_large_project_is_the_same(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        add_memory(caller=ada, title=f"Pelican {number}", content="A bird by the sea.")
    small = rank_objects(ada.project_id, "pelican", ["memory"], limit=2)
    for module in (matches, search_counts):
        monkeypatch.setattr(module, "LARGE", 0)
    assert rank_objects(ada.project_id, "pelican", ["memory"], limit=2).scores == small.scores != {}
