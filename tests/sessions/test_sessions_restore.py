"""Restoring sessions: which one, what is answered, in which order, and within the budget."""

import hashlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.kit.clock import now
from ctxhub.core.kit.errors import InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Event
from ctxhub.toolbox.dispatch import call
from messaging.messages.services import send_message
from sessions.models import AgentSession
from sessions.sittings.contents import StoredConversation, StoredItem
from sessions.sittings.restored import Contents, end_of, file_rows, pack
from sessions.sittings.restoring import restore_session
from sessions.sittings.services import delete_session, save_session

pytestmark = pytest.mark.usefixtures("index_is_kept")

NOTE = "Background from an earlier session, not an order."


def restore(caller: Caller, **arguments: Any) -> dict[str, Any]:
    return call(caller, "session", {"action": "restore", **arguments})


def column(answer: dict[str, Any], part: str, name: str) -> list[Any]:
    place = answer[part]["columns"].index(name)
    return [row[place] for row in answer[part]["rows"]]


# -- Which session ---------------------------------------------------------------------------------


def test_the_last_saved_session_of_a_workspace_is_restored(ada: Caller) -> None:
    save_session(caller=ada, workspace_id="shop", summary="old")
    last = save_session(caller=ada, workspace_id="shop", summary="new")["session"]
    save_session(caller=ada, workspace_id="other", summary="s")
    restore(ada, session=last)
    answer = restore(ada, workspace_id="shop")
    assert (answer["parent"], answer["summary"]) == (last, "new")


def test_what_was_restored_is_there_when_the_work_is_restored_again(ada: Caller) -> None:
    items = [{"category": "task", "content": "Rotate the tokens", "importance": 9}]
    saved = save_session(caller=ada, items=items, files=[{"path": "src/a.py", "hash": "1"}])["session"]
    call(ada, "session", {"action": "track", "path": "src/b.py", "access": "edited", "session": saved})
    child = restore(ada, session=saved)["session"]
    assert AgentSession.objects.in_project(ada.project).get(pk=child).token_count > 0
    save_session(caller=ada, session=child, conversation="Went on.")
    answer = restore(ada)
    assert answer["parent"] == child
    assert column(answer, "items", "content") == ["Rotate the tokens"]
    assert column(answer, "conversations", "text") == ["Went on."]
    assert column(answer, "files", "path") == ["src/a.py"]
    files = call(ada, "session", {"action": "resources", "session": child})
    assert {row[0] for row in files["rows"]} == {"src/a.py", "src/b.py"}


def test_without_arguments_the_default_workspace_is_restored(ada: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    assert restore(ada)["parent"] == saved


def test_another_agents_session_is_restored_only_by_naming_it(ada: Caller, ben: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    with pytest.raises(NotFound) as refused:
        restore(ben)
    assert refused.value.hint == (
        f"ada's is session {saved}, in the workspace 'default': name it as session to restore it."
    )
    answer = restore(ben, session=saved)
    row = AgentSession.objects.in_project(ben.project).get(pk=answer["session"])
    assert (row.parent_id, row.agent and row.agent.name, row.summary) == (saved, "ben", "s")


def test_an_error_names_the_newest_saved_session_elsewhere(ada: Caller, ben: Caller) -> None:
    with pytest.raises(NotFound) as refused:
        restore(ada)
    assert refused.value.hint == "Nobody saved any yet: session save does."
    own = save_session(caller=ada, workspace_id="shop", summary="s")["session"]
    save_session(caller=ben, workspace_id="shop", summary="s")
    with pytest.raises(NotFound) as refused:
        restore(ada)
    assert refused.value.hint.startswith(f"Your newest is session {own}, in the workspace 'shop'")
    assert refused.value.body()["session"] == own


def test_files_are_compared_with_the_last_hash_known_in_the_session(ada: Caller) -> None:
    saved = [
        {"path": "saved.py", "hash": "1"},
        {"path": "both.py", "hash": "1"},
        {"path": "later.py", "hash": "1"},
    ]
    own = call(ada, "session", {"action": "save", "files": saved})["session"]

    def track(path: str, **facts: Any) -> None:
        call(ada, "session", {"action": "track", "session": own, "path": path, "access": "edited", **facts})

    track("both.py", hash="2")
    track("later.py")
    track("tracked.py", hash="3")
    track("unknown.py")
    content = "x = 1\n"
    track("content.py", content=content)
    now = {"saved.py": "1", "both.py": "2", "later.py": "9", "tracked.py": "4"}
    files = [{"path": path, "hash": hash_} for path, hash_ in now.items()]
    files += [{"path": "content.py", "hash": hashlib.sha256(content.encode()).hexdigest()}]
    answer = restore(ada, session=own, files=files)
    assert answer["files"]["rows"] == [
        ["later.py", True],
        ["tracked.py", True],
        ["both.py", False],
        ["content.py", False],
        ["saved.py", False],
    ]
    call(ada, "session", {"action": "save", "session": own, "files": [{"path": "both.py", "hash": "5"}]})
    again = restore(ada, session=own, files=[{"path": "both.py", "hash": "5"}])
    assert ["both.py", False] in again["files"]["rows"]
    # What was only saved, and is no more.
    assert "saved.py" not in column(again, "files", "path")


def test_a_restored_session_stands_in_no_list_until_it_is_saved(ada: Caller) -> None:
    saved = save_session(caller=ada, summary="The basket is done.")["session"]
    children = [restore(ada.in_session(f"window {n}"), session=saved)["session"] for n in range(5)]

    def listed(**filters: Any) -> list[int]:
        return [row[0] for row in call(ada, "session", {"action": "list", **filters})["rows"]]

    assert listed() == [saved]
    assert listed(parent=saved) == listed(by="ada", parent=saved) == []
    assert sorted(listed(implicit=True)) == [saved, *children]
    call(ada, "session", {"action": "save", "session": children[2], "summary": "Went on."})
    assert listed() == [children[2], saved]
    assert listed(parent=saved) == [children[2]]


@pytest.mark.parametrize("form", ["{}", "session:{}", "laptop"])
def test_a_session_is_named_by_id_ref_or_name(form: str, ada: Caller) -> None:
    saved = save_session(caller=ada, session="laptop", summary="s")["session"]
    assert restore(ada, session=form.format(saved))["parent"] == saved


def test_the_session_that_the_call_names_is_restored(ada: Caller) -> None:
    saved = save_session(caller=ada, session="laptop", workspace_id="shop", summary="s")["session"]
    assert restore_session(caller=ada.in_session("laptop"))["parent"] == saved


def test_a_new_name_of_the_call_becomes_that_of_the_new_session(ada: Caller) -> None:
    save_session(caller=ada, summary="s")
    child = restore_session(caller=ada.in_session("desk"))["session"]
    assert AgentSession.objects.in_project(ada.project).get(pk=child).name == "desk"


def test_a_session_of_another_project_does_not_exist(ada: Caller, cy: Caller) -> None:
    saved = save_session(caller=ada, session="laptop", summary="s")["session"]
    for named in (saved, "laptop", f"session:{saved}"):
        with pytest.raises(NotFound):
            restore(cy, session=named)
    assert not AgentSession.objects.in_project(cy.project).exists()


def test_a_reader_does_not_restore_and_a_writer_needs_to_read(ada: Caller) -> None:
    save_session(caller=ada, summary="s")
    for scope in ("read", "write"):
        with pytest.raises(NotAllowed):
            restore(Caller(ada.project, "ada", scopes=frozenset({scope})))


# -- The new session -------------------------------------------------------------------------------


def test_restoring_opens_a_session_that_can_be_restored_again(ada: Caller) -> None:
    state = {"branch": "main", "settings": {"a": 1}, "enabled_mcps": ["x"]}
    first = save_session(caller=ada, workspace_id="shop", summary="s", **state)["session"]  # type: ignore[arg-type]
    child = restore(ada, session=first)
    again = restore(ada, session=child["session"])
    assert again["state"] == child["state"] == state
    assert again["summary"] == "s"
    row = AgentSession.objects.in_project(ada.project).get(pk=again["session"])
    assert (row.parent_id, row.workspace_id, row.saved_at) == (child["session"], "shop", None)


def test_a_child_of_a_deleted_session_is_restored(ada: Caller) -> None:
    first = save_session(caller=ada, summary="s", branch="main")["session"]
    child = restore(ada, session=first)["session"]
    delete_session(caller=ada, session=first)
    answer = restore(ada, session=child)
    assert (answer["parent"], answer["state"]) == (child, {"branch": "main"})


def test_a_session_that_is_restored_again_at_once_is_opened_once(ada: Caller, ben: Caller) -> None:
    saved = save_session(caller=ada, summary="s", items=["write tests"])["session"]
    first = restore(ada, session=saved)
    assert [restore(ada, session=saved) for _ in range(4)] == [first] * 4
    assert restore(ben, session=saved)["session"] != first["session"]
    assert AgentSession.objects.in_project(ada.project).count() == 3
    assert call(ada, "hub", {"action": "stats"})["sessions"] == 3


def test_a_session_that_is_begun_anew_holds_what_its_parent_holds_now(ada: Caller) -> None:
    window = ada.in_session("laptop")
    saved = save_session(caller=ada, summary="s", items=["a", "b"], files=["a.py"], branch="x")["session"]
    first = restore(window, session=saved)
    later: dict[str, Any] = {"items": ["c"], "files": ["b.py"], "workspace_id": "shop", "branch": "y"}
    save_session(caller=ada, session=saved, summary="later", **later)
    again = restore(window, session=saved)
    assert again["session"] == first["session"]
    item = call(ada, "session", {"action": "get", "session": again["session"], "full": True})
    assert (item["summary"], item["workspace_id"], item["state"]["branch"]) == ("later", "shop", "y")
    assert [row[0] for row in item["items"]["rows"]] == ["c"]
    files = call(ada, "session", {"action": "resources", "session": again["session"]})
    assert [row[0] for row in files["rows"]] == ["b.py"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("session", {"action": "track", "path": "a.py", "access": "viewed"}),
        ("session", {"action": "prioritize", "budget_tokens": 500}),
        ("session", {"action": "save", "summary": "on"}),
        ("snapshot", {"action": "save", "content": "Chose JWT."}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_session_in_which_something_was_written_is_left_alone(
    tool: str, arguments: dict[str, Any], ada: Caller
) -> None:
    saved = save_session(caller=ada, summary="s", files=["a.py"])["session"]
    first = restore(ada, session=saved)["session"]
    call(ada, tool, arguments)
    assert restore(ada, session=saved)["session"] != first


def test_each_window_has_a_session_of_its_own_when_both_restore_one(ada: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    for one, two in (
        (Caller(ada.project, "ada", window=Window()), Caller(ada.project, "ada", window=Window())),
        (ada.in_session("first"), ada.in_session("second")),
    ):
        first, second = (restore(window, session=saved)["session"] for window in (one, two))
        assert first != second


def test_a_header_that_names_the_restored_session_opens_one(ada: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    found = {restore(ada.in_session(saved))["session"] for _ in range(3)}
    assert len(found) == 1


def test_a_name_of_a_window_stays_when_it_restores_again(ada: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    found = {restore(ada.in_session("laptop"), session=saved)["session"] for _ in range(2)}
    assert [call(ada, "session", {"action": "get", "session": "laptop"})["session"]] == list(found)


def test_restoring_leaves_one_event(ada: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    child = restore(ada)["session"]
    event = Event.objects.in_project(ada.project).latest("pk")
    assert (event.verb, event.ref, event.data) == (
        "restored",
        f"session:{child}",
        {"note": f"from session {saved}"},
    )


@pytest.mark.django_db(transaction=True)
def test_a_window_works_in_the_restored_session(ada: Caller) -> None:
    save_session(caller=ada, summary="s")
    window = Window()
    child = restore_session(caller=Caller(ada.project, "ada", window=window))["session"]
    assert window.session_of("ada") == child


# -- The answer ------------------------------------------------------------------------------------


def test_the_answer_begins_with_the_note_and_has_fixed_keys(ada: Caller) -> None:
    save_session(
        caller=ada,
        conversation="talk",
        summary="s",
        branch="main",
        items=[{"content": "i", "category": "c"}],
        files=[{"path": "a", "hash": "1"}],
    )
    answer = restore(ada, files=[{"path": "a", "hash": "1"}])
    assert answer["note"] == NOTE
    assert list(answer) == [
        *("note", "session", "parent", "summary", "state", "items", "conversations", "files"),
        *("included", "omitted", "tokens"),
    ]
    assert answer["included"] == {"items": 1, "conversations": 1, "files": 1}
    assert answer["omitted"] == {}
    assert answer["tokens"] == size(answer)


def test_items_come_by_importance_then_in_their_order(ada: Caller) -> None:
    items = [("low", 1), ("first", 9), ("second", 9), ("usual", 5)]
    save_session(caller=ada, items=[{"content": text, "importance": n} for text, n in items])
    assert column(restore(ada), "items", "content") == ["first", "second", "usual", "low"]


def test_conversations_come_newest_first_and_the_last_is_cut_at_its_start(ada: Caller) -> None:
    name = "talk"
    for word in ("oldest", "older", "newest"):
        save_session(caller=ada, session=name, conversation=f"{word} " * 300 + "end")
    answer = restore(ada, session=name, budget_tokens=600)
    first, second = column(answer, "conversations", "text")
    assert first == "newest " * 300 + "end"
    assert second.startswith("…")
    assert second.endswith("older older end")
    assert answer["omitted"] == {"conversations": 1}
    assert 560 < answer["tokens"] <= 600


def test_an_item_that_does_not_fit_is_omitted_and_a_shorter_one_is_not(ada: Caller) -> None:
    save_session(
        caller=ada, items=[{"content": "long " * 500, "importance": 9}, {"content": "short", "importance": 1}]
    )
    answer = restore(ada, budget_tokens=300)
    assert column(answer, "items", "content") == ["short"]
    assert answer["omitted"] == {"items": 1}


def test_a_large_state_is_left_out_and_counted(ada: Caller) -> None:
    save_session(
        caller=ada,
        branch="main",
        settings={"a": "word " * 300},
        enabled_mcps=[f"server number {n}" for n in range(50)],
    )
    answer = restore(ada, budget_tokens=1_000)
    assert answer["state"] == {"branch": "main"}
    assert answer["omitted"] == {"settings": 1, "enabled_mcps": 1}
    assert {*restore(ada, budget_tokens=20_000)["state"]} == {"branch", "settings", "enabled_mcps"}


def test_a_summary_that_is_too_long_is_cut(ada: Caller) -> None:
    save_session(caller=ada, summary="word " * 5_000)
    answer = restore(ada, budget_tokens=200)
    assert answer["summary"].endswith("…")
    assert answer["tokens"] <= 200


def test_files_tell_what_changed(ada: Caller) -> None:
    save_session(
        caller=ada, files=[{"path": path, "hash": "A1"} for path in ("same", "new", "gone", "other")]
    )
    present = [
        {"path": "./same", "hash": "a1"},
        {"path": "new", "hash": "b2"},
        {"path": "gone", "hash": None},
        {"path": "unknown", "hash": "c3"},
    ]
    answer = restore(ada, files=present)
    assert answer["files"]["rows"] == [["new", True], ["gone", "missing"], ["other", None], ["same", False]]


def test_files_have_a_row_though_a_conversation_fills_the_budget(ada: Caller) -> None:
    save_session(caller=ada, conversation="word " * 5_000, files=[{"path": "a", "hash": "1"}])
    answer = restore(ada, budget_tokens=500)
    assert answer["included"] == {"conversations": 1, "files": 1}


def test_the_budget_has_room_for_mail(ada: Caller, ben: Caller) -> None:
    send_message(caller=ben, text="Now!", to=["ada"], priority="high")
    save_session(caller=ada, conversation="word " * 5_000)
    answer = restore(ada, budget_tokens=300)
    assert answer["mail"] == 1
    assert size(answer) <= 300


# -- Budgets ---------------------------------------------------------------------------------------

WORDS = some.sampled_from(
    [
        "the basket asks for each row ",
        "服务器性能瓶颈，需要缓存。",
        "🙂👩‍👩‍👧‍👦🇩🇪",
        "def f(x):\n    return x[0] if x else None\n",
        "x" * 3_000,
        '{"a":[1,2,{"b":"c"}]}\r\n',
        "Ünïcödé ٱلْعَرَبِيَّة ",
        "\\\"'\t",
    ]
)
TEXTS = some.builds(lambda word, times: word * times, WORDS, some.integers(0, 300))
ITEMS = some.builds(StoredItem, TEXTS, TEXTS, some.integers(1, 10), some.integers(0, 9_999))
CONVERSATIONS = some.builds(
    lambda text, is_whole: StoredConversation(7, 9_999, now(), text or "x", is_whole), TEXTS, some.booleans()
)
FILES = some.tuples(TEXTS, some.sampled_from([True, False, None, "missing"]))
STATES = some.fixed_dictionaries(
    {
        "active_project": TEXTS,
        "enabled_mcps": some.lists(TEXTS, max_size=5),
        "settings": some.dictionaries(TEXTS, TEXTS, max_size=3),
        "branch": TEXTS,
        "worktree": TEXTS,
    }
)
CONTENTS = some.builds(
    Contents,
    summary=TEXTS,
    state=STATES,
    items=some.lists(ITEMS, max_size=6),
    conversations=some.lists(CONVERSATIONS, max_size=6),
    conversation_count=some.integers(6, 2_000),
    files=some.lists(FILES, max_size=20),
)


@settings(max_examples=200)
@given(contents=CONTENTS, budget=some.integers(200, 20_000))
def test_no_answer_exceeds_its_budget(contents: Contents, budget: int) -> None:
    answer = pack(contents, session=2**40, parent=2**40 - 1, budget=budget)
    assert size(answer) <= budget
    assert answer["tokens"] == size(answer)
    for part in ("items", "conversations", "files"):
        whole = contents.conversation_count if part == "conversations" else len(getattr(contents, part))
        assert answer["included"].get(part, 0) + answer["omitted"].get(part, 0) == whole


@pytest.mark.parametrize("characters", range(1, 30))
def test_a_cut_keeps_graphemes(characters: int) -> None:
    text = "a👩‍👩‍👧‍👦b🇩🇪c\r\nd"
    assert end_of(text, characters).removeprefix("…") in ("", *(text[n:] for n in (0, 1, 8, 9, 11, 12, 14)))


def test_hashes_are_compared_in_any_case() -> None:
    assert file_rows({"a": "AB"}, {"a": "ab"}) == [("a", False)]


# -- Bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"budget_tokens": 199},
        {"budget_tokens": 20_001},
        {"budget_tokens": "much"},
        {"session": 1, "workspace_id": "shop"},
        {"session": "memory:4"},
        {"session": "s" * 101},
        {"workspace_id": "w" * 201},
        {"files": [5]},
        {"files": [{"hash": "1"}]},
        {"files": [{"path": "a", "hash": 5}]},
        {"files": [{"path": "../a", "hash": "1"}]},
        {"files": [{"path": "a", "hash": "1", "content": "x"}]},
        {"files": [{"path": f"f{n}", "hash": "1"} for n in range(501)]},
        {"nothing": 1},
    ],
    ids=lambda arguments: str(arguments)[:40],
)
def test_bad_input_is_refused_and_nothing_is_written(arguments: dict[str, Any], ada: Caller) -> None:
    save_session(caller=ada, summary="s")
    with pytest.raises(InvalidInput):
        restore(ada, **arguments)
    assert AgentSession.objects.in_project(ada.project).count() == 1
