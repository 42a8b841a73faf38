"""Counts of the terms of a question: rare ones anew each time, those of common ones for ten minutes.

Those of large projects are stored for all processes.
"""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, TermCount
from ctxhub.core.search import counts, matches, stored_counts
from ctxhub.core.search.counts import Counts
from ctxhub.core.search.queries import Term
from ctxhub.core.search.questions import prepare
from memory.memories.services import add_memory
from tests.core.test_search_candidates_of_kinds import index

TERM = Term((("pelican",),), "pelican")
LARGE = matches.LARGE


def count(project: Project, objects: int = 0) -> int:
    counted = Counts(project.pk, objects)
    counted.look_up([TERM])
    return counted.of(TERM)


def test_counts_of_common_terms_are_remembered_for_some_minutes(
    apollo: Project, hermes: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "COMMON", 3)
    index(apollo, ["pelican"] * 2)
    assert count(apollo) == 2
    index(apollo, ["pelican"], first=3)
    assert count(apollo) == 3
    index(apollo, ["pelican"], first=4)
    assert (count(apollo), count(hermes)) == (3, 0)
    monkeypatch.setattr(counts, "REMEMBERED_SECONDS", 0.0)
    assert count(apollo) == 4


def test_only_so_many_are_remembered(apollo: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "COMMON", 1)
    monkeypatch.setattr(counts, "MOST_REMEMBERED", 1)
    index(apollo, ["pelican badger lock"])
    for word in ("pelican", "badger", "lock"):
        Counts(apollo.pk).look_up([Term(((word,),), word)])
    assert len(counts._remembered) <= 2


@pytest.fixture
def large(apollo: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Apollo, which counts as large, after a process has counted the common `pelican` three times in it."""
    monkeypatch.setattr(counts, "COMMON_IN_LARGE", 3)
    index(apollo, ["pelican"] * 3)
    assert count(apollo, LARGE) == 3
    stored_counts.WRITER.flush()
    counts._remembered.clear()
    return apollo


@pytest.mark.every_engine
def test_a_new_process_finds_the_counts_of_large_projects(large: Project, hermes: Project) -> None:
    index(large, ["pelican"], first=4)
    assert (count(large, LARGE), count(hermes, LARGE)) == (3, 0)
    with CaptureQueriesContext(connection) as queries:
        assert count(large, LARGE) == 3
    assert len(queries) == 0


def test_a_project_that_is_not_large_counts_anew(large: Project, hermes: Project) -> None:
    index(large, ["pelican"], first=4)
    assert count(large, LARGE - 1) == 4
    index(hermes, ["pelican"] * 3)
    assert count(hermes, LARGE - 1) == 3
    stored_counts.WRITER.flush()
    assert not TermCount.objects.in_project(hermes).exists()


def test_a_search_in_a_large_project_stores_counts(apollo: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "COMMON_IN_LARGE", 3)
    monkeypatch.setattr(counts, "LARGE", 3)
    caller = Caller(project=apollo, agent="ada")
    for number in range(3):
        add_memory(caller=caller, title=f"Pelican {number}", content="A bird.")
    for match in ("auto", "similar"):
        TermCount.objects.in_project(apollo).delete()
        counts._remembered.clear()
        assert prepare(apollo.pk, "pelican", match=match)
        stored_counts.WRITER.flush()
        assert [row.term for row in TermCount.objects.in_project(apollo)] == ["pelican"]


@pytest.mark.every_engine
def test_stored_counts_are_used_for_a_day_and_then_replaced(large: Project) -> None:
    index(large, ["pelican"], first=4)
    with time_machine.travel(clock.now() + timedelta(days=1, seconds=1)):
        assert count(large, LARGE) == 4
        stored_counts.WRITER.flush()
        counts._remembered.clear()
        index(large, ["pelican"], first=5)
        assert count(large, LARGE) == 4
    assert TermCount.objects.in_project(large).count() == 1


def test_neither_rare_nor_long_terms_are_stored(large: Project) -> None:
    spellings = tuple((f"pelican{n}",) for n in range(30))
    index(large, ["badger", *(f"pelican{n}" for n in range(3))], first=4)
    counted = Counts(large.pk, LARGE)
    counted.look_up([Term((("badger",),), "badger"), long := Term(spellings, "pelicans")])
    assert counted.of(long) == 3
    stored_counts.WRITER.flush()
    assert [row.term for row in TermCount.objects.in_project(large)] == ["pelican"]


def test_terms_that_differ_are_told_apart(large: Project) -> None:
    beginning, either = Term((("pel",),), "pel*", prefix=True), Term((("pelican",), ("sea", "bird")), "birds")
    alone = Term((("pel",),), "pel")
    index(large, ["sea bird", "pel", "pel"], first=4)
    for _ in range(2):
        counted = Counts(large.pk, LARGE)
        counted.look_up([TERM, beginning, either, alone])
        assert [counted.of(term) for term in (TERM, beginning, either, alone)] == [3, 5, 4, 2]
        stored_counts.WRITER.flush()
        counts._remembered.clear()
    assert {row.term for row in TermCount.objects.in_project(large)} == {
        "pelican",
        "pel*",
        "pelican|sea bird",
    }


def test_a_cleanup_deletes_old_counts(large: Project) -> None:
    cleanup(large.pk)
    assert TermCount.objects.in_project(large).exists()
    with time_machine.travel(clock.now() + timedelta(days=1, seconds=1)):
        cleanup(large.pk)
    assert not TermCount.objects.in_project(large).exists()


def test_what_cannot_be_stored_is_counted(large: Project) -> None:
    """A project that was deleted meanwhile gets no rows."""
    stored_counts.store_later(large.pk + 100, {"pelican": 3})
    stored_counts.WRITER.flush()
    assert TermCount.unscoped.count() == 1
