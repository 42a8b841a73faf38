"""Revisions of a pad: every one can be read and restored."""

import random
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from memory.scratchpads import revisions
from memory.scratchpads.queries import content_at, find_revision, list_revisions
from memory.scratchpads.revisions import WHOLE_KEPT
from memory.scratchpads.services import append_to_scratchpad, restore_scratchpad, update_scratchpad
from tests.memory.pads import content_of, events_of, pad_of, revisions_of, stored

pytestmark = pytest.mark.usefixtures("index_is_kept")


def append(caller: Caller, pad: int, content: str) -> None:
    append_to_scratchpad(caller=caller, scratchpad_id=pad, content=content, separator="\n")


def replace(caller: Caller, pad: int, content: str) -> None:
    update_scratchpad(caller=caller, scratchpad_id=pad, content=content)


def listed(caller: Caller, pad: int, **query: Any) -> list[dict[str, Any]]:
    return list_revisions(caller.project_id, pad, **query).objects()


def test_every_revision_is_listed_with_its_agent(ada: Caller, ben: Caller) -> None:
    pad = pad_of(ada, "one")
    append(ben, pad, "two")
    replace(ada, pad, "new")
    shown = [(row["revision"], row["change"], row["length"], row["agent"]) for row in listed(ada, pad)]
    assert shown == [(3, "replaced", 3, "ada"), (2, "appended", 7, "ben"), (1, "created", 3, "ada")]


def test_the_old_text_is_stored_only_when_it_is_replaced(ada: Caller) -> None:
    pad = pad_of(ada, "one")
    append(ada, pad, "two")
    append(ada, pad, "three")
    assert [revision.content for revision in revisions_of(pad)] == [None, None, None]
    replace(ada, pad, "new")
    append(ada, pad, "er")
    assert [revision.content for revision in revisions_of(pad)] == [None, None, "one\ntwo\nthree", None, None]


def test_every_revision_can_be_read_after_random_writes(ada: Caller) -> None:
    """Random writes; `texts` holds the text after each."""
    rng = random.Random(5)
    pad = pad_of(ada, "效能")
    texts = ["效能"]
    for n in range(60):
        match rng.choice(["append", "append", "append", "replace", "insert", "restore"]):
            case "append":
                append(ada, pad, f"🙂 line {n}")
            case "replace":
                replace(ada, pad, f"text {n}" * rng.randrange(3))
            case "insert":
                update_scratchpad(caller=ada, scratchpad_id=pad, content=f"{n}", mode="insert", line=1)
            case "restore":
                restore_scratchpad(caller=ada, scratchpad_id=pad, revision=rng.randrange(len(texts)) + 1)
        if stored(pad).revision > len(texts):
            texts.append(content_of(pad))
    assert [content_at(ada.project_id, pad, n + 1) for n in range(len(texts))] == texts
    assert [revision.length for revision in revisions_of(pad)] == [len(text) for text in texts]


def test_a_restore_can_be_undone(ada: Caller) -> None:
    pad = pad_of(ada, "one")
    replace(ada, pad, "two")
    answer = restore_scratchpad(caller=ada, scratchpad_id=pad, revision=1)
    assert (content_of(pad), answer["revision"], answer["result"]) == ("one", 3, "updated")
    restore_scratchpad(caller=ada, scratchpad_id=pad, revision=2)
    assert content_of(pad) == "two"
    assert [row["change"] for row in listed(ada, pad)][:2] == ["restored", "restored"]


def test_restoring_the_present_revision_changes_nothing(ada: Caller) -> None:
    pad = pad_of(ada, "one")
    answer = restore_scratchpad(caller=ada, scratchpad_id=pad, revision=1)
    assert (answer["result"], answer["revision"]) == ("unchanged", 1)
    assert events_of(ada.project, "scratchpad") == ["created"]


@pytest.mark.parametrize("revision", [0, -1, 2, 2**31, 2**63, 10**40])
def test_an_unknown_revision_is_not_found(ada: Caller, revision: int) -> None:
    pad = pad_of(ada, "one")
    assert find_revision(ada.project_id, pad, revision) is None
    with pytest.raises(NotFound, match="has no revision"):
        restore_scratchpad(caller=ada, scratchpad_id=pad, revision=revision)


def test_pages_continue_without_a_gap_or_a_duplicate(ada: Caller) -> None:
    pad = pad_of(ada, "one")
    for n in range(6):
        append(ada, pad, str(n))
    first = list_revisions(ada.project_id, pad, limit=3)
    second = list_revisions(ada.project_id, pad, limit=3, cursor=first.next)
    third = list_revisions(ada.project_id, pad, limit=3, cursor=second.next)
    assert [row[0] for page in (first, second, third) for row in page.rows] == [7, 6, 5, 4, 3, 2, 1]
    assert third.next is None


@pytest.mark.parametrize("pad", [0, 999_999, 2**63, 10**40])
def test_an_unknown_pad_has_no_revisions(ada: Caller, pad: int) -> None:
    assert listed(ada, pad) == []


def test_another_projects_pad_has_no_revisions(ada: Caller, cy: Caller) -> None:
    pad = pad_of(ada, "moonshot")
    assert listed(cy, pad) == []
    assert find_revision(cy.project_id, pad, 1) is None


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 201}, {"cursor": "x"}])
def test_invalid_page_arguments_are_refused(ada: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        listed(ada, pad_of(ada), **query)


def test_only_the_newest_whole_texts_are_kept(ada: Caller) -> None:
    pad = pad_of(ada, "0")
    for n in range(1, WHOLE_KEPT + 10):
        replace(ada, pad, str(n))
    whole = [revision.number for revision in revisions_of(pad) if revision.content is not None]
    assert len(whole) == WHOLE_KEPT
    assert find_revision(ada.project_id, pad, 1) is None
    oldest = revisions_of(pad)[0].number
    assert content_at(ada.project_id, pad, oldest) == str(oldest - 1)
    assert content_at(ada.project_id, pad, WHOLE_KEPT + 10) == str(WHOLE_KEPT + 9)


def test_only_the_newest_appends_are_kept(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "KEPT", limit := 200)
    pad = pad_of(ada, "0")
    for n in range(1, limit + 105):
        append(ada, pad, str(n))
    numbers = [revision.number for revision in revisions_of(pad)]
    assert limit - 100 <= len(numbers) <= limit
    assert numbers[-1] == stored(pad).revision == limit + 105
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert content_at(ada.project_id, pad, numbers[0]).endswith(f"\n{numbers[0] - 1}")
