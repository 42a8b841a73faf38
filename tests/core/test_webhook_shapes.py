"""What people read in a chat, and what the chats are sent."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import Settings

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event
from ctxhub.core.webhooks.letters import Letter, Summary, letter_of
from ctxhub.core.webhooks.models import WebhookKind
from ctxhub.core.webhooks.shapes import body_of, sentence_of
from ctxhub.core.webhooks.sql import read_event
from memory.decisions.services import set_decision

AT = datetime(2026, 11, 23, 12, tzinfo=UTC)
LINK = "https://hub.example.com/admin/core/event/7/open/"


def letter(noun: str, verb: str, ref: str, data: Mapping[str, Any], **rest: Any) -> Letter:
    return Letter(
        **{"id": "e7", "at": AT, "project": "apollo", "agent": "ada", "note": "", "link": LINK, **rest},
        noun=noun,
        verb=verb,
        ref=ref,
        data=data,
    )


def said(each: Letter | Summary) -> str:
    sentence = sentence_of(each)
    return f"{sentence.before}{sentence.name}{sentence.after}"


def body(kind: WebhookKind, each: Letter | Summary) -> Any:
    return json.loads(body_of(kind, each))


CHANGED = {"was": "1.0.0", "version": "1.1.0", "changed": ["value"]}
SENT = {"to": ["ben"], "priority": "high", "note": "The tests\nfail."}


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (
            letter(
                "decision",
                "updated",
                "decision:api/auth",
                {"was": "1.0.0", "version": "1.1.0", "changed": ["value"]},
            ),
            "ada set decision api/auth to version 1.1.0: value · apollo",
        ),
        (letter("decision", "created", "decision:x", {"version": "1.0.0"}), "ada set decision x · apollo"),
        (
            letter(
                "message",
                "sent",
                "message:9",
                {"to": ["ben"], "priority": "high", "note": "The tests\nfail."},
            ),
            "ada sent message 9 to ben (high): The tests fail. · apollo",
        ),
        (
            letter(
                "message",
                "escalated",
                "message:9",
                {"to": ["ada"], "priority": "low", "note": "not read by ben"},
            ),
            "message 9 waits for somebody: not read by ben · apollo",
        ),
        (letter("change", "modified", "change:4", {}), "ada changed file change 4 · apollo"),
        (
            letter("hub", "switched_off", "webhook:3", {"note": "slack: 20 tries in a row failed"}),
            "webhook 3 was switched off: slack: 20 tries in a row failed · apollo",
        ),
        (
            letter("decision", "deleted", "decision:x", {}, is_again=True),
            "Sent again: ada deleted decision x · apollo",
        ),
        (letter("hub", "tested", "webhook:3", {}), "A test: apollo reaches you here."),
        (
            letter("lease", "force_released", "lease:3", {}),
            "ada released by force lease 3 · apollo",
        ),
    ],
)
def test_an_event_is_a_sentence(event: Letter, sentence: str) -> None:
    assert said(event) == sentence


def test_many_events_are_one_sentence() -> None:
    counts = {("change", "modified"): 900, ("decision", "created"): 1, ("change", "created"): 100}
    summary = Summary("e9", AT, "apollo", 1_001, counts, LINK)
    assert said(summary) == (
        "1,001 events since 2026-11-23T12:00:00Z: 1,000 file changes, 1 decision · apollo"
    )


HOSTILE = letter("decision", "created", "decision:<!channel>|[x](y)", {}, agent="*@everyone* <@U1> & `a`")


def test_slack_links_and_escapes() -> None:
    assert body(WebhookKind.SLACK, letter("decision", "created", "decision:a", {})) == {
        "text": f"ada set <{LINK}|decision a> · apollo",
        "unfurl_links": False,
        "unfurl_media": False,
    }
    text = body(WebhookKind.SLACK, HOSTILE)["text"]
    assert "<!channel" not in text
    assert "<@U1>" not in text
    assert text.count("|") == 1
    assert "&amp;" in text


def test_discord_mentions_nobody_and_escapes() -> None:
    sent = body(WebhookKind.DISCORD, HOSTILE)
    assert sent["allowed_mentions"] == {"parse": []}
    assert r"\*\@everyone\* \<\@U1\> & \`a\`" in sent["content"]
    assert f"](<{LINK}>)" in sent["content"]
    assert "](y" not in sent["content"].replace(r"\]\(y", "")


@pytest.mark.parametrize("character", ["*", "&", "😀", "a"])
def test_chats_take_the_longest_sentences(character: str) -> None:
    data = {"to": [character * 100] * 9, "priority": "high", "note": character * 5_000}
    long = letter("message", "sent", "message:" + character * 1_000, data, agent=character * 1_000)
    units = body(WebhookKind.DISCORD, long)["content"].encode("utf-16-le")
    assert 2_000 < len(units) <= 2 * 2_000
    assert 1_000 < len(body(WebhookKind.SLACK, long)["text"]) <= 40_000
    assert 1_000 < len(body_of(WebhookKind.TEAMS, long)) <= 28 * 1_024


def test_teams_gets_a_card_of_plain_runs() -> None:
    sent = body(WebhookKind.TEAMS, letter("decision", "created", "decision:a", {"version": "1.0.0"}))
    [attachment] = sent["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    [block] = attachment["content"]["body"]
    assert [run["text"] for run in block["inlines"]] == ["ada set ", "decision a", " · apollo"]
    assert block["inlines"][1]["selectAction"] == {"type": "Action.OpenUrl", "url": LINK}


@pytest.mark.parametrize("kind", [WebhookKind.SLACK, WebhookKind.TEAMS, WebhookKind.DISCORD])
def test_without_a_link_the_name_is_told(kind: WebhookKind) -> None:
    plain = json.dumps(body(kind, letter("decision", "created", "decision:abc", {}, link="")))
    assert "decision abc" in plain
    assert "http://127" not in plain


def test_the_link_opens_the_object_where_the_address_of_the_hub_is_known(
    ada: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_decision(caller=ada, key="a", value="x")
    row = Event.objects.in_project(ada.project).get()
    event = read_event(ada.project_id, row.pk)
    assert event
    assert letter_of(event, "apollo").link == ""
    monkeypatch.setenv("CTXHUB_BASE_URL", "https://hub.example.com")
    settings.BASE_URL = "https://hub.example.com"
    assert letter_of(event, "apollo").link == f"https://hub.example.com/admin/core/event/{row.pk}/open/"
