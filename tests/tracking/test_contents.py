"""Contents of files: kept once, masked, dropped when no file has them, found by the search."""

import hashlib
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.counters import Stats
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Event, Project
from ctxhub.core.search.search import search
from ctxhub.core.text.secrets import find_secret
from tracking.files.inputs import clean_content, clean_facts
from tracking.files.models import ResourceType
from tracking.files.services import store_files
from tracking.models import FileContent, Resource

pytestmark = pytest.mark.usefixtures("index_is_kept")

TOKEN = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


def store(project: Project, **files: str | dict[str, Any]) -> None:
    """Store contents, or other facts, by the name of the file; `_` stands for the dot."""
    facts = {
        name.replace("_", "."): clean_facts(**({"content": given} if isinstance(given, str) else given))
        for name, given in files.items()
    }
    with write_transaction(project.pk):
        store_files(project.pk, facts, clock.now())


def file(project: Project, path: str) -> Resource:
    return Resource.objects.in_project(project).select_related("content").get(path=path)


def texts(project: Project) -> list[str]:
    return sorted(FileContent.objects.in_project(project).values_list("text", flat=True))


def found(project: Project, query: str) -> list[str]:
    return [hit.ref for hit in search(project.pk, query).hits]


def test_a_content_is_kept_with_its_hash_size_and_tokens(apollo: Project) -> None:
    store(apollo, a_py="print('\u65e5')\n")
    stored = file(apollo, "a.py")
    assert stored.content is not None
    assert stored.content.text == "print('\u65e5')\n"
    assert stored.hash == stored.content.hash == hashlib.sha256(stored.content.text.encode()).hexdigest()
    assert (stored.size, stored.tokens, stored.get_type_display()) == (13, stored.content.tokens, "code")


def test_what_the_caller_says_wins_over_what_is_counted(apollo: Project) -> None:
    store(apollo, a_py={"content": "x", "hash": "git:1", "size": 9, "token_count": 7, "type": "GENERATED"})
    stored = file(apollo, "a.py")
    assert (stored.hash, stored.size, stored.tokens) == ("git:1", 9, 7)
    assert stored.get_type_display() == "generated"


def test_what_is_left_out_stays(apollo: Project) -> None:
    store(apollo, a_py={"content": "x = 1", "hash": "1", "type": "research", "importance": 80})
    before = Resource.objects.in_project(apollo).values().get()
    store(apollo, a_py={})
    assert Resource.objects.in_project(apollo).values().get() == before


def test_a_content_is_kept_once_for_all_files_that_have_it(apollo: Project) -> None:
    store(apollo, a_py="same", b_py="same")
    store(apollo, c_py="same")
    assert texts(apollo) == ["same"]
    assert Resource.objects.in_project(apollo).filter(content__text="same").count() == 3


def test_a_content_goes_with_its_last_file(apollo: Project) -> None:
    store(apollo, a_py="old", b_py="old")
    store(apollo, a_py="new")
    assert texts(apollo) == ["new", "old"]
    store(apollo, b_py="new")
    assert texts(apollo) == ["new"]


def test_files_may_exchange_their_contents(apollo: Project) -> None:
    store(apollo, a_py="one", b_py="two")
    store(apollo, a_py="two", b_py="one")
    assert file(apollo, "a.py").content.text == "two"  # type: ignore[union-attr]
    assert texts(apollo) == ["one", "two"]


def test_an_empty_file_has_a_content(apollo: Project) -> None:
    store(apollo, a_py="")
    stored = file(apollo, "a.py")
    assert stored.content is not None
    assert (stored.content.text, stored.size, stored.tokens) == ("", 0, 0)


def test_of_a_content_over_1_mib_only_hash_size_and_tokens_are_kept(apollo: Project) -> None:
    store(apollo, a_py="short")
    long = "long line\n" * 110_000
    store(apollo, a_py=long)
    stored = file(apollo, "a.py")
    assert (stored.content, stored.size) == (None, 1_100_000)
    assert stored.hash == hashlib.sha256(long.encode()).hexdigest()
    assert stored.tokens
    assert texts(apollo) == []


def test_exactly_1_mib_is_kept(apollo: Project) -> None:
    store(apollo, a_py="x" * 2**20)
    assert file(apollo, "a.py").content is not None


def test_another_hash_without_a_content_drops_the_old_content(apollo: Project) -> None:
    store(apollo, a_py={"content": "old text", "hash": "1"})
    store(apollo, a_py={"hash": "1"})
    assert texts(apollo) == ["old text"]
    store(apollo, a_py={"hash": "2"})
    stored = file(apollo, "a.py")
    assert (stored.hash, stored.content, texts(apollo)) == ("2", None, [])


def test_credentials_are_masked_and_counted() -> None:
    content = clean_content(f"key = '{TOKEN}'\nother = '{TOKEN}'")
    assert content.masked == 2
    assert content.text is not None
    assert "[credential: GitHub token]" in content.text
    assert find_secret(content.text) is None
    assert content.hash != content.text_hash


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"content": "a\0b"}, "NUL"),
        ({"content": "\ud800"}, "surrogate"),
        ({"hash": "x" * 201}, "200"),
        ({"size": -1}, "size"),
        ({"size": 2**63}, "size"),
        ({"token_count": -1}, "token_count"),
        ({"token_count": 2**31}, "token_count"),
        ({"type": "poem"}, "type"),
        ({"importance": 101}, "importance"),
        ({"importance": -1}, "importance"),
    ],
    ids=str,
)
def test_bad_facts_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        clean_facts(**given)


def test_a_tracked_content_is_found_and_forgotten(apollo: Project) -> None:
    store(apollo, a_py="def rotate_hydraulics(): ...")
    assert found(apollo, "hydraulics") == ["resource:a.py"]
    store(apollo, a_py="def nothing(): ...")
    assert found(apollo, "hydraulics") == []


def test_new_files_are_counted_and_leave_no_event(apollo: Project) -> None:
    events = Event.objects.in_project(apollo).count()
    store(apollo, a_py="x", b_py={})
    store(apollo, a_py="y")
    assert Stats(apollo.pk).of("resource") == 2
    assert Event.objects.in_project(apollo).count() == events


def test_500_files_take_as_many_queries_as_2(apollo: Project) -> None:
    def queries(count: int, start: int) -> int:
        files = {f"f{n}_py": f"text {n} of {start}" for n in range(start, start + count)}
        with CaptureQueriesContext(connection) as captured:
            store(apollo, **files)
        return len(captured)

    assert queries(500, 1_000) == queries(2, 0) <= 14


def test_deleting_a_file_deletes_its_content(apollo: Project) -> None:
    store(apollo, a_py="one", b_py="one", c_py="two")
    file(apollo, "a.py").delete()
    assert texts(apollo) == ["one", "two"]
    file(apollo, "b.py").delete()
    assert texts(apollo) == ["two"]


def test_a_deleted_or_changed_content_is_indexed_again(apollo: Project) -> None:
    store(apollo, a_py="one hydraulics", b_py="two")
    content = FileContent.objects.in_project(apollo).get(text="two")
    content.text = "two pneumatics"
    content.save()
    assert found(apollo, "pneumatics") == ["resource:b.py"]
    FileContent.objects.in_project(apollo).get(text="one hydraulics").delete()
    assert found(apollo, "hydraulics") == []


def test_a_file_that_the_orm_makes_has_the_type_of_its_path(apollo: Project) -> None:
    Resource.objects.create(project=apollo, path="src/app.py")
    Resource(project=apollo, path="data/rows.csv").save()
    Resource.objects.create(project=apollo, path="notes.py", type=ResourceType.DOCUMENTATION)
    stored = {file.path: file.type for file in Resource.objects.in_project(apollo)}
    assert stored == {
        "src/app.py": ResourceType.CODE,
        "data/rows.csv": ResourceType.DATA,
        "notes.py": ResourceType.DOCUMENTATION,
    }
