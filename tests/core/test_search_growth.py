"""What grows at its end is found as if it had been written afresh, at the cost of what is new."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.models import Project, SearchEntry, SearchText, SearchWord
from ctxhub.core.search.documents import PARTS, Document, known_words
from ctxhub.core.search.services.index import index_documents, index_growth

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


def grow(project: Project, body: str, added: str, at: datetime = AT) -> str:
    whole = body + added
    index_growth(project.pk, KIND, document("", at=at), len(added), lambda start: whole[start:])
    return whole


def indexed(project: Project, row_id: int = 1) -> tuple[datetime, list[tuple[int, int, int, str, str]]]:
    entry = SearchEntry.objects.in_project(project).get(object_id=row_id)
    texts = SearchText.objects.in_project(project).filter(
        pk__gte=entry.pk * PARTS, pk__lt=(entry.pk + 1) * PARTS
    )
    found = [
        (text.pk % PARTS, text.start, text.size, text.words, text.scope) for text in texts.order_by("pk")
    ]
    return entry.updated_at, found


def known(project: Project) -> set[str]:
    return set(SearchWord.objects.in_project(project).values_list("word", flat=True))


@pytest.mark.parametrize("seed", range(8))
def test_many_additions_are_found_as_the_whole_text_is(apollo: Project, seed: int) -> None:
    chance = random.Random(seed)
    body = ""
    index_documents(apollo.pk, KIND, [document(body)], are_new=True)
    for _ in range(12):
        added = chance.choice(("", " ", "\n\n", "\n")) + " ".join(
            chance.choices(PIECES, k=chance.randint(1, 90))
        )
        body = grow(apollo, body, added)
    index_documents(apollo.pk, KIND, [document(body, row_id=2)], are_new=True)
    assert indexed(apollo) == indexed(apollo, row_id=2)
    assert known_words(document(body)) <= known(apollo)


def test_two_words_that_grow_together_are_no_more_known_apart(apollo: Project) -> None:
    index_documents(apollo.pk, KIND, [document("the lock is a sema")], are_new=True)
    grow(apollo, "the lock is a sema", "phore")
    assert "semaphore" in known(apollo)
    assert "sema" not in known(apollo)


def test_a_word_that_is_elsewhere_too_stays_known(apollo: Project) -> None:
    body = "sema as such " + "and more " * 600 + "sema"
    index_documents(apollo.pk, KIND, [document(body)], are_new=True)
    grow(apollo, body, "phore")
    assert {"sema", "semaphore"} <= known(apollo)


def test_on_another_day_it_is_found_by_that_day(apollo: Project) -> None:
    body = "begun " * 1_000
    index_documents(apollo.pk, KIND, [document(body)], are_new=True)
    tomorrow = AT + timedelta(days=1)
    body = grow(apollo, body, "continued", at=tomorrow)
    index_documents(apollo.pk, KIND, [document(body, row_id=2, at=tomorrow)], are_new=True)
    assert indexed(apollo) == indexed(apollo, row_id=2)


def test_what_was_not_in_the_index_comes_in_whole(apollo: Project) -> None:
    grow(apollo, "there before ", "and after")
    assert "befor and after" in indexed(apollo)[1][0][3]


def test_a_long_text_is_not_read_again(apollo: Project) -> None:
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
