"""Formulas of capture: patterns, titles, types and scores, against values calculated by hand."""

import pytest

from ctxhub.core.search.analyser import analyse
from ctxhub.core.search.similarity import Rarity
from memory.capture.patterns import find_pattern, find_title, type_of
from memory.capture.scores import (
    Parts,
    containment,
    parts_of,
    quality_of,
    specificity_of,
    structure_of,
    words_in_order,
)
from memory.capture.titles import title_of
from memory.models import MemoryType
from tests.timing import within_cpu_seconds

REST = " It matters to everybody who puts the service into production."
EMPTY = Rarity.of_texts([])


@pytest.mark.parametrize(
    ("text", "name", "score"),
    [
        ("A workflow is a named group of scratchpads." + REST, "definition", 0.8),
        ("**Workflow** means a named group of scratchpads." + REST, "definition", 0.8),
        ("Un workflow est un groupe de blocs-notes qui vont ensemble." + REST, "definition", 0.8),
        ("Eine Schicht ist ein Teil des Systems, der für sich steht." + REST, "definition", 0.8),
        (
            "工作流程是指一組同名的便箋,它們屬於同一個任務,並且在七天之後會被自動清除,除非有人說要保留它們才行喔。",
            "definition",
            0.8,
        ),
        ("TODO: write the migration." + REST, "task", 0.85),
        ("- [ ] rename the table of contexts" + REST, "task", 0.85),
        ("À faire : corriger la recherche floue." + REST, "task", 0.85),
        ("Implement the second engine." + REST, "task", 0.85),
        ("def handler(request):\n    return Response(status=200)\n# and so on for all of them", "code", 0.9),
        ("How it is called:\n```\nrun --all\n```\nand then it waits for the database.", "code", 0.9),
        ("SELECT id FROM memory_memory WHERE project_id = 1 ORDER BY id LIMIT 10", "code", 0.9),
        ("Decision: PostgreSQL for teams." + REST, "decision", 0.75),
        ("We decided to use SQLite by default." + REST, "decision", 0.75),
        ("On a choisi PostgreSQL pour les équipes." + REST, "decision", 0.75),
        ("Wir haben uns für PostgreSQL entschieden." + REST, "decision", 0.75),
        (
            "決定：團隊使用 PostgreSQL" + "，因為同時寫入的人很多" * 4,
            "decision",
            0.75,
        ),
        ("- the first thing\n- the second thing\n- the third thing of all", "list", 0.6),
        ("1. the first thing\n2. the second thing\n3. the third thing of all", "list", 0.6),
        ("Idea: keep the answers for a minute." + REST, "idea", 0.7),
        ("What if the index were kept in memory?" + REST, "idea", 0.7),
        ("Et si on gardait les réponses une minute ?" + REST, "idea", 0.7),
        ("Nothing in it stands out, " * 9, "plain", 0.4),
        ("Nothing in it stands out, and it is not even long enough." + REST, "none", 0.0),
        ("This is a remark about something that was said before." + REST, "none", 0.0),
        ("From now on the class starts at nine, import duties and all." + REST, "none", 0.0),
        ("- only one thing\n- and a second one, which is not a list yet", "none", 0.0),
        ("TODO: too short", "none", 0.0),
    ],
)
def test_the_first_pattern_wins(text: str, name: str, score: float) -> None:
    pattern = find_pattern(text)
    assert (pattern.name, pattern.score) == (name, score)


def test_a_definition_comes_before_a_task_and_a_task_before_code() -> None:
    assert find_pattern("A pad is a text.\nTODO: say so.\n```\ncode\n```" + REST).name == "definition"
    assert find_pattern("TODO: say so.\n```\ncode\n```" + REST).name == "task"


@pytest.mark.parametrize(
    ("text", "memory_type"),
    [
        ("```\nTODO: this\n```", MemoryType.SNIPPET),
        ("function f() { return 1; }", MemoryType.SNIPPET),
        ("- [x] done with it, see https://example.org", MemoryType.TASK),
        ("Fix the login page", MemoryType.TASK),
        ("user: where is it?\nassistant: see https://example.org", MemoryType.CONVERSATION),
        ("使用者：在哪裡?\n助理：在這裡。", MemoryType.CONVERSATION),
        ("Idea: read https://example.org", MemoryType.REFERENCE),
        ("See also the chapter on indexes.", MemoryType.REFERENCE),
        ("What if we kept it?", MemoryType.IDEA),
        ("We keep it.", MemoryType.NOTE),
    ],
)
def test_the_first_matching_type_wins(text: str, memory_type: MemoryType) -> None:
    assert type_of(text) == memory_type


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("TODO: write the migration. Before Monday." + REST, "write the migration"),
        ("A workflow is a named group of scratchpads." + REST, "A workflow"),
        ("Decision: PostgreSQL for teams!\n" + REST, "PostgreSQL for teams!"),
        ("Some words.\n\n## How sessions are kept\n\nIn a table." + REST, "How sessions are kept"),
        ("Some words, and **Sessions live in a table** among them." + REST, "Sessions live in a table"),
        ("A first line that is short\nand a second." + REST, "A first line that is short"),
        ("x\n" + "word " * 30, "x word word word word word word word"),
        ("incomprehensibilities " * 12, "incomprehensibilities incomprehensibilities…"),
        ("### \n\n***", "Untitled"),
    ],
)
def test_a_title_is_found(text: str, title: str) -> None:
    assert find_title(text, find_pattern(text)) == title


def test_a_title_has_five_to_a_hundred_characters() -> None:
    assert title_of("# Pad\n\nWhat a pad is.") == "What a pad is"
    assert title_of("# " + "a" * 100) == "a" * 100


# -- Scores ----------------------------------------------------------------------------------------


def test_the_confidence_is_the_weighted_sum() -> None:
    assert Parts(1, 1, 1, 1).confidence == 1.0
    assert Parts(0.75, 1.0, 0.5, 0.8).confidence == pytest.approx(0.2625 + 0.25 + 0.125 + 0.12)
    assert Parts(0.0, 1.0, 1.0, 1.0).confidence == 0.65  # Without a pattern no text exceeds SAVED_ABOVE.


def test_uniqueness_is_one_minus_the_highest_similarity() -> None:
    assert parts_of("x", find_pattern("x"), 0.3, EMPTY).uniqueness == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("plain words alone", 0),
        ("a `quoted` word", 1),
        ("the file src/app/main of it", 1),
        ("the file settings.py of it", 1),
        ("this and/or that", 0),
        ("about 5 of them", 1),
        ("the name getUser of it", 1),
        ("the name user_name of it", 1),
        ("the name JWT of it", 1),
        ("`x` in src/a/b5 by JWT", 4),
    ],
)
def test_each_kind_of_specific_detail_adds_a_quarter(text: str, hits: int) -> None:
    known = Rarity.of_texts(["already " + " ".join(analyse(text))] * 100)
    assert specificity_of(text, known) == pytest.approx(hits / 4)


def test_rare_words_count_less_in_a_project_with_few_memories() -> None:
    """Two of four words are new: 2 / 4 with 100 memories, 0.75 of it with 50. With none all are new."""
    words = "alpha beta gamma delta"
    for total, expected in ((100, 0.5), (50, 0.375)):
        assert specificity_of(words, Rarity.of_texts(["alpha beta"] * total)) == pytest.approx(expected)
    assert specificity_of(words, EMPTY) == 0.5


def test_a_word_in_one_of_a_hundred_memories_is_rare() -> None:
    rarity = Rarity.of_texts(["alpha"] + ["beta"] * 99)
    assert specificity_of("alpha beta", rarity) == 0.5


@pytest.mark.parametrize(
    ("text", "structure"),
    [
        ("one line", 0.0),
        ("One sentence.", 0.0),
        ("One sentence. Another one.", 0.5),
        ("one line\nanother", 0.5),
        ("第一句。第二句。", 0.5),
        ("a paragraph\n\nanother", 1.0),
        ("# Heading", 1.0),
        ("- a\n- b\n- c", 1.0),
        ("```\ncode\n```", 1.0),
    ],
)
def test_structure_by_sentences_lines_and_markup(text: str, structure: float) -> None:
    assert structure_of(text) == structure


@pytest.mark.parametrize(
    ("length", "quality"), [(50, 0.3), (100, 0.6), (4_000, 0.6), (8_000, 0.3), (40_000, 0.06)]
)
def test_the_length_makes_up_six_tenths_of_the_quality(length: int, quality: float) -> None:
    assert quality_of("x" * length) == pytest.approx(quality)
    if length == 100:
        assert quality_of("x" * 49 + "\n\n" + "x" * 49) == pytest.approx(1.0)


# -- Containment -----------------------------------------------------------------------------------


def test_an_excerpt_is_contained_in_the_longer_text() -> None:
    words = words_in_order("keep the answers in redis for five minutes")
    assert containment(words, ["before that: keep the answer in redi for five minut and so on"]) == 1.0
    assert containment(words, ["minut five for redi in answer the keep"]) == 0.0
    assert containment(words, []) == 0.0


def test_a_changed_word_changes_only_the_windows_of_four_with_it() -> None:
    """Eight words have five windows; the last word is in one of them."""
    words = words_in_order("keep the answers in redis for five minutes")
    assert containment(words, ["keep the answer in redi for five hour"]) == pytest.approx(4 / 5)


def test_several_passages_together_contain_a_text() -> None:
    words = words_in_order("a1 b2 c3 d4 e5 f6")
    assert containment(words, ["a1 b2 c3 d4 e5", "c3 d4 e5 f6"]) == 1.0


def test_fewer_than_four_words_are_searched_as_a_phrase() -> None:
    assert containment(["redi", "cach"], ["a redi cach b"]) == 1.0
    assert containment([], ["a"]) == 0.0


@pytest.mark.parametrize(
    "text", ["a " * 300_000, "-" * 500_000, "a is " * 200_000, "`" * 500_000, "a/" * 300_000, "**" * 300_000]
)
def test_long_repetitive_texts_are_analysed_within_two_seconds(text: str) -> None:
    with within_cpu_seconds(2):
        pattern = find_pattern(text)
        find_title(text, pattern)
        type_of(text)
        quality_of(text)
        specificity_of(text, EMPTY)
