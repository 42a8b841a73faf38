"""Counts of the terms of a question: rare ones anew each time, those of common ones for ten minutes."""

import pytest

from ctxhub.core.models import Project
from ctxhub.core.search import counts
from ctxhub.core.search.counts import Counts
from ctxhub.core.search.queries import Term
from tests.core.test_search_candidates_of_kinds import index

TERM = Term((("pelican",),), "pelican")


def count(project: Project) -> int:
    counted = Counts(project.pk)
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
