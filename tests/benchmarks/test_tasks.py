"""The tasks of briefs: their number, their right rows, and that most say it in other words."""

import re
from collections import Counter

from benchmarks.briefs import CHINESE, GERMAN, PATH
from benchmarks.tasks.reading import read_rows, read_tasks, written_rows
from benchmarks.tasks.rows import Noun, Task, TaskRow
from benchmarks.tasks.writing import AGES, NOW, moments_of

WORD = re.compile(r"[^\W\d_]{4,}|[一-鿿]{2}")
STEM = 6
FEW = 0.34


def test_there_are_two_thousand_rows_of_every_noun_and_always_the_same() -> None:
    rows = read_rows()
    assert len(rows) == len({row.id for row in rows}) == 2_000
    assert {row.noun for row in rows} == set(Noun)
    assert rows == read_rows()


def test_there_are_enough_tasks_and_a_third_is_held_out() -> None:
    tasks = read_tasks()
    assert [task.number for task in tasks] == list(range(1, len(tasks) + 1))
    assert len({task.text for task in tasks}) == len(tasks) >= 120
    assert sum(task.is_held_out for task in tasks) == len(tasks) // 3


def test_right_rows_are_two_to_eight_written_by_hand_of_several_nouns() -> None:
    nouns = {row.id: row.noun for row in written_rows()}
    for task in read_tasks():
        assert 2 <= len(task.right) == len(set(task.right)) <= 8
        assert set(task.right) <= nouns.keys()
    assert sum(len({nouns[row_id] for row_id in task.right}) > 1 for task in read_tasks()) > 120


def test_most_tasks_use_other_words_than_their_rows() -> None:
    rows = {row.id: row for row in written_rows()}
    paraphrased = [task for task in read_tasks() if _shared(task, rows) <= FEW]
    assert len(paraphrased) >= len(read_tasks()) / 2


def test_some_tasks_name_paths_and_some_are_chinese_or_german() -> None:
    texts = [task.text for task in read_tasks()]
    assert len(texts) / 4 < sum(bool(PATH.search(text)) for text in texts) < len(texts) / 2
    assert sum(bool(CHINESE.search(text)) for text in texts) >= 5
    assert sum(bool(GERMAN.search(text)) for text in texts) >= 5


def test_no_text_and_no_key_comes_twice() -> None:
    rows = read_rows()
    texts = Counter((row.noun, row.title, row.text) for row in rows)
    keys = Counter(row.title for row in rows if row.noun is Noun.DECISION)
    assert texts.most_common(1)[0][1] == keys.most_common(1)[0][1] == 1


def test_a_cause_is_written_before_its_effect() -> None:
    written: set[str] = set()
    for _, row in moments_of(read_rows()):
        assert not row.cause or row.cause in written
        written.add(row.id)


def test_the_newest_rows_are_not_the_right_ones() -> None:
    """Of the nouns that do not expire, right rows are as old as the others."""
    right = {row_id for task in read_tasks() for row_id in task.right}
    lasting = [(NOW - at, row.id in right) for at, row in moments_of(read_rows()) if row.noun not in AGES]
    ages = {wanted: [age.days for age, is_right in lasting if is_right is wanted] for wanted in (True, False)}
    means = {wanted: sum(days) / len(days) for wanted, days in ages.items()}
    assert abs(means[True] - means[False]) < 5


def _shared(task: Task, rows: dict[str, TaskRow]) -> float:
    """The share of the task's words that are in the texts of its right rows."""
    asked = _stems(task.text)
    texts = (rows[row_id] for row_id in task.right)
    said = _stems(" ".join(" ".join((r.title, r.text, r.rationale, *r.tags, *r.paths)) for r in texts))
    return len(asked & said) / len(asked)


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in WORD.findall(text.casefold())}
