"""What Slack's incoming webhooks take."""

from typing import Any

from ctxhub.core.webhooks.shapes.sentences import Sentence


def message(sentence: Sentence) -> dict[str, Any]:
    name = _escaped(sentence.name)
    shown = f"<{sentence.link}|{name.replace('|', '¦')}>" if sentence.link else name
    text = f"{_escaped(sentence.before)}{shown}{_escaped(sentence.after)}"
    return {"text": text, "unfurl_links": False, "unfurl_media": False}


def _escaped(text: str) -> str:
    """Without them nobody is mentioned (`<!channel>`), and nothing is a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
