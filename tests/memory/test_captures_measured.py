"""Capture, measured on 140 lessons and 140 pieces of chatter in seven languages.

The texts are in the folder `captured`, one per line. The patterns were developed on the first 100 of each
kind. The held-out texts were written before the patterns and not looked at: their results estimate how
capture works on unknown texts.
"""

from pathlib import Path

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.search.similarity import Rarity
from memory.capture.lessons import is_chatter, is_lesson
from memory.capture.patterns import find_pattern, is_short
from memory.capture.scores import SAVED_ABOVE, Parts, parts_of
from memory.capture.services import capture
from memory.models import Memory
from tests.hub import McpClient, RestClient

pytestmark = pytest.mark.one_engine


def read(name: str) -> list[str]:
    return (Path(__file__).parent / "captured" / f"{name}.txt").read_text("utf-8").splitlines()


LESSONS, CHATTER = read("lessons"), read("chatter")
HELD_OUT_LESSONS, HELD_OUT_CHATTER = read("held_lessons"), read("held_chatter")
NEW_PROJECT = Rarity.of_texts([])
# In this project every word of the texts occurs in an earlier memory.
OLD_PROJECT = Rarity.of_texts(LESSONS + CHATTER + HELD_OUT_LESSONS + HELD_OUT_CHATTER)

every_project = pytest.mark.parametrize("rarity", [NEW_PROJECT, OLD_PROJECT], ids=["new", "old"])


def saved_texts(texts: list[str], rarity: Rarity, highest_similarity: float = 0.0) -> list[str]:
    parts = {text: parts_of(text, find_pattern(text), highest_similarity, rarity) for text in texts}
    return [text for text in texts if parts[text].confidence > SAVED_ABOVE]


def test_the_samples_have_the_expected_sizes_and_do_not_overlap() -> None:
    assert [len({*texts}) for texts in (LESSONS, CHATTER)] == [100, 100]
    assert [len({*texts}) for texts in (HELD_OUT_LESSONS, HELD_OUT_CHATTER)] == [40, 40]
    assert not {*LESSONS, *CHATTER} & {*HELD_OUT_LESSONS, *HELD_OUT_CHATTER}


@every_project
def test_nine_of_ten_lessons_are_saved_and_no_chatter(rarity: Rarity) -> None:
    assert len(saved_texts(LESSONS, rarity)) >= 93
    assert saved_texts(CHATTER, rarity) == []


@every_project
def test_held_out_texts_are_saved_at_nearly_the_same_rate(rarity: Rarity) -> None:
    assert len(saved_texts(HELD_OUT_LESSONS, rarity)) >= 34
    assert len(saved_texts(HELD_OUT_CHATTER, rarity)) <= 1


@every_project
def test_lessons_are_saved_beside_a_slightly_similar_memory(rarity: Rarity) -> None:
    assert len(saved_texts(LESSONS, rarity, highest_similarity=0.15)) >= 90


def test_the_lesson_pattern_matches_lessons_and_no_chatter() -> None:
    assert {find_pattern(text).name for text in CHATTER} <= {"none", "plain"}
    assert sum(find_pattern(text).name == "lesson" for text in LESSONS) >= 90


# -- Single texts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts", "confidence"),
    [
        # 36 characters: quality 0.6 * 0.36. All words are new.
        ("pytest hangs when X is set; unset it", Parts(0.9, 1.0, 0.5, 0.216), 0.7224),
        # 76 characters, with an identifier.
        (
            "always run make migrate before the worker starts, or READY_CHECK fails twice",
            Parts(0.9, 1.0, 0.75, 0.456),
            0.8209,
        ),
        # 23 Chinese characters count twice for the least length, but not for the quality.
        ("部署前一定要先跑遷移,不然第一個任務就會失敗。", Parts(0.9, 1.0, 0.5, 0.138), 0.7107),
        # The speaker's own plans.
        (
            "I'll run the migration before lunch, after I have had a look at it",
            Parts(0.0, 1.0, 0.5, 0.396),
            0.4344,
        ),
    ],
)
def test_the_confidence_of_a_lesson(text: str, parts: Parts, confidence: float) -> None:
    found = parts_of(text, find_pattern(text), 0.0, NEW_PROJECT)

    assert (found.pattern, found.uniqueness) == (parts.pattern, parts.uniqueness)
    assert (found.specificity, found.quality) == pytest.approx((parts.specificity, parts.quality))
    assert found.confidence == pytest.approx(confidence, abs=0.0002)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("The job fails when the disk is full.", True),  # Problem and condition.
        ("Restart the worker after every change.", True),  # Advice and condition.
        ("Never use it: the cache is stale.", True),  # Advice and problem.
        ("To rebuild the client run make client after every change of the schema.", True),
        ("Setting WORKERS=1 stops the build from running out of memory.", True),
        ("asyncpg needs statement_cache_size=0 behind the pooler.", True),
        ("On Windows the tests need autocrlf=false, else the golden files differ.", True),
        ("Use `npm ci` here: `npm install` rewrites the lock file.", True),
        ("On Windows it is green.", False),
        ("Using it now.", False),
        ("The worker fails. Restart it.", True),  # Two sentences.
        ("The worker fails.\nRestart it.", False),  # Two lines.
        ("The worker fails. It is red. Restart it.", False),  # Too far apart.
        ("The worker fails.", False),
        ("My worker fails after a restart.", False),  # About the speaker, two of three.
        ("My worker fails after a restart: always wait for a minute.", True),  # All three of them.
        (f"The job fails {'and fails ' * 60} when the disk is full.", False),  # Too long for a sentence.
    ],
)
def test_a_lesson_has_two_of_problem_advice_and_condition(text: str, is_one: bool) -> None:
    assert is_lesson(text) is is_one


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("I think so.", True),
        ("I/O is slow.", False),
        ("Thanks!", True),
        ("Is it?", True),
        ("It is: https://example.org/?a=b", False),
        ("Hello, how are things.", True),
        ("It says hello world.", False),
        ("我先看一下。", True),
        ("我們用這個。", False),
        ("Je regarde.", True),
        ("Ich sehe nach.", True),
    ],
)
def test_chatter_is_about_the_speakers(text: str, is_one: bool) -> None:
    assert is_chatter(text) is is_one


def test_a_chinese_character_counts_twice_for_the_least_length() -> None:
    assert is_short("a" * 49)
    assert not is_short("a" * 50)
    assert is_short("字" * 24)
    assert not is_short("字" * 25)
    assert is_short("한" * 24)


# -- Through the service, MCP and REST -------------------------------------------------------------


def test_a_lesson_is_saved_once(ada: Caller, ben: Caller, apollo: Project) -> None:
    first = capture(caller=ada, content=LESSONS[1])
    again = capture(caller=ben, content=LESSONS[1])

    assert (first["saved"], again["saved"], again["duplicate_of"]) == (True, False, f"memory:{first['id']}")
    assert Memory.objects.in_project(apollo).count() == 1


def test_lessons_are_saved_one_after_another(ada: Caller, apollo: Project) -> None:
    """Lessons are saved even when earlier memories of the project use the same words."""
    answers = [capture(caller=ada, content=text) for text in (*LESSONS, *CHATTER)]

    saved = [answer["saved"] for answer in answers]
    assert sum(saved[:100]) >= 90
    assert sum(saved[100:]) == 0
    assert Memory.objects.in_project(apollo).count() == sum(saved)


@pytest.mark.parametrize("index", range(0, 100, 11))
def test_mcp_and_rest_give_the_same_answer(ada_mcp: McpClient, ada_rest: RestClient, index: int) -> None:
    for text, is_saved in ((LESSONS[index], True), (CHATTER[index], False)):
        arguments = {"content": text, "dry_run": True}
        answer = ada_mcp.call("memory", "capture", **arguments)
        reply = ada_rest.post("memories/capture/", arguments)

        assert (reply.status, reply.body) == (200, answer)
        assert set(answer["parts"]) == {"pattern", "uniqueness", "specificity", "quality"}
        assert (answer["confidence"] > SAVED_ABOVE) is is_saved
        assert ("reason" in answer) is not is_saved
        assert (answer["parts"]["pattern"] == 0.9) is is_saved
