"""A text that grows at its end is indexed as if written anew, at the cost of the addition only."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.models import Project, SearchEntry, SearchText, SearchWord
from ctxhub.core.search.documents import PARTS, Document, known_words
from ctxhub.core.search.index import index_documents, index_growth

AT = datetime(2026, 11, 21, 10, tzinfo=UTC)
KIND = "scratchpad"
PIECES = (
    "cache",
    "userName",
    "服務效能瓶頸",
    "πρόσβαση",
    "🙂",
    "x" * 300,
    "two words",
    "ends.",
    "line\nline",
)


def document(body: str, row_id: int = 1, at: datetime = AT) -> Document:
    return Document(object_id=row_id, ref=f"scratchpad:{row_id}", title="Findings", body=body, at=at)


def append(project: Project, body: str, addition: str, at: datetime = AT) -> str:
    grown = body + addition
    index_growth(project.pk, KIND, document("", at=at), len(addition), lambda start: grown[start:])
    return grown


def indexed(project: Project, row_id: int = 1) -> tuple[datetime, list[tuple[int, int, int, str, str]]]:
    entry = SearchEntry.objects.in_project(project).get(object_id=row_id)
    texts = SearchText.objects.in_project(project).filter(
        pk__gte=entry.pk * PARTS, pk__lt=(entry.pk + 1) * PARTS
    )
    found = [
        (text.pk % PARTS, text.start, text.size, text.words, text.scope) for text in texts.order_by("pk")
    ]
    return entry.updated_at, found


def indexed_words(project: Project) -> set[str]:
    return set(SearchWord.objects.in_project(project).values_list("word", flat=True))


@pytest.mark.parametrize("seed", range(8))
def test_many_additions_are_indexed_like_the_whole_text(apollo: Project, seed: int) -> None:
    chance = random.Random(seed)
    body = ""
    index_documents(apollo.pk, KIND, [document(body)], are_new=True)
    for _ in range(12):
        addition = chance.choice(("", " ", "\n\n", "\n")) + " ".join(
            chance.choices(PIECES, k=chance.randint(1, 90))
        )
        body = append(apollo, body, addition)
    index_documents(apollo.pk, KIND, [document(body, row_id=2)], are_new=True)
    assert indexed(apollo) == indexed(apollo, row_id=2)
    assert known_words(document(body)) <= indexed_words(apollo)


def test_a_word_that_grows_is_replaced_by_the_longer_word(apollo: Project) -> None:
    index_documents(apollo.pk, KIND, [document("the lock is a sema")], are_new=True)
    append(apollo, "the lock is a sema", "phore")
    assert "semaphore" in indexed_words(apollo)
    assert "sema" not in indexed_words(apollo)


def test_a_word_that_occurs_elsewhere_stays_indexed(apollo: Project) -> None:
    body = "sema as such " + "and more " * 600 + "sema"
    index_documents(apollo.pk, KIND, [document(body)], are_new=True)
    append(apollo, body, "phore")
    assert {"sema", "semaphore"} <= indexed_words(apollo)


def test_an_addition_updates_the_time_of_the_entry(apollo: Project) -> None:
    body = "begun " * 1_000
    index_documents(apollo.pk, KIND, [document(body)], are_new=True)
    tomorrow = AT + timedelta(days=1)
    body = append(apollo, body, "continued", at=tomorrow)
    index_documents(apollo.pk, KIND, [document(body, row_id=2, at=tomorrow)], are_new=True)
    assert indexed(apollo) == indexed(apollo, row_id=2)


def test_a_text_missing_in_the_index_is_indexed_whole(apollo: Project) -> None:
    append(apollo, "there before ", "and after")
    assert "befor and after" in indexed(apollo)[1][0][3]


def test_an_addition_to_a_long_text_reads_only_its_end(apollo: Project) -> None:
    body = "a long story " * 20_000
    index_documents(apollo.pk, KIND, [document(body)], are_new=True)
    read: list[int] = []

    def read_from(start: int) -> str:
        read.append(start)
        return (body + "end")[start:]

    with CaptureQueriesContext(
        connection,
    ) as queries:
        index_growth(apollo.pk, KIND, document(""), 3, read_from)
    assert len(queries) <= 4
    assert [len(body) + 3 - start < 4_300 for start in read] == [True]
