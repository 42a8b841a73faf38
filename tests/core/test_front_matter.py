"""Front matter of notes is left out of what is derived from them, and nothing else is taken for it."""

import time

import pytest

from ctxhub.core.text.front_matter import title_in_front_matter, without_front_matter
from memory.memories.rows import digest_of
from memory.snapshots.inputs import summary_of
from tests.hub import McpClient

NOTE = """---
title: "Payment retries"
type: decision
tags: [billing]
aliases:
  - retries
# by hand
---

# Payment retries

Retry payments three times with backoff, because the gateway loses one call in fifty.
"""


@pytest.mark.parametrize("note", [NOTE, f"\ufeff{NOTE}", NOTE.replace("\n", "\r\n"), f"\n\n{NOTE}"])
def test_a_yaml_header_is_front_matter(note: str) -> None:
    assert without_front_matter(note).strip().startswith("# Payment retries")
    assert title_in_front_matter(note) == "Payment retries"
    assert digest_of("retries", note).startswith("Retry payments three times with backoff")
    assert "title" not in summary_of(note)


def test_a_toml_header_is_front_matter() -> None:
    note = '+++\ntitle = "Retries"\n[extra]\nx = 1\n+++\nText.'
    assert (title_in_front_matter(note), without_front_matter(note)) == ("Retries", "Text.")


@pytest.mark.parametrize(
    "text",
    [
        "---\nWe decided to retry.\n---\nBecause.",
        "---\n\n---\nA rule above and below nothing.",
        "---\ntitle: never closed\n\nText.",
        "Text first.\n---\ntitle: x\n---\n",
        "----\ntitle: x\n----\nText",
        "---\ntitle: x\nThis line is prose.\n---\nText",
        "---\n- a list\n- in rules\n---\nText",
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-title: x\n+title: y\n",
        "",
    ],
)
def test_other_texts_have_none(text: str) -> None:
    assert without_front_matter(text) == text
    assert title_in_front_matter(text) == ""


def test_a_note_of_front_matter_alone_keeps_it() -> None:
    note = "---\ntitle: x\n---\n\n"
    assert without_front_matter(note) == note
    assert digest_of("only fields", note) != ""


def test_a_long_text_costs_little() -> None:
    began = time.process_time()
    for text in (
        "---\n" + "a: b\n" * 200_000,
        "---\n" * 250_000,
        "---" + " " * 1_000_000,
        "---\n" + " " * 10**6,
    ):
        without_front_matter(text)
    assert time.process_time() - began < 1


def test_the_digest_and_the_title_are_of_the_text(ada_mcp: McpClient) -> None:
    added = ada_mcp.call("memory", action="add", title="retries", content=NOTE)
    got = ada_mcp.call("memory", action="get", id=added["id"])
    assert got["content"] == NOTE
    [row] = ada_mcp.call("memory", action="list", format="objects")["items"]
    assert row["digest"].startswith("Retry payments three times with backoff")
    content = (
        "---\ntitle: Payment retries\n---\n\nWe decided to retry payments three times with backoff in "
        "`billing/api.py`, because 2 percent of webhooks are lost."
    )
    captured = ada_mcp.call("memory", action="capture", content=content, dry_run=True)
    assert captured["title"] == "Payment retries"
