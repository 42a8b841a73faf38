"""Prioritisation through the service: what is chosen, how it is answered and stored."""

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.kit.answers import MAX_TOKENS, size
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.kit.errors import InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Event
from ctxhub.core.search.documents import Document
from ctxhub.core.search.index import index_documents
from ctxhub.core.text.token_count import count_tokens
from sessions.accesses.models import Mode
from sessions.models import SessionResource
from sessions.prioritize.services import PrioritizeAnswer, prioritize_files
from tests.properties import SHARED_FIXTURES
from tests.sessions.files import add_file, at_noon, compress, depend, digest, resource, session_of, stored
from tracking.files.models import ResourceType
from tracking.models import FileContent, Resource

CODE = '"""A module."""\n' + "".join(
    f"# What {n} is for, in many words that nobody needs, and more of them.\n# Line by line, one more.\n"
    f"def f{n}(a: int) -> int:\n"
    f'    """Returns {n}."""\n    total = a * {n} + {n}\n    return total - a\n\n\n\n'
    for n in range(20)
)
FULL, COMPRESSED, DIGEST = (
    count_tokens(text) for text in (CODE, compress("a.py", CODE), digest("a.py", CODE))
)
CHINESE = "這是一個很長的檔案，裡面有很多字。\n" * 50


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(at_noon(), tick=False) as traveller:
        yield traveller


def prioritize(caller: Caller, budget: int = 10_000, **rest: Any) -> PrioritizeAnswer:
    return prioritize_files(caller=caller, budget_tokens=budget, **rest)


def modes(answer: PrioritizeAnswer) -> dict[str, str]:
    return {file["path"]: file["mode"] for file in answer["included"]}


# -- Choosing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "mode", "tokens"),
    [
        (FULL, "full", FULL),
        (FULL - 1, "compressed", COMPRESSED),
        (COMPRESSED - 1, "digest", DIGEST),
        (DIGEST - 1, "reference", 30),
    ],
)
def test_a_file_is_as_full_as_it_fits(ada: Caller, budget: int, mode: str, tokens: int) -> None:
    add_file(session_of(ada), ada, "src/a.py", CODE)
    answer = prioritize(ada, budget)
    [found] = answer["included"]
    assert (found["mode"], found["original_tokens"], answer["excluded"]) == (mode, FULL, [])
    assert found["tokens"] == answer["tokens_used"] == budget - answer["tokens_remaining"]
    assert found["tokens"] == tokens if mode != "reference" else found["tokens"] <= tokens


def test_a_file_has_its_score_and_the_parts_of_it(ada: Caller) -> None:
    session = session_of(ada)
    add_file(session, ada, "src/a.py", CODE)
    SessionResource.objects.in_project(ada.project).update(modified=True)
    [found] = prioritize(ada)["included"]
    assert found["score"] == 63
    assert found["reasons"] == ["recency 30", "access 15", "modified 10", "type 5", "frequency 3"]


def test_what_does_not_fit_is_excluded_and_told(ada: Caller) -> None:
    session = session_of(ada)
    add_file(session, ada, "src/a.py", CODE)
    answer = prioritize(ada, 5)
    assert answer == {
        "included": [],
        "excluded": [{"path": "src/a.py", "tokens": FULL, "score": 53, "reason": "over budget"}],
        "tokens_used": 0,
        "tokens_remaining": 5,
    }


def test_the_most_important_file_comes_first(ada: Caller) -> None:
    session = session_of(ada)
    add_file(session, ada, "src/a.py", CODE)
    add_file(session, ada, "src/b.py", CODE + "x = 1\n", mark=100)
    assert modes(prioritize(ada, FULL + COMPRESSED + 10)) == {"src/b.py": "full", "src/a.py": "compressed"}


def test_an_empty_file_is_full_at_no_tokens(ada: Caller) -> None:
    session = session_of(ada)
    add_file(session, ada, "a.txt", "")
    add_file(session, ada, "b.txt", size=0)
    answer = prioritize(ada, 0)
    assert (modes(answer), answer["tokens_used"]) == ({"a.txt": "full", "b.txt": "full"}, 0)


def test_a_file_of_unknown_content_is_a_reference(ada: Caller) -> None:
    add_file(session_of(ada), ada, "src/a.py", hash="0123456789abcdef")
    [found] = prioritize(ada)["included"]
    assert (found["mode"], found["original_tokens"], found["reasons"][0]) == ("reference", None, "no content")
    assert found["tokens"] == count_tokens("src/a.py (code, 01234567)")


def test_a_file_whose_tokens_alone_are_known_is_full_or_a_reference(ada: Caller) -> None:
    add_file(session_of(ada), ada, "src/a.py", tokens=500)
    assert [modes(prioritize(ada, budget)) for budget in (500, 499)] == [
        {"src/a.py": "full"},
        {"src/a.py": "reference"},
    ]
    assert modes(prioritize(ada, 500, content=True)) == {"src/a.py": "reference"}


# -- Dependencies and queries ----------------------------------------------------------------------


def test_a_strong_dependency_comes_with_the_file_that_needs_it(ada: Caller) -> None:
    session = session_of(ada)
    source = add_file(session, ada, "src/a.py", CODE)
    depend(ada, source, resource(ada, "src/b.py", "b = 1\n", last_accessed=None), strength=3)
    depend(ada, source, resource(ada, "src/c.py", "c = 1\n"), strength=2)
    answer = prioritize(ada)
    assert [(file["path"], file["score"]) for file in answer["included"]] == [
        ("src/a.py", 53),
        ("src/b.py", 42),
    ]
    assert answer["included"][1]["reasons"][0] == "needed by src/a.py"
    assert stored(session)["src/b.py"] == (42, True, Mode.FULL, None)


def test_a_dependency_that_is_gone_is_left_out_again(ada: Caller) -> None:
    session = session_of(ada)
    source = add_file(session, ada, "src/a.py", CODE)
    depend(ada, source, resource(ada, "src/b.py", "b = 1\n"))
    prioritize(ada)
    source.outgoing.all().delete()
    assert modes(prioritize(ada)) == {"src/a.py": "full"}
    assert stored(session)["src/b.py"] == (0, False, None, None)


def test_a_dependency_does_not_bring_its_own_ones(ada: Caller) -> None:
    session = session_of(ada)
    first = add_file(session, ada, "a.py", CODE)
    second, third = (resource(ada, path, f"{path!r}\n") for path in ("b.py", "c.py"))
    depend(ada, first, second)
    depend(ada, second, third)
    assert [set(modes(prioritize(ada))) for _ in range(2)] == [{"a.py", "b.py"}] * 2


def index(caller: Caller, file: Resource, body: str) -> None:
    document = Document(file.pk, f"resource:{file.path}", file.path, body, at=at_noon())
    index_documents(caller.project_id, "resource", [document])


def test_files_that_match_the_query_count_for_more(ada: Caller) -> None:
    session = session_of(ada)
    for path, body in (("a.py", "rotates the tokens of agents"), ("b.py", "draws a chart")):
        index(ada, add_file(session, ada, path, body), body)
    answer = prioritize(ada, query="chart")
    assert [file["path"] for file in answer["included"]] == ["b.py", "a.py"]
    assert 53 < answer["included"][0]["score"] <= 63
    assert answer["included"][0]["reasons"][-1].startswith("frequency")
    assert any(reason.startswith("query") for reason in answer["included"][0]["reasons"])
    assert [file["score"] for file in prioritize(ada, query="nothing of it")["included"]] == [53, 53]


# -- Storing ---------------------------------------------------------------------------------------


def test_included_is_stored_as_true_and_as_false(ada: Caller) -> None:
    session = session_of(ada)
    add_file(session, ada, "src/a.py", CODE)
    prioritize(ada, COMPRESSED)
    assert stored(session) == {"src/a.py": (53, True, Mode.COMPRESSED, COMPRESSED)}
    prioritize(ada, 0)
    assert stored(session) == {"src/a.py": (53, False, None, None)}


def test_only_the_session_of_the_call_is_written(ada: Caller) -> None:
    other, session = session_of(ada, "other"), session_of(ada)
    file = add_file(other, ada, "src/a.py", CODE)
    SessionResource.objects.in_project(ada.project).create(
        project=ada.project, session=session, resource=file, is_saved=True
    )
    prioritize(ada)
    assert (stored(session)["src/a.py"][1], stored(other)["src/a.py"][1]) == (True, False)


def test_shorter_forms_are_made_once_and_kept(ada: Caller) -> None:
    add_file(session_of(ada), ada, "src/a.py", CODE)
    prioritize(ada, COMPRESSED)
    content = FileContent.objects.in_project(ada.project).get()
    assert (content.compressed, content.compressed_tokens) == (compress("a.py", CODE), COMPRESSED)
    assert (content.digest, content.digest_tokens) == (digest("a.py", CODE), DIGEST)
    FileContent.objects.in_project(ada.project).update(compressed="kept")
    [found] = prioritize(ada, COMPRESSED, content=True)["included"]
    assert found.get("text") == "kept"


def test_a_file_that_fits_is_not_compressed(ada: Caller) -> None:
    add_file(session_of(ada), ada, "src/a.py", CODE)
    prioritize(ada, FULL)
    assert FileContent.objects.in_project(ada.project).get().compressed_tokens is None


def test_the_same_again_writes_nothing_and_no_event_is_recorded(ada: Caller) -> None:
    add_file(session_of(ada), ada, "src/a.py", CODE)
    first = prioritize(ada, COMPRESSED)
    events = Event.objects.in_project(ada.project).count()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert prioritize(ada, COMPRESSED) == first
    assert [q["sql"] for q in queries if not q["sql"].lstrip().startswith(("SELECT", "WITH"))] == []
    assert Event.objects.in_project(ada.project).count() == events


# -- Sessions and input ----------------------------------------------------------------------------


def test_without_a_session_the_answer_is_empty(ada: Caller) -> None:
    empty = {"included": [], "excluded": [], "tokens_used": 0, "tokens_remaining": 10_000}
    assert prioritize(ada) == empty
    assert prioritize(ada, session="no such name") == empty


@pytest.mark.parametrize("named", [lambda s: s.pk, lambda s: str(s.pk), lambda s: s.ref, lambda s: "mine"])
def test_a_session_is_named_by_id_ref_or_name(ada: Caller, named: Any) -> None:
    session = session_of(ada, "mine")
    add_file(session, ada, "src/a.py", CODE)
    assert modes(prioritize(ada, session=named(session))) == {"src/a.py": "full"}


def test_the_session_of_a_window_is_the_calls_own(ada: Caller) -> None:
    session = session_of(ada, "mine")
    add_file(session, ada, "src/a.py", CODE)
    inside = Caller(project=ada.project, agent="ada", window=Window(sessions={"ada": session.pk}))
    assert modes(prioritize(inside)) == {"src/a.py": "full"}


def test_another_agents_session_is_not_allowed(ada: Caller, ben: Caller) -> None:
    session = session_of(ada)
    add_file(session, ada, "src/a.py", CODE)
    with pytest.raises(NotAllowed, match="another agent's"):
        prioritize(ben, session=session.pk)
    assert stored(session)["src/a.py"][1] is False


def test_a_session_of_another_project_does_not_exist(ada: Caller, cy: Caller) -> None:
    session = session_of(ada, "mine")
    with pytest.raises(NotFound, match="There is no session"):
        prioritize(cy, session=session.pk)
    assert prioritize(cy, session="mine")["included"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": -1}, "between 0 and 2000000"),
        ({"budget": 2_000_001}, "between 0 and 2000000"),
        ({"budget": 18_001, "content": True}, "between 0 and 18000"),
        ({"query": " "}, "query must not be blank"),
        ({"query": "x" * 65_537}, "query has 65,537 bytes"),
        ({"session": " "}, "session must not be blank"),
        ({"session": "x" * 101}, "session has 101 characters"),
    ],
)
def test_bad_input_is_refused(ada: Caller, arguments: dict[str, Any], message: str) -> None:
    session_of(ada)
    with pytest.raises(InvalidInput, match=message):
        prioritize(ada, **arguments)


def test_the_greatest_budgets_are_taken(ada: Caller) -> None:
    add_file(session_of(ada), ada, "src/a.py", CODE)
    assert prioritize(ada, 2_000_000)["tokens_remaining"] == 2_000_000 - FULL
    assert prioritize(ada, 18_000, content=True)["tokens_remaining"] == 18_000 - FULL


# -- Content ---------------------------------------------------------------------------------------


def test_content_gives_each_text_in_its_form(ada: Caller) -> None:
    session = session_of(ada)
    for n, path in enumerate(("src/a.py", "src/b.py", "src/c.py", "src/d.py")):
        add_file(session, ada, path, f"{CODE}x = {n}\n", mark=90 - n)
    answer = prioritize(ada, FULL + COMPRESSED + DIGEST + 60, content=True)
    texts = {file["mode"]: file["text"] for file in answer["included"]}
    hashed = Resource.objects.in_project(ada.project).get(path="src/d.py").hash
    assert texts["full"] == f"{CODE}x = 0\n"
    assert texts["compressed"] == compress("a.py", f"{CODE}x = 1\n")
    assert texts["digest"] == digest("a.py", f"{CODE}x = 2\n")
    tokens = count_tokens(f"{CODE}x = 3\n")
    assert texts["reference"] == f"src/d.py (code, {tokens} tokens, {hashed[:8]})"
    assert all(count_tokens(file["text"]) == file["tokens"] for file in answer["included"])


@pytest.mark.parametrize("text", ['"\\\n' * 3_000, CHINESE * 10, CODE * 3, "x\n" * 500])
def test_an_answer_with_content_stays_below_the_cap(ada: Caller, text: str) -> None:
    session = session_of(ada)
    for n in range(40):
        add_file(session, ada, f"src/{n}.txt", f"{n}\n{text}")
    answer = prioritize(ada, 18_000, content=True)
    assert size(answer) <= MAX_TOKENS - 50
    assert sum(file["tokens"] for file in answer["included"]) == answer["tokens_used"] <= 18_000
    assert answer["tokens_used"] + answer["tokens_remaining"] == 18_000
    included = {file["path"] for file in answer["included"]}
    assert {path for path, row in stored(session).items() if row[1]} == included


# -- Many files ------------------------------------------------------------------------------------


def many(caller: Caller, count: int, text: str | None = "x = 1\n") -> Any:
    session = session_of(caller)
    for n in range(count):
        add_file(session, caller, f"src/{n:03}.py", text)
    return session


def test_an_answer_lists_at_most_200_rows_each_way(ada: Caller) -> None:
    session = many(ada, 460, None)
    tokens = count_tokens("src/100.py (code)")
    answer = prioritize(ada, 230 * tokens)
    assert (len(answer["included"]), answer["tokens_used"]) == (200, 230 * tokens)
    assert answer["omitted"] == 460 - 200 - len(answer["excluded"])
    assert 100 < len(answer["excluded"]) <= 200
    assert size(answer) <= MAX_TOKENS - 50
    assert sum(row[1] for row in stored(session).values()) == 230


def test_the_number_of_statements_does_not_grow_with_the_files(ada: Caller) -> None:
    counts = []
    for count in (2, 60):
        SessionResource.objects.in_project(ada.project).delete()
        Resource.objects.in_project(ada.project).delete()
        FileContent.objects.in_project(ada.project).delete()
        session = session_of(ada)
        for n in range(count):
            add_file(session, ada, f"src/{n}.py", f"{CODE}x = {n}\n")
        with CaptureQueriesContext(connection) as queries:
            prioritize(ada, count * COMPRESSED, query="returns", content=False)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 25


# -- Any files -------------------------------------------------------------------------------------

texts = st.sampled_from(
    [None, "", "x\n", CODE, CHINESE, CHINESE[:100], "# only comments\n" * 9, '"\\\n' * 99]
)
files = st.lists(st.tuples(texts, st.none() | st.integers(0, 100)), max_size=8)


@settings(SHARED_FIXTURES, max_examples=100)
@given(files, st.integers(0, 3_000), st.booleans())
def test_the_budget_is_never_exceeded(
    ada: Caller, drawn: list[tuple[str | None, int | None]], budget: int, content: bool
) -> None:
    Resource.objects.in_project(ada.project).delete()
    session = session_of(ada)
    for n, (text, mark) in enumerate(drawn):
        add_file(session, ada, f"src/{n}.py", text, mark=mark)
    answer = prioritize(ada, budget, session=session.pk, content=content)
    assert sum(file["tokens"] for file in answer["included"]) == answer["tokens_used"] <= budget
    assert len(answer["included"]) + len(answer["excluded"]) == len(drawn)
    if content:
        assert all(count_tokens(file["text"]) == file["tokens"] for file in answer["included"])


def test_each_type_of_file_is_named_in_its_reference(ada: Caller) -> None:
    session = session_of(ada)
    for kind in ResourceType:
        add_file(session, ada, f"a{kind.value}", type=kind)
    found = {file["path"]: file["text"] for file in prioritize(ada, 1_000, content=True)["included"]}
    assert found == {f"a{kind.value}": f"a{kind.value} ({kind.label})" for kind in ResourceType}
