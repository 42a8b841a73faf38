"""What workflows of Microsoft Teams take that post "when a webhook request is received": adaptive cards."""

from typing import Any

from ctxhub.core.webhooks.shapes.sentences import Sentence

CARD = "application/vnd.microsoft.card.adaptive"
SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"


def message(sentence: Sentence) -> dict[str, Any]:
    """In runs of text, in which nothing is markup."""
    name: dict[str, Any] = {"type": "TextRun", "text": sentence.name, "weight": "Bolder"}
    if sentence.link:
        name["selectAction"] = {"type": "Action.OpenUrl", "url": sentence.link}
    inlines = [
        {"type": "TextRun", "text": sentence.before},
        name,
        {"type": "TextRun", "text": sentence.after},
    ]
    card = {
        "$schema": SCHEMA,
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "RichTextBlock", "inlines": [run for run in inlines if run["text"]]}],
    }
    return {
        "type": "message",
        "attachments": [{"contentType": CARD, "contentUrl": None, "content": card}],
    }
