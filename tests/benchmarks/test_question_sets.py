"""The question sets: their size, and that each question has its answer."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.questions.hubs import HubQuestion, HubRows, Row, RowKind, read_set, set_names

NAMES = ("chinese", "code", "conversations", "meetings", "old_values", "small_hubs", "threads", "why")
CHINESE = re.compile(r"[一-鿿]")
QUESTIONS = {
    "chinese": 60,
    "code": 60,
    "conversations": 110,
    "meetings": 50,
    "old_values": 60,
    "small_hubs": 45,
    "threads": 50,
    "why": 60,
}
REWRITTEN = {RowKind.DECISION, RowKind.MEMORY, RowKind.SCRATCHPAD}


def test_every_set_exists() -> None:
    assert set_names() == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_set_has_enough_questions_and_no_duplicates(name: str) -> None:
    texts = [(hub.name, question.text.casefold()) for hub in read_set(name) for question in hub.questions]
    assert len(texts) >= QUESTIONS[name]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_rows_of_their_hub(name: str) -> None:
    for hub in read_set(name):
        ids = {row.id for row in hub.rows}
        assert hub.questions
        for question in hub.questions:
            assert question.answers
            assert len(question.answers) == len(set(question.answers))
            assert set(question.answers) <= ids


@pytest.mark.parametrize("name", NAMES)
def test_ids_texts_and_keys_are_unique(name: str) -> None:
    for hub in read_set(name):
        assert len({row.id for row in hub.rows}) == len(hub.rows)
        assert len({(row.title, row.texts) for row in hub.rows}) == len(hub.rows)
        keys = [row.title for row in hub.rows if row.kind is RowKind.DECISION]
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_a_text(name: str) -> None:
    for row in _rows(name):
        assert all(row.texts)
        assert row.title or row.kind is RowKind.MESSAGE
        assert len(row.texts) == 1 or row.kind in REWRITTEN
        assert len(row.texts) == len(set(row.texts))


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_answers_an_earlier_message(name: str) -> None:
    for hub in read_set(name):
        earlier: set[str] = set()
        for row in hub.rows:
            assert not row.reply_to or row.reply_to in earlier
            if row.kind is RowKind.MESSAGE:
                earlier.add(row.id)


@pytest.mark.parametrize("name", NAMES)
def test_about_a_third_of_the_questions_is_set_aside(name: str) -> None:
    questions = list(_questions(name))
    share = sum(question.is_aside for question in questions) / len(questions)
    assert 0.2 < share < 0.5


def test_a_third_of_the_questions_of_all_sets_is_set_aside() -> None:
    questions = [question for name in NAMES for question in _questions(name)]
    assert 0.3 < sum(question.is_aside for question in questions) / len(questions) < 0.37


def test_questions_set_aside_stay_the_same() -> None:
    assert HubQuestion("Which port is it?", ("one",)).is_aside
    assert not HubQuestion("Who is on call?", ("one",)).is_aside


def test_a_conversation_is_one_context_with_two_agents() -> None:
    [hub] = read_set("conversations")
    turns = Counter(row.context for row in hub.rows)
    assert len(turns) >= 12
    assert all(14 <= count <= 24 for count in turns.values())
    for context in turns:
        assert len({row.agent for row in hub.rows if row.context == context}) == 2


def test_a_meeting_has_several_speakers_whose_names_begin_the_texts() -> None:
    [hub] = read_set("meetings")
    turns = Counter(row.context for row in hub.rows)
    assert len(turns) >= 5
    assert all(25 <= count <= 35 for count in turns.values())
    for context in turns:
        assert 4 <= len({row.agent for row in hub.rows if row.context == context}) <= 6
    assert all(row.text.casefold().startswith(f"{row.agent}: ") for row in hub.rows)


@pytest.mark.parametrize("name", ["conversations", "meetings"])
def test_some_answers_are_several_turns(name: str) -> None:
    assert sum(len(question.answers) > 1 for question in _questions(name)) >= 10


def test_threads_are_messages_that_answer_one_another() -> None:
    [hub] = read_set("threads")
    roots = {row.id: row.id for row in hub.rows if not row.reply_to}
    for row in hub.rows:
        roots[row.id] = roots[row.reply_to or row.id]
    lengths = Counter(roots.values())
    assert len(lengths) >= 10
    assert all(5 <= length <= 10 for length in lengths.values())
    assert {row.kind for row in hub.rows} == {RowKind.MESSAGE}


def test_small_hubs_are_small_and_only_the_first_hit_counts() -> None:
    hubs = read_set("small_hubs")
    assert len(hubs) >= 12
    assert all(1 <= len(hub.rows) <= 10 for hub in hubs)
    assert all(question.first for question in _questions("small_hubs"))


def test_the_set_why_asks_for_reasons_and_for_messages() -> None:
    [hub] = read_set("why")
    decided = [row for row in hub.rows if row.kind is RowKind.DECISION]
    assert len(decided) >= 40
    assert all(row.rationale for row in decided)
    assert len(hub.rows) >= 4 * len(decided)
    kinds = Counter(_kinds(hub, question) for question in hub.questions)
    assert kinds[RowKind.DECISION] >= 40
    assert kinds[RowKind.MESSAGE] >= 20
    assert all(question.first for question in hub.questions)


def test_forty_decisions_had_other_values_before() -> None:
    [hub] = read_set("old_values")
    changed = Counter(row.kind for row in hub.rows if len(row.texts) > 1)
    assert changed[RowKind.DECISION] >= 40
    assert changed[RowKind.MEMORY] >= 3
    assert changed[RowKind.SCRATCHPAD] >= 3
    assert sum(question.first for question in hub.questions) >= 20
    assert sum(not question.first for question in hub.questions) >= 40


def test_sixty_entries_hold_code() -> None:
    marks = re.compile(r"\w_\w|\w\(|[a-z][A-Z]|\w/\w|Error|--\w|\w=\S|`|[{}<>]|-> ")
    assert sum(bool(marks.search(f"{row.title} {row.text}")) for row in _rows("code")) >= 60


def test_sixty_entries_are_chinese_and_some_questions_are_short() -> None:
    assert sum(len(CHINESE.findall(row.text)) > 3 for row in _rows("chinese")) >= 60
    short = [question for question in _questions("chinese") if 2 <= len(question.text) <= 4]
    assert len(short) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_a_term_occurs_in_no_row_but_its_answers(name: str) -> None:
    for hub in read_set(name):
        for question in hub.questions:
            if re.fullmatch(r"[一-鿿]{2,4}|\w+", question.text):
                found = {row.id for row in hub.rows if _holds(row, question.text)}
                assert found <= {*question.answers}


def _holds(row: Row, term: str) -> bool:
    return term.casefold() in " ".join((row.title, *row.texts, row.rationale)).casefold()


def _kinds(hub: HubRows, question: HubQuestion) -> RowKind:
    [kind] = {row.kind for row in hub.rows if row.id in question.answers}
    return kind


def _rows(name: str) -> Iterator[Row]:
    for hub in read_set(name):
        yield from hub.rows


def _questions(name: str) -> Iterator[HubQuestion]:
    for hub in read_set(name):
        yield from hub.questions
