"""What to know before an edit, within a budget of tokens."""

from __future__ import annotations

import re

from ctxhub_client.texts import NOTE, one_line
from ctxhub_client.values import rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json

CHECK_TOKENS = 300

# Letters of scripts whose tokens are longer than most: Latin, Greek to Arabic, Chinese, Japanese, Korean.
COMMON = re.compile("[\u0080-\u017f\u0370-\u06ff\u3000-\ud7ff]")


def check_text(paths: list[str], leases: list[Json], check: Json) -> str:
    """What to know before an edit, in at most 300 tokens; "" if there is nothing."""
    sections = ("leases", "constraints", "decisions", "changes")
    rows = [row for name in sections for row in rows_of(check.get(name))]
    lines = [check_line(row) for row in (rows or leases)]
    if not lines:
        return ""
    shown = ["{}\nBefore you edit {}:".format(NOTE, one_line(", ".join(paths[:3])))]
    for count, line in enumerate(lines):
        more = "({} more: `check`)".format(len(lines) - count)
        if estimate_tokens("\n".join([*shown, line, more])) > CHECK_TOKENS:
            return "\n".join([*shown, more])
        shown.append(line)
    return "\n".join(shown)


def check_line(row: Json) -> str:
    values = (one_line(row.get(name) or "", 240) for name in ("ref", "text", "by", "why"))
    return "- {}: {} ({}, {})".format(*values)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few."""
    count = 0
    for word, digits, space, other in re.findall(r"([A-Za-z]+)|([0-9]+)|(\s+)|(.)", text, re.DOTALL):
        if word:
            count += 1 + len(word) // 5
        elif digits:
            count += (len(digits) + 2) // 3
        elif space:
            count += 0 if space == " " else 1
        else:
            count += max(1, len(other.encode("utf-8", "replace")) - bool(COMMON.match(other)))
    return count
