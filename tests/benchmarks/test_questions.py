"""The questions of the search benchmark: their number, and that each has its answer."""

import re
from collections import Counter

import pytest

from benchmarks.questions.entries import Kind
from benchmarks.questions.made import made_entries
from benchmarks.questions.reading import Question, Sort, read_entries, read_questions, with_typo

CHINESE = re.compile(r"[一-鿿]")
IDENTIFIER = re.compile(r"[a-z]_[a-z]|[a-z][A-Z]|[A-Z]_[A-Z]|\w/\w+\.\w|\w\(\)|Error")


def test_two_thousand_entries_have_ids_and_texts_of_their_own() -> None:
    entries = read_entries()
    assert len(entries) == 2_000
    assert len({entry.id for entry in entries}) == 2_000
    assert len({entry.text for entry in entries}) == 2_000


def test_at_least_five_hundred_entries_are_written_by_hand() -> None:
    assert len(read_entries()) - len(made_entries()) >= 500


def test_every_entry_has_a_text() -> None:
    assert all(entry.title and entry.text for entry in read_entries())


def test_every_kind_is_there() -> None:
    assert {entry.kind for entry in read_entries()} == set(Kind)


def test_no_decision_replaces_another() -> None:
    keys = [entry.title for entry in read_entries() if entry.kind is Kind.DECISION]
    assert len(keys) == len(set(keys))


def test_three_hundred_entries_are_chinese() -> None:
    assert sum(len(CHINESE.findall(entry.text)) > 8 for entry in read_entries()) >= 300


def test_three_hundred_entries_hold_code() -> None:
    assert sum(bool(IDENTIFIER.search(f"{entry.title} {entry.text}")) for entry in read_entries()) >= 300


def test_entries_are_the_same_each_time() -> None:
    assert read_entries() == read_entries()


def test_there_are_enough_questions_and_no_duplicates() -> None:
    questions = [question.question for question in read_questions()]
    assert len(questions) >= 240
    assert len(questions) == len(set(questions))


@pytest.mark.parametrize(
    ("sort", "least"), [(Sort.CHINESE, 60), (Sort.CODE, 60), (Sort.MULTI, 30), *((sort, 20) for sort in Sort)]
)
def test_there_are_enough_questions_of_each_sort(sort: Sort, least: int) -> None:
    assert Counter(question.sort for question in read_questions())[sort] >= least


def test_every_question_has_answers_among_entries_written_by_hand() -> None:
    by_hand = {entry.id for entry in read_entries()} - {entry.id for entry in made_entries()}
    for question in read_questions():
        assert question.answers
        assert len(question.answers) == len(set(question.answers))
        assert set(question.answers) <= by_hand


def test_a_question_in_two_halves_has_two_answers() -> None:
    assert all(len(question.answers) == 2 for question in read_questions() if question.sort is Sort.MULTI)


def test_a_short_question_occurs_in_no_entry_but_its_answers() -> None:
    entries = read_entries()
    terms = [question for question in read_questions() if len(question.question) <= 4]
    assert len(terms) >= 10
    for term in terms:
        assert {entry.id for entry in entries if term.question in entry.text + entry.title} <= {*term.answers}


@pytest.mark.parametrize("seed", range(5))
def test_a_typo_changes_one_word_at_most(seed: int) -> None:
    for question in read_questions():
        before, after = question.question.split(), with_typo(question.question, seed).split()
        assert len(before) == len(after)
        assert sum(old != new for old, new in zip(before, after, strict=True)) <= 1


def test_most_questions_that_are_not_chinese_get_a_typo() -> None:
    questions = [question for question in read_questions() if question.sort is not Sort.CHINESE]
    assert sum(_has_changed(question) for question in questions) > 0.9 * len(questions)


def test_a_typo_is_the_same_for_the_same_seed() -> None:
    question = "Which office is Grace working from these days?"
    assert with_typo(question, 3) == with_typo(question, 3)
    assert len({with_typo(question, seed) for seed in range(20)}) > 5


@pytest.mark.parametrize(
    "question",
    [
        "退款",
        "備份放在哪裡?",
        "Where are these?",
        "Is src/clinic/calendar/zones.py in?",
        "What is MAX_UPLOAD_MB in 2.8.1?",
        "Who can call parse_dates()?",
        "Wie geht die Überweisung?",
    ],
)
def test_a_question_without_a_plain_long_word_gets_no_typo(question: str) -> None:
    assert all(with_typo(question, seed) == question for seed in range(20))


@pytest.mark.parametrize("seed", range(30))
def test_a_typo_is_one_edit_and_keeps_the_first_letter(seed: int) -> None:
    typed = with_typo("Who is in Lisbon?", seed).removeprefix("Who is in ").removesuffix("?")
    assert typed != "Lisbon"
    assert typed[0] == "L"
    assert abs(len(typed) - 6) <= 1


def _has_changed(question: Question) -> bool:
    return with_typo(question.question, 0) != question.question
