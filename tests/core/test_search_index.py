"""The search index follows every write of an indexed kind, by calls and by the ORM."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.events.cleanup import clear
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import (
    Agent,
    Category,
    Layer,
    Project,
    Scope,
    SearchEntry,
    SearchText,
    SearchWord,
    Tag,
)
from ctxhub.core.search import documents
from ctxhub.core.search.documents import EARLIER
from ctxhub.core.search.index import BATCH_SIZE, index_again
from ctxhub.core.vocabulary.services import delete_word, rename_word
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision, set_decision_batch
from memory.models import Constraint, Decision
from messaging.messages.services import send_message, send_message_batch
from messaging.models import Delivery, Message, MessageType
from tests.search_index import index_is_right
from tracking.changes.services import record_change, record_change_batch
from tracking.models import ChangeKind, FileChange, Resource

KEY = "api/userName"
FILE = "src/userName.py"
ALL_FIELDS: dict[str, Any] = {
    "rationale": "Because of the audit.",
    "alternatives": ["sessions", {"option": "OAuth", "why_not": "One more server.", "weight": 3}],
    "tradeoffs": {"pros": ["quick"], "cons": ["one more dependency"]},
    "metadata": {"zulu": 5.0, "alpha": {"deep": [True, None, 1e22, 0.5]}, "m": "text"},
    "tags": ["zeta", "errorHandling", "api"],
    "scopes": ["web/*", "apiServer"],
    "paths": ["src/b.py", "src/a/**"],
    "layer": "data",
}


@pytest.fixture
def populated(ada: Caller) -> Caller:
    """One or two rows of every kind; their words are in camel case, where spelling matters most."""
    set_decision(caller=ada, key=KEY, value="JWT", **ALL_FIELDS)
    set_decision(caller=ada, key="old", value="basic", status="draft")
    add_constraint(caller=ada, category="ownRules", text="Never log a name.", tags=["errorHandling"])
    ben = ada.speaking_as("benBot")
    payload = {"zulu": [1, {"b": 2, "a": 1}], "alpha": 1e16}
    send_message(caller=ben, text="Please look.", to=["ada", "Cy"], type="request", payload=payload)
    send_message(caller=ben, text="To all.")
    record_change(caller=ada, path=FILE, change="created", description="Begun.", layer="data")
    record_change(caller=ada, path=FILE, change="modified")
    return ada


def decision(caller: Caller) -> Decision:
    return Decision.objects.in_project(caller.project).get(key=KEY)


def constraint(caller: Caller) -> Constraint:
    return Constraint.objects.in_project(caller.project).get()


def message(caller: Caller) -> Message:
    return Message.objects.in_project(caller.project).earliest("pk")


def change(caller: Caller) -> FileChange:
    return FileChange.objects.in_project(caller.project).earliest("pk")


def resource(caller: Caller) -> Resource:
    return Resource.objects.in_project(caller.project).get()


def words_of(project: Project, kind: str) -> list[str]:
    entries = SearchEntry.objects.in_project(project).filter(kind=kind).order_by("pk")
    texts = SearchText.objects.in_project(project)
    return [texts.get(pk=entry.pk * SearchText.PARTS).words for entry in entries]


def save(row: Any, *fields: str, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=fields or None)


def tool_call(tool: str, action: str, **arguments: Any) -> Callable[[Caller], Any]:
    return lambda caller: call(caller, tool, {"action": action, **arguments})


def message_call(tool: str, action: str, **arguments: Any) -> Callable[[Caller], Any]:
    """A call about the first message."""
    return lambda caller: call(caller, tool, {"action": action, "id": message(caller).pk, **arguments})


# -- Every writer ----------------------------------------------------------------------------------

SERVICES: dict[str, Callable[[Caller], Any]] = {
    "a new decision": tool_call("decision", "set", key="new", value=5.5),
    "a value": tool_call("decision", "set", key=KEY, value="PASETO"),
    "words spelled otherwise": tool_call(
        "decision", "set", key=KEY, value="x", tags=["ERRORHANDLING", "API"], scopes=["APIserver"]
    ),
    "words left out": tool_call("decision", "set", key=KEY, value="x"),
    "everything cleared": tool_call(
        "decision", "set", key=KEY, value="", tags=[], scopes=[], paths=[], rationale="", alternatives=[]
    ),
    "nothing new": tool_call("decision", "set", key=KEY, value="JWT"),
    "quick": tool_call("decision", "quick_set", key="api/perf/limit", value=1),
    "a batch with a key twice": tool_call(
        "decision",
        "set_batch",
        items=[
            {"key": KEY, "value": 1},
            {"key": "n", "value": 2, "tags": ["ZETA"]},
            {"key": KEY, "value": 3},
        ],
    ),
    "a batch that fails in part": tool_call(
        "decision",
        "set_batch",
        items=[{"key": "a", "value": 1}, {"key": "b", "value": 2, "layer": "nowhere"}],
        atomic=False,
    ),
    "a template": tool_call("decision", "from_template", name="deprecation", key="x/y", value="z"),
    "a deprecation": tool_call("decision", "deprecate", key=KEY, reason="Too old.", superseded_by="old"),
    "a deleted decision": lambda caller: call(caller, "delete", {"refs": [f"decision:{KEY}"]}),
    "a new constraint": tool_call(
        "constraint", "add", category="OWNrules", text="Other.", tags=["ERRORhandling"]
    ),
    "a deactivation": lambda ada: call(ada, "constraint", {"action": "deactivate", "id": constraint(ada).pk}),
    "a message to all": tool_call("message", "send", text="x"),
    "a message to some": tool_call("message", "send", text="x", to=["ADA", "BENbot", "zoe", "c", "D", "e"]),
    "a reply": lambda ada: call(ada, "message", {"text": "Yes.", "reply_to": message(ada).pk}),
    "a batch of messages": tool_call(
        "message", "send_batch", items=[{"text": "a"}, {"text": "b", "to": ["Cy"]}]
    ),
    "a claim": message_call("message", "claim"),
    "a request that is done": message_call("message", "done", result_refs=["decision:old"]),
    "a change of a new file": tool_call("file", "record", path="lib/NewFile.go", change="created"),
    "a change of a known file": tool_call("file", "record", path=FILE, change="deleted", description="Gone."),
    "a batch of changes": tool_call(
        "file",
        "record_batch",
        items=[{"path": "a", "change": "created", "description": "x"}, {"path": "a", "change": "deleted"}],
    ),
}

ORM_WRITES: dict[str, Callable[[Caller], Any]] = {
    "a new decision": lambda ada: Decision.objects.create(project=ada.project, key="n", value="x"),
    "a value": lambda ada: save(decision(ada), value="x"),
    "a value alone": lambda ada: save(decision(ada), "value", value="x"),
    "a key": lambda ada: save(decision(ada), key="other"),
    "an author": lambda ada: save(
        decision(ada), agent=Agent.objects.in_project(ada.project).get(name="benBot")
    ),
    "a time": lambda ada: save(decision(ada), updated_at=datetime(2020, 2, 3, tzinfo=UTC)),
    "no tags": lambda ada: decision(ada).tags.clear(),
    "a tag from its end": lambda ada: tag(ada, "zeta").decisions.clear(),
    "another scope": lambda ada: decision(ada).scopes.remove(*decision(ada).scopes.all()[:1]),
    "a deleted decision": lambda ada: decision(ada).delete(),
    "all decisions deleted": lambda ada: Decision.objects.in_project(ada.project).delete(),
    "a new constraint": lambda ada: Constraint.objects.create(
        project=ada.project, category=category(ada), text="Other."
    ),
    "a text": lambda ada: save(constraint(ada), text="Always."),
    "a constraint's time": lambda ada: save(constraint(ada), updated_at=datetime(2020, 2, 3, tzinfo=UTC)),
    "a tag of a constraint": lambda ada: constraint(ada).tags.add(
        tag(ada, "zeta"), through_defaults={"project": ada.project}
    ),
    "a deleted constraint": lambda ada: constraint(ada).delete(),
    "a new message": lambda ada: Message.objects.create(
        project=ada.project, sender=message(ada).sender, text="x", to_everyone=False
    ),
    "a message's text": lambda ada: save(message(ada), text="x"),
    "a message's payload": lambda ada: save(message(ada), payload={"b": 1, "a": 2}),
    "a message's recipients": lambda ada: save(message(ada), to_everyone=True),
    "a message's sender": lambda ada: save(
        message(ada), sender=Agent.objects.in_project(ada.project).get(name="ada")
    ),
    "one more recipient": lambda ada: Delivery.objects.create(
        project=ada.project, message=message(ada), name="Zoe"
    ),
    "another recipient": lambda ada: save(
        Delivery.objects.in_project(ada.project).get(folded="cy"), name="Zoe", folded="zoe"
    ),
    "a deleted message": lambda ada: message(ada).delete(),
    "all messages deleted": lambda ada: Message.objects.in_project(ada.project).delete(),
    "a new file": lambda ada: Resource.objects.create(project=ada.project, path="lib/x.go"),
    "a path": lambda ada: save(resource(ada), path="lib/other.go"),
    "a new change": lambda ada: FileChange.objects.create(
        project=ada.project, resource=resource(ada), change=ChangeKind.DELETED, description="Gone."
    ),
    "a description": lambda ada: save(change(ada), description="Other."),
    "a first description": lambda ada: save(
        FileChange.objects.in_project(ada.project).latest("pk"), description="Other."
    ),
    "no description": lambda ada: save(change(ada), description=""),
    "a change's agent": lambda ada: save(
        change(ada), agent=Agent.objects.in_project(ada.project).get(name="benBot")
    ),
    "a change's layer": lambda ada: save(
        change(ada), layer=Layer.objects.in_project(ada.project).get(name="business")
    ),
    "a deleted change": lambda ada: change(ada).delete(),
    "all changes deleted": lambda ada: FileChange.objects.in_project(ada.project).delete(),
    "a deleted file": lambda ada: (change(ada).delete(), change(ada).delete(), resource(ada).delete()),
}

RENAMES: dict[str, Callable[[Caller], Any]] = {
    "a tag": lambda ada: rename_word(caller=ada, word=tag(ada, "errorHandling"), name="mishaps"),
    "a tag's case": lambda ada: rename_word(caller=ada, word=tag(ada, "zeta"), name="zeTa"),
    "a tag in a shell": lambda ada: save(tag(ada, "zeta"), name="omega"),
    "a scope": lambda ada: rename_word(
        caller=ada, word=Scope.objects.in_project(ada.project).get(name="apiServer"), name="server"
    ),
    "a category": lambda ada: rename_word(caller=ada, word=category(ada), name="others"),
    "a layer": lambda ada: rename_word(
        caller=ada, word=Layer.objects.in_project(ada.project).get(name="data"), name="store"
    ),
    "an agent in a shell": lambda ada: save(
        Agent.objects.in_project(ada.project).get(name="benBot"), name="benJamin"
    ),
    "a deleted unused tag": lambda ada: delete_word(caller=ada, word=tag(ada, "testing")),
}


def tag(caller: Caller, name: str) -> Tag:
    return Tag.objects.in_project(caller.project).get(name=name)


def category(caller: Caller) -> Category:
    return Category.objects.in_project(caller.project).get(name="ownRules")


def test_every_kind_is_indexed(populated: Caller) -> None:
    index_is_right(populated.project)
    kinds = SearchEntry.objects.in_project(populated.project).values_list("kind", flat=True)
    assert sorted(kinds) == [
        *("change", "constraint", "decision", "decision", "message", "message", "resource")
    ]


@pytest.mark.parametrize("name", SERVICES)
def test_a_call_updates_the_index(populated: Caller, name: str) -> None:
    SERVICES[name](populated)
    index_is_right(populated.project)


@pytest.mark.parametrize("name", ORM_WRITES)
def test_a_write_by_the_orm_updates_the_index(populated: Caller, name: str) -> None:
    ORM_WRITES[name](populated)
    index_is_right(populated.project)


@pytest.mark.parametrize("name", RENAMES)
def test_a_rename_updates_the_index(populated: Caller, name: str) -> None:
    RENAMES[name](populated)
    index_is_right(populated.project)


def test_expired_rows_leave_the_index(populated: Caller) -> None:
    deleted = clear(caller=populated, older_than={"messages": "0m", "changes": "0m"})
    assert deleted == {"messages": 2, "changes": 2}
    index_is_right(populated.project)
    kinds = SearchEntry.objects.in_project(populated.project).values_list("kind", flat=True)
    assert sorted(kinds) == ["constraint", "decision", "decision", "resource"]


def test_many_rows_expire_in_few_statements(ada: Caller) -> None:
    for n in range(4):
        items = [{"text": f"word{'abcd'[n]}x number {m} of {n}", "payload": {"n": m}} for m in range(50)]
        send_message_batch(caller=ada, items=items)
    with CaptureQueriesContext(connection) as captured:
        assert clear(caller=ada, older_than={"messages": "0m"})["messages"] == 200
    assert len(captured) <= 30
    index_is_right(ada.project)
    assert not SearchWord.objects.in_project(ada.project).exists()


def test_a_write_that_fails_leaves_the_index_as_it_was(populated: Caller) -> None:
    with transaction.atomic():
        set_decision(caller=populated, key=KEY, value="something else")
        transaction.set_rollback(True)
    index_is_right(populated.project)


# -- Deleted with the project ----------------------------------------------------------------------


def test_deleting_a_project_deletes_only_its_index(populated: Caller, cy: Caller) -> None:
    set_decision(caller=cy, key=KEY, value="JWT", **ALL_FIELDS)
    project_id = populated.project_id
    Project.objects.get(pk=project_id).delete()
    for model in (SearchEntry, SearchText, SearchWord):
        assert not model.objects.in_project(project_id).exists()
    index_is_right(cy.project)


def test_deleting_a_project_deletes_its_index_in_bulk(ada: Caller, cy: Caller) -> None:
    def statements(caller: Caller, count: int) -> int:
        items = [{"path": f"a{n}", "change": "created", "description": "x"} for n in range(count)]
        record_change_batch(caller=caller, items=items)
        with CaptureQueriesContext(connection) as captured:
            Project.objects.get(pk=caller.project_id).delete()
        return sum("core_search" in query["sql"] for query in captured)

    assert statements(ada, 2) == statements(cy, 40)


# -- Writes that change no indexed text ------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "inbox"},
        {"action": "read", "all": True},
        {"action": "claim", "next": True},
        {"action": "claim", "next": True, "minutes": 5},
    ],
)
def test_reading_messages_leaves_the_index_alone(populated: Caller, arguments: dict[str, Any]) -> None:
    with CaptureQueriesContext(connection) as captured:
        call(populated, "message", arguments)
    assert not [query for query in captured if "core_search" in query["sql"]]


def test_a_claim_by_the_orm_leaves_the_index_alone(populated: Caller) -> None:
    row = message(populated)
    assert row.type == MessageType.REQUEST
    with CaptureQueriesContext(connection) as captured:
        save(row, priority=4, ack_due_at=clock.now() + timedelta(hours=1))
    assert not [query for query in captured if "core_search" in query["sql"]]


def test_a_change_without_a_description_indexes_only_its_file(ada: Caller) -> None:
    record_change(caller=ada, path="a", change="created")
    kinds = SearchEntry.objects.in_project(ada.project).values_list("kind", flat=True)
    assert list(kinds) == ["resource"]


# -- Indexed words ---------------------------------------------------------------------------------


def test_a_decision_is_indexed_by_all_its_fields(populated: Caller) -> None:
    [words, _] = words_of(populated.project, "decision")
    for word in ("usernam", "user", "name", "jwt", "audit", "oauth", "server", "quick", "depend"):
        assert word in words.split()
    for word in ("error", "handl", "web", "apiserv", "b", "py", "alpha", "deep", "zulu", "text"):
        assert word in words.split()


def test_a_message_is_indexed_by_sender_recipients_text_and_payload(populated: Caller) -> None:
    [words, to_all] = words_of(populated.project, "message")
    assert words.startswith("benbot to ada cy ben bot ")
    assert {"pleas", "look", "zulu", "alpha"} <= set(words.split())
    assert to_all.startswith("benbot to everyon ben bot ")


def test_many_recipients_are_indexed_in_the_body_rather_than_the_title(ada: Caller) -> None:
    from messaging.messages.history import HISTORY

    sent = send_message(caller=ada, text="x", to=[f"r{n}" for n in range(9)])
    [document] = HISTORY.documents(ada.project_id, [sent["id"]]).now()
    assert document.title == "ada to r0, r1, r2, r3 and 5 more"
    assert document.body == "x\n\nto r4, r5, r6, r7, r8"


@pytest.mark.parametrize(
    ("status", "mark"), [("active", ""), ("draft", "draft"), ("deprecated", "deprecated")]
)
def test_an_inactive_decision_is_marked(ada: Caller, status: str, mark: str) -> None:
    from memory.decisions.history import HISTORY

    created = set_decision(caller=ada, key="a", value="x", status=status)
    [document] = HISTORY.documents(ada.project_id, [created["id"]]).now()
    assert document.mark == mark


def test_the_document_of_a_decision_has_a_line_for_each_field(ada: Caller) -> None:
    from memory.decisions.history import HISTORY

    created = set_decision(caller=ada, key="a", value="JWT", **ALL_FIELDS)
    [document] = HISTORY.documents(ada.project_id, [created["id"]]).now()
    assert document.body.split("\n\n") == [
        "JWT",
        "Because of the audit.",
        "not sessions",
        "not OAuth: One more server.",
        "weight: 3",
        "+ quick",
        "- one more dependency",
        "alpha deep: true",
        "alpha deep: 10000000000000000000000",
        "alpha deep: 0.5",
        "m: text",
        "zulu: 5",
    ]
    assert document.unshown == ("apiServer, web/*", "src/b.py, src/a/**")


# -- Long texts ------------------------------------------------------------------------------------


def test_a_long_text_has_passages_and_a_shorter_one_deletes_them(ada: Caller) -> None:
    def count() -> int:
        texts = SearchText.objects.in_project(ada.project)
        return sum(EARLIER not in scope.split() for scope in texts.values_list("scope", flat=True))

    set_decision(caller=ada, key="a", value="some words " * 5_000, rationale="more " * 5_000)
    assert count() >= 10
    index_is_right(ada.project)
    set_decision(caller=ada, key="a", value="short")
    index_is_right(ada.project)
    set_decision(caller=ada, key="a", rationale="", value="short")
    assert count() == 1
    index_is_right(ada.project)


def test_a_text_too_long_for_its_passages_leaves_others_alone(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the ORM can store such a text, of 8 million characters."""
    monkeypatch.setattr(documents, "PASSAGE_CHARACTERS", 10)
    monkeypatch.setattr(documents, "OVERLAP", 2)
    Decision.objects.create(project=ada.project, key="a", value="some words " * 1_000)
    set_decision(caller=ada, key="b", value="x")
    index_is_right(ada.project)
    assert SearchText.objects.in_project(ada.project).count() == SearchText.PARTS + 1


# -- Words -----------------------------------------------------------------------------------------


def indexed_words(caller: Caller) -> set[str]:
    return set(SearchWord.objects.in_project(caller.project).values_list("word", flat=True))


def test_a_word_is_deleted_with_the_last_row_that_has_it(ada: Caller) -> None:
    ids = [send_message(caller=ada, text=text)["id"] for text in ("moonshot now", "moonshot", "sunrise")]
    assert {"moonshot", "sunrise"} <= indexed_words(ada)
    messages = Message.objects.in_project(ada.project)
    messages.get(pk=ids[0]).delete()
    assert "moonshot" in indexed_words(ada)
    messages.get(pk=ids[1]).delete()
    assert "moonshot" not in indexed_words(ada)
    assert "sunrise" in indexed_words(ada)


def test_a_word_is_deleted_when_it_is_overwritten(ada: Caller) -> None:
    sent = send_message(caller=ada, text="moonshot")["id"]
    save(Message.objects.in_project(ada.project).get(pk=sent), text="sunrise")
    assert "moonshot" not in indexed_words(ada)
    assert "sunrise" in indexed_words(ada)


def test_a_word_is_deleted_in_its_project_only(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy):
        set_decision(caller=caller, key="a", value="moonshot")
    call(ada, "delete", {"refs": ["decision:a"]})
    assert ("moonshot" in indexed_words(ada), "moonshot" in indexed_words(cy)) == (False, True)


# -- Numbers of statements -------------------------------------------------------------------------


def index_statements(write: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        write()
    return sum("core_search" in query["sql"] for query in captured)


def test_a_batch_of_50_is_indexed_in_as_many_statements_as_one(ada: Caller) -> None:
    def decisions(count: int, value: str) -> int:
        items = [{"key": f"{count}/{n}", "value": f"{value} {n}"} for n in range(count)]
        return index_statements(lambda: set_decision_batch(caller=ada, items=items))

    def messages(count: int) -> int:
        items = [{"text": f"text {n}"} for n in range(count)]
        return index_statements(lambda: send_message_batch(caller=ada, items=items))

    def changes(count: int) -> int:
        items = [
            {"path": f"files/{count}/{n}", "change": "created", "description": "some words"}
            for n in range(count)
        ]
        return index_statements(lambda: record_change_batch(caller=ada, items=items))

    assert decisions(1, "some words") == decisions(50, "some words") == 3
    assert decisions(1, "some other words") == decisions(50, "some other words") == 5
    assert messages(1) == messages(50) == 3
    assert changes(1) == changes(50) == 3


def test_a_renamed_tag_is_reindexed_in_chunks(ada: Caller) -> None:
    def renamed(name: str, count: int) -> int:
        word = Tag.objects.create(project=ada.project, name=name)
        items = [{"key": f"{name}{n}", "value": "x", "tags": [name]} for n in range(count)]
        for start in range(0, count, 50):
            set_decision_batch(caller=ada, items=items[start : start + 50])
        return index_statements(lambda: rename_word(caller=ada, word=word, name=f"{name}x"))

    assert renamed("fewer", 2) == renamed("many", 100)
    index_is_right(ada.project)


def test_index_again_takes_more_rows_than_a_chunk(apollo: Project) -> None:
    rows = [Resource(project=apollo, path=f"f{n}") for n in range(BATCH_SIZE + 3)]
    ids = [row.pk for row in Resource.unscoped.bulk_create(rows)]
    index_again(apollo.pk, "resource", ids)
    index_is_right(apollo)
    Resource.objects.in_project(apollo).filter(pk__in=ids[:-1]).delete()
    index_again(apollo.pk, "resource", ids)
    index_is_right(apollo)
    assert SearchEntry.objects.in_project(apollo).count() == 1


def test_a_new_project_has_an_empty_index(db: None) -> None:
    project = create_project(slug="empty")
    index_is_right(project)
    assert not SearchEntry.objects.in_project(project).exists()
