"""Saving sessions: what is stored, what is replaced, and into which session."""

import hashlib
from typing import Any

import pytest

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.kit.errors import Conflict, InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Event
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import call
from sessions.accesses.services import track_access
from sessions.models import AgentSession, ContextItem, Conversation, SessionResource, WorkspaceState
from sessions.sittings.restoring import restore_session
from sessions.sittings.services import delete_session, save_session
from sessions.windows.opening import open_session
from tests.core.test_secrets import CHOSEN, ISSUED
from tracking.models import Resource

pytestmark = pytest.mark.usefixtures("index_is_kept")

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
FULL: dict[str, Any] = {
    "workspace_id": "shop",
    "conversation": "user: Hi.\nassistant: Hello.",
    "summary": "A greeting.\nIt was short.",
    "items": [
        {"category": "task", "content": "Answer.", "importance": 9, "tokens": 3},
        {"content": "It rains."},
    ],
    "files": [
        {"path": "./src//app.py", "hash": "abc", "modified_at": "2026-11-20T10:00:00Z"},
        {"path": "src/b.py", "content": "b = 1\n"},
    ],
    "active_project": "shop",
    "enabled_mcps": ["ctxhub", "github"],
    "settings": {"theme": "dark"},
    "branch": "main",
    "worktree": "/home/ada/shop",
}


def stored(caller: Caller, session: int) -> AgentSession:
    return AgentSession.objects.in_project(caller.project).get(pk=session)


def get(caller: Caller, session: int, **more: Any) -> dict[str, Any]:
    return call(caller, "session", {"action": "get", "session": session, **more})


def verbs(caller: Caller) -> list[str]:
    events = Event.objects.in_project(caller.project).filter(noun="session").order_by("pk")
    return [f"{event.verb} {event.ref}" for event in events]


# -- What is stored --------------------------------------------------------------------------------


def test_everything_that_is_saved_is_read_back(ada: Caller) -> None:
    saved = save_session(caller=ada, **FULL)
    item = get(ada, saved["session"], full=True)
    assert {**item, "at": "", "saved_at": ""} == {
        "session": saved["session"],
        "workspace_id": "shop",
        "agent": "ada",
        "summary": FULL["summary"],
        "token_count": item["token_count"],
        "parent": None,
        "children": 0,
        "conversations": {
            "columns": ["id", "tokens", "at", "text"],
            "rows": [[saved["conversation"], 9, item["saved_at"], FULL["conversation"]]],
            "count": 1,
        },
        "items": {
            "columns": ["category", "content", "importance", "tokens"],
            "rows": [["task", "Answer.", 9, 3], ["", "It rains.", 5, count_tokens("It rains.")]],
            "count": 2,
        },
        "resources": 2,
        "state": {name: FULL[name] for name in ("active_project", "enabled_mcps", "settings")}
        | {name: FULL[name] for name in ("branch", "worktree")},
        "at": "",
        "saved_at": "",
    }


def test_the_answer_names_session_and_conversation(ada: Caller) -> None:
    saved = save_session(caller=ada, **FULL)
    conversation = Conversation.objects.in_project(ada.project).get()
    assert saved == {
        "session": conversation.session_id,
        "conversation": conversation.pk,
        "result": "created",
    }


def test_a_summary_is_enough(ada: Caller) -> None:
    assert save_session(caller=ada, summary="s")["result"] == "created"
    row = AgentSession.objects.in_project(ada.project).get()
    assert (row.workspace_id, row.token_count, row.is_implicit) == ("default", count_tokens("s"), False)
    assert row.saved_at == row.current_at == row.updated_at


def test_tokens_are_counted_unless_they_are_given(ada: Caller) -> None:
    counted = save_session(
        caller=ada, conversation="Hi there", summary="A greeting", items=[{"content": "x"}]
    )
    given = save_session(caller=ada, conversation="Hi there", token_count=7)
    assert stored(ada, counted["session"]).token_count == sum(
        map(count_tokens, ("Hi there", "A greeting", "x"))
    )
    assert stored(ada, given["session"]).token_count == 7


def test_files_are_made_and_compared_by_hash(ada: Caller) -> None:
    save_session(caller=ada, **FULL)
    rows = SessionResource.objects.in_project(ada.project).order_by("resource__path")
    digest = hashlib.sha256(b"b = 1\n").hexdigest()
    assert [(row.resource.path, row.hash, row.is_saved) for row in rows] == [
        ("src/app.py", "abc", True),
        ("src/b.py", digest, True),
    ]
    assert str(rows[0].modified_at) == "2026-11-20 10:00:00+00:00"
    assert [file.content and file.content.text for file in Resource.objects.in_project(ada.project)] == [
        None,
        "b = 1\n",
    ]


def test_credentials_are_masked_and_counted(ada: Caller) -> None:
    saved = save_session(
        caller=ada,
        conversation=f"The key is {KEY}.",
        items=[{"content": f"key {KEY}"}],
        files=[{"path": "a", "content": KEY}],
    )
    assert saved["masked"] == 3
    item = get(ada, saved["session"], full=True)
    assert KEY not in str(item)
    assert "[credential: " in item["conversations"]["rows"][0][3]


def test_what_only_its_category_makes_a_credential_is_masked(ada: Caller) -> None:
    items = [
        {"category": "password", "content": f"{CHOSEN}\nIt is {KEY}."},
        {"category": "password", "content": "Must have 12 characters."},
        {"category": "pitfall", "content": CHOSEN},
    ]
    saved = save_session(caller=ada, items=items)
    assert saved["masked"] == 2
    assert [row[1] for row in get(ada, saved["session"], full=True)["items"]["rows"]] == [
        "[credential: assigned secret]\nIt is [credential: GitHub token].",
        "Must have 12 characters.",
        CHOSEN,
    ]
    assert call(ada, "search", {"query": CHOSEN.split("-")[1], "match": "all"})["count"] == 1


@pytest.mark.parametrize("value", [value for _, value in ISSUED])
def test_every_kind_of_credential_is_masked(value: str, ada: Caller) -> None:
    texts = {"conversation": value, "items": [{"content": value}], "files": [{"path": "a", "content": value}]}
    saved = save_session(caller=ada, **texts)  # type: ignore[arg-type]
    assert saved["masked"] == 3
    assert value not in str(get(ada, saved["session"], full=True))
    content = Resource.objects.in_project(ada.project).get().content
    assert content
    assert value not in content.text


# -- Updates ---------------------------------------------------------------------------------------


def test_what_is_left_out_stays(ada: Caller) -> None:
    saved = save_session(caller=ada, **FULL)
    before = get(ada, saved["session"], full=True)
    again = save_session(caller=ada, session=saved["session"], branch="next")
    after = get(ada, saved["session"], full=True)
    assert again == {"session": saved["session"], "result": "updated"}
    assert after["state"] == {**before["state"], "branch": "next"}
    kept = ("summary", "workspace_id", "conversations", "items", "resources", "token_count")
    assert [after[name] for name in kept] == [before[name] for name in kept]


def test_items_files_and_state_replace_what_was_there(ada: Caller) -> None:
    saved = save_session(caller=ada, **FULL)
    save_session(
        caller=ada,
        session=saved["session"],
        items=[{"content": "New."}],
        files=[{"path": "c.py", "hash": "1"}],
        settings={"a": 1},
    )
    after = get(ada, saved["session"])
    assert [row[0] for row in after["items"]["rows"]] == ["New."]
    assert (after["resources"], after["state"]["settings"]) == (1, {"a": 1})


@pytest.mark.parametrize("value", [[], None])
def test_lists_are_cleared(value: Any, ada: Caller) -> None:
    saved = save_session(caller=ada, **FULL)
    save_session(caller=ada, session=saved["session"], items=value, files=value, enabled_mcps=value)
    after = get(ada, saved["session"])
    assert "items" not in after
    assert (after["resources"], after["state"]["enabled_mcps"]) == (0, [])


@pytest.mark.parametrize("name", ["summary", "active_project", "branch", "worktree"])
def test_texts_are_cleared(name: str, ada: Caller) -> None:
    saved = save_session(caller=ada, **FULL)
    call(ada, "session", {"action": "save", "session": saved["session"], name: ""})
    after = get(ada, saved["session"])
    assert {**after, **after["state"]}[name] == ""


def test_a_conversation_that_differs_is_added(ada: Caller) -> None:
    first = save_session(caller=ada, conversation="one")
    same = save_session(caller=ada, session=first["session"], conversation="one")
    second = save_session(caller=ada, session=first["session"], conversation="two")
    assert first["conversation"] == same["conversation"] != second["conversation"]
    assert [row[3] for row in get(ada, first["session"], full=True)["conversations"]["rows"]] == [
        "two",
        "one",
    ]


def test_states_are_only_added_and_only_if_they_differ(ada: Caller) -> None:
    saved = save_session(caller=ada, branch="a", settings={"x": 1})
    save_session(caller=ada, session=saved["session"], branch="a")
    save_session(caller=ada, session=saved["session"], branch="b")
    states = WorkspaceState.objects.in_project(ada.project).order_by("pk")
    assert [(state.branch, state.settings) for state in states] == [("a", {"x": 1}), ("b", {"x": 1})]


def test_the_token_count_follows_what_is_given(ada: Caller) -> None:
    saved = save_session(caller=ada, conversation="one two three", summary="s")
    save_session(caller=ada, session=saved["session"], items=[{"content": "i", "tokens": 100}])
    expected = count_tokens("one two three") + count_tokens("s") + 100
    assert stored(ada, saved["session"]).token_count == expected


def test_a_file_that_was_accessed_stays_when_files_are_replaced(ada: Caller) -> None:
    saved = save_session(caller=ada, files=[{"path": "a", "hash": "1"}, {"path": "b", "hash": "2"}])
    SessionResource.objects.in_project(ada.project).filter(resource__path="a").update(access_count=1)
    save_session(caller=ada, session=saved["session"], files=[])
    [left] = SessionResource.objects.in_project(ada.project)
    assert (left.resource.path, left.is_saved) == ("a", False)


# -- Into which session ----------------------------------------------------------------------------


def test_a_save_without_a_session_makes_a_new_one(ada: Caller) -> None:
    assert (
        save_session(caller=ada, summary="s")["session"] != save_session(caller=ada, summary="s")["session"]
    )


def test_an_unknown_name_opens_a_session_and_a_known_one_updates_it(ada: Caller) -> None:
    first = save_session(caller=ada, session="laptop", summary="s")
    second = save_session(caller=ada, session="laptop")
    assert (first["result"], second["result"]) == ("created", "updated")
    assert first["session"] == second["session"]
    assert get(ada, first["session"])["name"] == "laptop"


@pytest.mark.parametrize("form", ["{}", "session:{}"])
def test_a_session_is_named_by_id_or_ref(form: str, ada: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    again = call(ada, "session", {"action": "save", "session": form.format(saved), "summary": "s"})
    assert again["session"] == saved


def test_the_session_that_the_call_names_is_saved(ada: Caller) -> None:
    first = save_session(caller=ada.in_session("laptop"), summary="one")
    second = save_session(caller=ada.in_session("laptop"), summary="two")
    assert (first["session"], second["result"]) == (second["session"], "updated")


def test_an_unknown_number_is_not_found(ada: Caller) -> None:
    for number in ("99", "session:99", str(10**30)):
        with pytest.raises(NotFound):
            save_session(caller=ada, session=number, summary="s")


def test_another_agents_session_is_not_saved(ada: Caller, ben: Caller) -> None:
    saved = save_session(caller=ada, session="laptop", summary="s")["session"]
    for named in (saved, "laptop"):
        with pytest.raises(NotAllowed):
            save_session(caller=ben, session=named, summary="mine")
    assert stored(ada, saved).summary == "s"


def test_an_implicit_session_is_saved_once(ada: Caller) -> None:
    window = Window()
    caller = Caller(ada.project, "ada", window=window)
    agent = (
        AgentSession.objects.in_project(ada.project)
        .get(pk=save_session(caller=ada, summary="s")["session"])
        .agent_id
    )
    assert agent
    opened = open_session(caller, agent, clock.now())
    window.enter("ada", opened)
    assert verbs(ada) == [f"saved session:{opened - 1}"]
    first = save_session(caller=caller, summary="s")
    assert first == {"session": opened, "result": "created"}
    assert not stored(ada, opened).is_implicit
    assert save_session(caller=caller, summary="s")["session"] != opened


def test_a_restored_session_is_saved_once(ada: Caller) -> None:
    save_session(caller=ada, summary="s")
    child = restore_session(caller=ada)["session"]
    assert save_session(caller=ada, conversation="x") | {"conversation": 0} == {
        "session": child,
        "conversation": 0,
        "result": "updated",
    }
    assert save_session(caller=ada, summary="s")["session"] != child


@pytest.mark.django_db(transaction=True)
def test_two_windows_of_one_agent_do_not_mix(ada: Caller) -> None:
    one = Caller(ada.project, "ada", window=Window())
    two = Caller(ada.project, "ada", window=Window())
    first = save_session(caller=one, summary="one")["session"]
    restored = restore_session(caller=two, session=first)["session"]
    assert [caller.window and caller.window.session_of("ada") for caller in (one, two)] == [first, restored]
    assert save_session(caller=two, summary="two")["session"] == restored
    assert stored(ada, first).summary == "one"


@pytest.mark.django_db(transaction=True)
def test_another_agent_in_a_window_has_a_session_of_its_own(ada: Caller) -> None:
    window = Window()
    mine = save_session(caller=Caller(ada.project, "ada", window=window), summary="s")["session"]
    theirs = save_session(caller=Caller(ada.project, "ben", window=window), summary="s")["session"]
    assert mine != theirs
    assert (window.session_of("ADA"), window.session_of("ben")) == (mine, theirs)


@pytest.mark.django_db(transaction=True)
def test_agents_that_speak_in_turns_in_a_window_keep_their_sessions(ada: Caller) -> None:
    caller = Caller(ada.project, "ada", window=Window())

    def track(agent: str) -> int:
        answer = track_access(caller=caller.speaking_as(agent), path="a.py", access="viewed")
        return answer["session"]

    first, second = track("ada"), track("Ben")
    assert first != second
    assert [track("ada"), track("ben"), track("Ada")] == [first, second, first]
    assert save_session(caller=caller.speaking_as("ben"), summary="s")["session"] == second


# -- Parents ---------------------------------------------------------------------------------------


def test_a_parent_is_named_by_id_ref_or_name_and_cleared(ada: Caller) -> None:
    parent = save_session(caller=ada, session="first", summary="s")["session"]
    for named in (str(parent), f"session:{parent}", "first"):
        child = save_session(caller=ada, parent=named, summary="s")["session"]
        assert stored(ada, child).parent_id == parent
    save_session(caller=ada, session=child, parent="")
    assert stored(ada, child).parent_id is None


def test_an_unknown_parent_is_not_found(ada: Caller) -> None:
    for named in ("99", "nobody"):
        with pytest.raises(NotFound):
            save_session(caller=ada, parent=named, summary="s")
    assert not AgentSession.objects.in_project(ada.project).exists()


def test_a_circle_of_parents_is_a_conflict(ada: Caller) -> None:
    first = save_session(caller=ada, summary="s")["session"]
    second = save_session(caller=ada, parent=str(first), summary="s")["session"]
    third = save_session(caller=ada, parent=str(second), summary="s")["session"]
    for parent in (first, second, third):
        with pytest.raises(Conflict):
            save_session(caller=ada, session=first, parent=str(parent), summary="s")


# -- Bad input -------------------------------------------------------------------------------------

BAD: list[dict[str, Any]] = [
    {"workspace_id": "w" * 201},
    {"workspace_id": KEY},
    {"conversation": "x" * 1_048_577},
    {"conversation": "a\0b"},
    {"conversation": 5},
    {"token_count": -1},
    {"token_count": 2**31},
    {"token_count": "many"},
    {"summary": "x" * 65_537},
    {"summary": KEY},
    {"items": [{"content": "x"}] * 51},
    {"items": [5]},
    {"items": [{"category": "x"}]},
    {"items": [{"content": ""}]},
    {"items": [{"content": 5}]},
    {"items": [{"content": "x", "category": "c" * 101}]},
    {"items": [{"content": "x", "category": KEY}]},
    {"items": [{"content": "x", "importance": 0}]},
    {"items": [{"content": "x", "importance": 11}]},
    {"items": [{"content": "x", "importance": True}]},
    {"items": [{"content": "x", "importance": 1.5}]},
    {"items": [{"content": "x", "importance": float("inf")}]},
    {"items": [{"content": "x", "tokens": float("nan")}]},
    {"items": [{"content": "x", "tokens": -1}]},
    {"items": [{"content": "x", "text": "y"}]},
    {"items": 5},
    {"files": [{"path": f"f{n}", "hash": "1"} for n in range(501)]},
    {"files": [{"hash": "1"}]},
    {"files": [{"path": "../a", "hash": "1"}]},
    {"files": [{"path": "/a", "hash": "1"}]},
    {"files": [{"path": "a", "hash": "h" * 201}]},
    {"files": [{"path": "a", "hash": 5}]},
    {"files": [{"path": "a", "content": 5}]},
    {"files": [{"path": "a", "hash": "1", "modified_at": "soon"}]},
    {"files": [{"path": "a", "hash": "1", "modified_at": "e12"}]},
    {"files": [{"path": "a", "hash": "1", "size": 5}]},
    {"files": [{"path": f"f{n}", "content": "x" * 1_000_000} for n in range(5)]},
    {"active_project": "p" * 201},
    {"active_project": KEY},
    {"enabled_mcps": [f"m{n}" for n in range(51)]},
    {"enabled_mcps": [""]},
    {"enabled_mcps": [KEY]},
    {"settings": {"a": "x" * 65_536}},
    {"settings": {"token": KEY}},
    {"settings": [1]},
    {"branch": "b" * 201},
    {"worktree": "w" * 1_001},
    {"parent": "memory:4"},
    {"session": "s" * 101},
    {"session": KEY},
    {"session": "memory:4"},
    {"conversaton": "x"},
]


@pytest.mark.parametrize("arguments", BAD, ids=lambda arguments: str(arguments)[:40])
def test_bad_input_is_refused_and_nothing_is_written(arguments: dict[str, Any], ada: Caller) -> None:
    with pytest.raises(InvalidInput) as refused:
        call(ada, "session", {"action": "save", "summary": "s", **arguments})
    assert len(refused.value.message) < 400
    assert not AgentSession.objects.in_project(ada.project).exists()
    assert not ContextItem.objects.in_project(ada.project).exists()


def test_a_wrong_name_in_an_item_is_suggested(ada: Caller) -> None:
    with pytest.raises(InvalidInput) as refused:
        save_session(caller=ada, items=[{"content": "x", "importence": 3}])
    assert refused.value.details["did_you_mean"] == "importance"


# -- Deleting --------------------------------------------------------------------------------------


def test_a_deleted_session_takes_along_what_it_holds(ada: Caller) -> None:
    saved = save_session(caller=ada, **FULL)["session"]
    child = save_session(caller=ada, parent=str(saved), summary="s")["session"]
    [row] = call(ada, "delete", {"refs": [f"session:{saved}"]})["rows"]
    assert row == [f"session:{saved}", "deleted", "with its list of 2 files"]
    for model in (Conversation, ContextItem, WorkspaceState, SessionResource):
        assert not model._base_manager.exists()
    assert stored(ada, child).parent_id is None
    assert verbs(ada)[-1] == f"deleted session:{saved}"


def test_another_agents_session_is_deleted_by_an_administrator(ada: Caller, ben: Caller) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    writer = Caller(ben.project, "ben", scopes=frozenset({"read", "write"}))
    with pytest.raises(NotAllowed):
        delete_session(caller=writer, session=saved)
    assert delete_session(caller=ben, session=saved)["deleted"] == f"session:{saved}"


def test_ones_own_session_is_deleted_with_the_scope_write(ada: Caller) -> None:
    saved = save_session(caller=ada, session="laptop", summary="s")["session"]
    writer = Caller(ada.project, "Ada", scopes=frozenset({"read", "write"}))
    assert delete_session(caller=writer, session="laptop")["deleted"] == f"session:{saved}"
