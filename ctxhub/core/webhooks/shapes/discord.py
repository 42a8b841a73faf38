"""What Discord's webhooks take."""

import re
from typing import Any

from ctxhub.core.webhooks.shapes.sentences import Sentence

LONGEST = 2_000
SUPPRESS_EMBEDS = 4
_MARKUP = re.compile(r"([\\*_~`|>#\[\]()<:@-])")


def message(sentence: Sentence) -> dict[str, Any]:
    """The link in angle brackets shows no preview; nobody is mentioned."""
    name = _escaped(sentence.name)
    shown = f"[{name}](<{sentence.link}>)" if sentence.link else f"**{name}**"
    content = f"{_escaped(sentence.before)}{shown}{_escaped(sentence.after)}"
    return {
        "content": content if len(content) <= LONGEST else f"{content[: LONGEST - 1].rstrip(chr(92))}…",
        "flags": SUPPRESS_EMBEDS,
        "allowed_mentions": {"parse": []},
    }


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)
