"""Whoever writes a noun, and however, the index says of it what it says now, and nothing else."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.services.projects import create_project
from ctxhub.core.events.services.cleanup import clear
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
from ctxhub.core.search.services.index import BATCH_SIZE, index_again
from ctxhub.core.toolbox.dispatch import call
from ctxhub.core.vocabulary.services.changes import delete_word, rename_word
from memory.constraints.services import add_constraint
from memory.decisions.services.decisions import set_decision, set_decision_batch
from memory.models import Constraint, Decision
from messaging.models import Delivery, Message, MessageType
from messaging.services.messages import send_message, send_message_batch
from tests.search_index import index_is_right
from tracking.models import ChangeKind, FileChange, Resource
from tracking.services.changes import record_change, record_change_batch

KEY = "api/userName"
FILE = "src/userName.py"
WHOLE: dict[str, Any] = {
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
def stocked(ada: Caller) -> Caller:
    """A project with one or two of everything; its words are in camel case, where spelling matters most."""
    set_decision(caller=ada, key=KEY, value="JWT", **WHOLE)
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


def ask(tool: str, action: str, **arguments: Any) -> Callable[[Caller], Any]:
    return lambda caller: call(caller, tool, {"action": action, **arguments})


def say(tool: str, action: str, **arguments: Any) -> Callable[[Caller], Any]:
    """What is said of the first message."""
    return lambda caller: call(caller, tool, {"action": action, "id": message(caller).pk, **arguments})


# -- Every writer ----------------------------------------------------------------------------------

SERVICES: dict[str, Callable[[Caller], Any]] = {
    "a new decision": ask("decision", "set", key="new", value=5.5),
    "a value": ask("decision", "set", key=KEY, value="PASETO"),
    "words spelled otherwise": ask(
        "decision", "set", key=KEY, value="x", tags=["ERRORHANDLING", "API"], scopes=["APIserver"]
    ),
    "words not said": ask("decision", "set", key=KEY, value="x"),
    "everything cleared": ask(
        "decision", "set", key=KEY, value="", tags=[], scopes=[], paths=[], rationale="", alternatives=[]
    ),
    "nothing new": ask("decision", "set", key=KEY, value="JWT"),
    "quick": ask("decision", "quick_set", key="api/perf/limit", value=1),
    "a batch with a key twice": ask(
        "decision",
        "set_batch",
        items=[
            {"key": KEY, "value": 1},
            {"key": "n", "value": 2, "tags": ["ZETA"]},
            {"key": KEY, "value": 3},
        ],
    ),
    "a batch that fails in part": ask(
        "decision",
        "set_batch",
        items=[{"key": "a", "value": 1}, {"key": "b", "value": 2, "layer": "nowhere"}],
        atomic=False,
    ),
    "a template": ask("decision", "from_template", name="deprecation", key="x/y", value="z"),
    "a deprecation": ask("decision", "deprecate", key=KEY, reason="Too old.", superseded_by="old"),
    "a deleted decision": ask("decision", "delete", key=KEY),
    "a new constraint": ask("constraint", "add", category="OWNrules", text="Other.", tags=["ERRORhandling"]),
    "a deactivation": lambda ada: call(ada, "constraint", {"action": "deactivate", "id": constraint(ada).pk}),
    "a message to all": ask("message", "send", text="x"),
    "a message to some": ask("message", "send", text="x", to=["ADA", "BENbot", "zoe", "c", "D", "e"]),
    "a reply": lambda ada: call(ada, "message", {"text": "Yes.", "reply_to": message(ada).pk}),
    "a batch of messages": ask("message", "send_batch", items=[{"text": "a"}, {"text": "b", "to": ["Cy"]}]),
    "a claim": say("message", "claim"),
    "a request that is done": say("message", "done", result_refs=["decision:old"]),
    "a change of a new file": ask("file", "record", path="lib/NewFile.go", change="created"),
    "a change of a known file": ask("file", "record", path=FILE, change="deleted", description="Gone."),
    "a batch of changes": ask(
        "file",
        "record_batch",
        items=[{"path": "a", "change": "created", "description": "x"}, {"path": "a", "change": "deleted"}],
    ),
}

BY_THE_ORM: dict[str, Callable[[Caller], Any]] = {
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
    "a decision that goes": lambda ada: decision(ada).delete(),
    "all decisions that go": lambda ada: Decision.objects.in_project(ada.project).delete(),
    "a new constraint": lambda ada: Constraint.objects.create(
        project=ada.project, category=category(ada), text="Other."
    ),
    "a text": lambda ada: save(constraint(ada), text="Always."),
    "a constraint's time": lambda ada: save(constraint(ada), updated_at=datetime(2020, 2, 3, tzinfo=UTC)),
    "a tag of a constraint": lambda ada: constraint(ada).tags.add(
        tag(ada, "zeta"), through_defaults={"project": ada.project}
    ),
    "a constraint that goes": lambda ada: constraint(ada).delete(),
    "a new message": lambda ada: Message.objects.create(
        project=ada.project, sender=message(ada).sender, text="x", to_everyone=False
    ),
    "what a message says": lambda ada: save(message(ada), text="x"),
    "what a message brings": lambda ada: save(message(ada), payload={"b": 1, "a": 2}),
    "whom a message is for": lambda ada: save(message(ada), to_everyone=True),
    "who wrote a message": lambda ada: save(
        message(ada), sender=Agent.objects.in_project(ada.project).get(name="ada")
    ),
    "one more recipient": lambda ada: Delivery.objects.create(
        project=ada.project, message=message(ada), name="Zoe"
    ),
    "another recipient": lambda ada: save(
        Delivery.objects.in_project(ada.project).get(folded="cy"), name="Zoe", folded="zoe"
    ),
    "a message that goes": lambda ada: message(ada).delete(),
    "all messages that go": lambda ada: Message.objects.in_project(ada.project).delete(),
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
    "who made a change": lambda ada: save(
        change(ada), agent=Agent.objects.in_project(ada.project).get(name="benBot")
    ),
    "a change's layer": lambda ada: save(
        change(ada), layer=Layer.objects.in_project(ada.project).get(name="business")
    ),
    "a change that goes": lambda ada: change(ada).delete(),
    "all changes that go": lambda ada: FileChange.objects.in_project(ada.project).delete(),
    "a file that goes": lambda ada: (change(ada).delete(), change(ada).delete(), resource(ada).delete()),
}

NAMES: dict[str, Callable[[Caller], Any]] = {
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
    "an unused tag that goes": lambda ada: delete_word(caller=ada, word=tag(ada, "testing")),
}


def tag(caller: Caller, name: str) -> Tag:
    return Tag.objects.in_project(caller.project).get(name=name)


def category(caller: Caller) -> Category:
    return Category.objects.in_project(caller.project).get(name="ownRules")


def test_what_there_is_is_found_by_what_it_says(stocked: Caller) -> None:
    index_is_right(stocked.project)
    kinds = SearchEntry.objects.in_project(stocked.project).values_list("kind", flat=True)
    assert sorted(kinds) == [
        *("change", "constraint", "decision", "decision", "message", "message", "resource")
    ]


@pytest.mark.parametrize("name", SERVICES)
def test_a_call_keeps_the_index(stocked: Caller, name: str) -> None:
    SERVICES[name](stocked)
    index_is_right(stocked.project)


@pytest.mark.parametrize("name", BY_THE_ORM)
def test_the_orm_keeps_the_index(stocked: Caller, name: str) -> None:
    BY_THE_ORM[name](stocked)
    index_is_right(stocked.project)


@pytest.mark.parametrize("name", NAMES)
def test_a_new_name_is_found_wherever_it_stands(stocked: Caller, name: str) -> None:
    NAMES[name](stocked)
    index_is_right(stocked.project)


def test_what_has_aged_away_is_found_no_more(stocked: Caller) -> None:
    gone = clear(caller=stocked, older_than={"messages": "0m", "changes": "0m"})
    assert gone == {"messages": 2, "changes": 2}
    index_is_right(stocked.project)
    kinds = SearchEntry.objects.in_project(stocked.project).values_list("kind", flat=True)
    assert sorted(kinds) == ["constraint", "decision", "decision", "resource"]


def test_many_age_away_in_few_statements(ada: Caller) -> None:
    for n in range(4):
        items = [{"text": f"word{'abcd'[n]}x number {m} of {n}", "payload": {"n": m}} for m in range(50)]
        send_message_batch(caller=ada, items=items)
    with CaptureQueriesContext(connection) as captured:
        assert clear(caller=ada, older_than={"messages": "0m"})["messages"] == 200
    assert len(captured) <= 30
    index_is_right(ada.project)
    assert not SearchWord.objects.in_project(ada.project).exists()


def test_a_write_that_fails_leaves_the_index_as_it_was(stocked: Caller) -> None:
    with transaction.atomic():
        set_decision(caller=stocked, key=KEY, value="something else")
        transaction.set_rollback(True)
    index_is_right(stocked.project)


# -- Deleted with the project ----------------------------------------------------------------------


def test_a_project_goes_with_its_index_and_no_others(stocked: Caller, cy: Caller) -> None:
    set_decision(caller=cy, key=KEY, value="JWT", **WHOLE)
    project_id = stocked.project_id
    Project.objects.get(pk=project_id).delete()
    for model in (SearchEntry, SearchText, SearchWord):
        assert not model.objects.in_project(project_id).exists()
    index_is_right(cy.project)


def test_deleting_a_project_asks_for_no_single_row_of_its_index(ada: Caller, cy: Caller) -> None:
    def statements(caller: Caller, count: int) -> int:
        items = [{"path": f"a{n}", "change": "created", "description": "x"} for n in range(count)]
        record_change_batch(caller=caller, items=items)
        with CaptureQueriesContext(connection) as captured:
            Project.objects.get(pk=caller.project_id).delete()
        return sum("core_search" in query["sql"] for query in captured)

    assert statements(ada, 2) == statements(cy, 40)


# -- Only what shows -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "inbox"},
        {"action": "read", "all": True},
        {"action": "claim", "next": True},
        {"action": "claim", "next": True, "minutes": 5},
    ],
)
def test_what_a_reader_does_leaves_the_index_alone(stocked: Caller, arguments: dict[str, Any]) -> None:
    with CaptureQueriesContext(connection) as captured:
        call(stocked, "message", arguments)
    assert not [query for query in captured if "core_search" in query["sql"]]


def test_a_claim_by_the_orm_leaves_the_index_alone(stocked: Caller) -> None:
    row = message(stocked)
    assert row.type == MessageType.REQUEST
    with CaptureQueriesContext(connection) as captured:
        save(row, priority=4, ack_due_at=clock.now() + timedelta(hours=1))
    assert not [query for query in captured if "core_search" in query["sql"]]


def test_a_change_without_a_description_says_no_more_than_its_file(ada: Caller) -> None:
    record_change(caller=ada, path="a", change="created")
    kinds = SearchEntry.objects.in_project(ada.project).values_list("kind", flat=True)
    assert list(kinds) == ["resource"]


# -- What it is found by ---------------------------------------------------------------------------


def test_a_decision_is_found_by_all_that_is_said_of_it(stocked: Caller) -> None:
    [words, _] = words_of(stocked.project, "decision")
    for said in ("usernam", "user", "name", "jwt", "audit", "oauth", "server", "quick", "depend"):
        assert said in words.split()
    for said in ("error", "handl", "web", "apiserv", "b", "py", "alpha", "deep", "zulu", "text"):
        assert said in words.split()


def test_a_message_is_found_by_who_speaks_to_whom_and_what_it_brings(stocked: Caller) -> None:
    [words, to_all] = words_of(stocked.project, "message")
    assert words.startswith("benbot to ada cy ben bot ")
    assert {"pleas", "look", "zulu", "alpha"} <= set(words.split())
    assert to_all.startswith("benbot to everyon ben bot ")


def test_many_recipients_are_words_of_the_text_and_do_not_fill_the_title(ada: Caller) -> None:
    from messaging.search import read_message_documents

    sent = send_message(caller=ada, text="x", to=[f"r{n}" for n in range(9)])
    [document] = read_message_documents(ada.project_id, [sent["id"]])
    assert document.title == "ada to r0, r1, r2, r3 and 5 more"
    assert document.body == "x\n\nto r4, r5, r6, r7, r8"


@pytest.mark.parametrize(
    ("status", "mark"), [("active", ""), ("draft", "draft"), ("deprecated", "deprecated")]
)
def test_a_decision_that_does_not_hold_is_marked(ada: Caller, status: str, mark: str) -> None:
    from memory.decisions.history.decisions import HISTORY

    made = set_decision(caller=ada, key="a", value="x", status=status)
    [document] = HISTORY.documents(ada.project_id, [made["id"]])
    assert document.mark == mark


def test_a_decision_reads_as_lines(ada: Caller) -> None:
    from memory.decisions.history.decisions import HISTORY

    made = set_decision(caller=ada, key="a", value="JWT", **WHOLE)
    [document] = HISTORY.documents(ada.project_id, [made["id"]])
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


def test_a_long_text_lies_in_passages_and_a_shorter_one_leaves_none_behind(ada: Caller) -> None:
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


def test_a_text_too_long_for_its_passages_disturbs_no_other(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a shell can write one, of 8 million characters."""
    monkeypatch.setattr(documents, "PASSAGE_CHARACTERS", 10)
    monkeypatch.setattr(documents, "OVERLAP", 2)
    Decision.objects.create(project=ada.project, key="a", value="some words " * 1_000)
    set_decision(caller=ada, key="b", value="x")
    index_is_right(ada.project)
    assert SearchText.objects.in_project(ada.project).count() == SearchText.PARTS + 1


# -- Words -----------------------------------------------------------------------------------------


def known(caller: Caller) -> set[str]:
    return set(SearchWord.objects.in_project(caller.project).values_list("word", flat=True))


def test_a_word_is_forgotten_with_the_last_that_has_it(ada: Caller) -> None:
    ids = [send_message(caller=ada, text=text)["id"] for text in ("moonshot now", "moonshot", "sunrise")]
    assert {"moonshot", "sunrise"} <= known(ada)
    messages = Message.objects.in_project(ada.project)
    messages.get(pk=ids[0]).delete()
    assert "moonshot" in known(ada)
    messages.get(pk=ids[1]).delete()
    assert "moonshot" not in known(ada)
    assert "sunrise" in known(ada)


def test_a_word_is_forgotten_when_it_is_written_over(ada: Caller) -> None:
    sent = send_message(caller=ada, text="moonshot")["id"]
    save(Message.objects.in_project(ada.project).get(pk=sent), text="sunrise")
    assert "moonshot" not in known(ada)
    assert "sunrise" in known(ada)


def test_a_word_that_another_project_has_is_forgotten_here_alone(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy):
        set_decision(caller=caller, key="a", value="moonshot")
    call(ada, "decision", {"action": "delete", "key": "a"})
    assert ("moonshot" in known(ada), "moonshot" in known(cy)) == (False, True)


# -- How often the database is asked ---------------------------------------------------------------


def index_statements(write: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        write()
    return sum("core_search" in query["sql"] for query in captured)


def test_a_batch_of_50_is_indexed_in_the_statements_of_one(ada: Caller) -> None:
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
    assert changes(1) == changes(50) == 6


def test_a_renamed_tag_is_followed_in_chunks(ada: Caller) -> None:
    def renamed(name: str, count: int) -> int:
        word = Tag.objects.create(project=ada.project, name=name)
        items = [{"key": f"{name}{n}", "value": "x", "tags": [name]} for n in range(count)]
        for start in range(0, count, 50):
            set_decision_batch(caller=ada, items=items[start : start + 50])
        return index_statements(lambda: rename_word(caller=ada, word=word, name=f"{name}x"))

    assert renamed("fewer", 2) == renamed("many", 100)
    index_is_right(ada.project)


def test_more_than_a_chunk_is_indexed_again(apollo: Project) -> None:
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
