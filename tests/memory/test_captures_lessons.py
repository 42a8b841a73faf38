"""Captures of facts about environments and of remedies, beside chatter of the same form."""

import pytest

from ctxhub.core.search.similarity import Rarity
from memory.capture.patterns import find_pattern
from memory.capture.scores import SAVED_ABOVE, parts_of
from tests.hub import McpClient, RestClient

NEW_PROJECT = Rarity.of_texts([])

LESSONS = [
    "The staging database is reset every night at 2 o'clock.",
    "Preview deployments are deleted every Sunday, with their volumes.",
    "The shared Redis of the test cluster gets flushed each morning.",
    "CI runners are recycled after every job: nothing in /tmp stays.",
    "The demo tenant is restored from a dump on Mondays at 04:00 UTC.",
    "Access tokens of the sandbox are revoked nightly by a cron job.",
    "La base de test est réinitialisée chaque nuit à deux heures.",
    "Die Testdatenbank wird jede Nacht um zwei Uhr zurückgesetzt.",
    "測試資料庫每晚兩點會重置，帳號要重新建立。",
    "To fix ECONNRESET set keepAliveTimeout to 65 seconds.",
    "To avoid EMFILE in the watcher raise the limit with ulimit -n 8192.",
    "To get rid of the ModuleNotFoundError install the package with -e .",
    "For HTTP 429 of the geocoder wait as long as Retry-After says, then send it again.",
]
CHATTER = [
    "The kitchen is cleaned every night, please leave nothing there.",
    "I am reset every morning by two cups of coffee, as you know.",
    "Stand-up is every morning at ten, in the small room on the left.",
    "We go climbing every week, and everybody is welcome to join us.",
    "To stop for today: see you all tomorrow at the usual place!",
    "The office is open every day but Sunday, from eight in the morning.",
    "To fix the date of the party we meet on Friday after work.",
    "Ich gehe jede Woche schwimmen, wer kommt am Donnerstag mit?",
]


@pytest.mark.parametrize("text", LESSONS)
def test_facts_of_environments_and_remedies_are_lessons(text: str) -> None:
    pattern = find_pattern(text)
    assert pattern.name == "lesson"
    assert parts_of(text, pattern, 0.0, NEW_PROJECT).confidence > SAVED_ABOVE


@pytest.mark.parametrize("text", CHATTER)
def test_chatter_of_the_same_form_is_no_lesson(text: str) -> None:
    assert find_pattern(text).name != "lesson"


def test_capture_keeps_them_over_mcp_and_rest(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    answer = ada_mcp.call("memory", "capture", content=LESSONS[0])
    assert (answer["saved"], answer["parts"]["pattern"]) == (True, 0.9)
    over_rest = ada_rest.post("memories/capture/", {"content": LESSONS[9]})
    assert (over_rest.status, over_rest.body["saved"]) == (201, True)
    assert not ada_mcp.call("memory", "capture", content=CHATTER[0])["saved"]
