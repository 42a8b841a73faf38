"""What Discord's webhooks take."""

import re
from typing import Any

from ctxhub.core.webhooks.shapes.sentences import Sentence

LONGEST = 2_000  # Libraries differ in what Discord counts: units of UTF-16 are the most.
SUPPRESS_EMBEDS = 4
_MARKUP = re.compile(r"([\\*_~`|>#\[\]()<:@-])")


def message(sentence: Sentence) -> dict[str, Any]:
    """The link in angle brackets shows no preview; nobody is mentioned."""
    name = _escaped(sentence.name)
    shown = f"[{name}](<{sentence.link}>)" if sentence.link else f"**{name}**"
    content = f"{_escaped(sentence.before)}{shown}{_escaped(sentence.after)}"
    return {
        "content": _cut(content),
        "flags": SUPPRESS_EMBEDS,
        "allowed_mentions": {"parse": []},
    }


def _cut(content: str) -> str:
    units = content.encode("utf-16-le", errors="replace")
    if len(units) <= 2 * LONGEST:
        return content
    kept = units[: 2 * (LONGEST - 1)].decode("utf-16-le", errors="ignore")
    return f"{kept.rstrip(chr(92))}…"


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)
