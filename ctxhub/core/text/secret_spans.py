"""Finds where a credential begins and ends: what identifies one is often only its beginning."""

import re
import string

from ctxhub.core.text.lazy_patterns import lazy_pattern

PRIVATE_KEY, ASSIGNED, TELEGRAM = "private key", "assigned secret", "Telegram bot token"

# What may follow the part of a credential that identifies it, by kind. A key ends in letters and digits.
REST = {
    "JSON Web Token": r"[\w-]*+(?:\.[\w-]{16,}+){0,2}",
    "Slack webhook": r"\w*+",
    "bearer token": r"[\w.~+/=-]*+",
    # These match to their ends.
    **dict.fromkeys(
        (
            "AWS access key",
            "Twilio key",
            "Databricks token",
            "Azure storage key",
            "password in a URL",
            "login of HTTP Basic",
        ),
        "",
    ),
}
RESTS = {kind: lazy_pattern(rest, re.ASCII) for kind, rest in REST.items()}
REST_OF_KEY = lazy_pattern(r"[\w-]*+", re.ASCII)

# The rest of a value, up to the next parameter in an address; not the punctuation of a sentence.
REST_OF_VALUE = lazy_pattern(
    r"(?:(?!&[\w.-]{1,60}=)[^\s\"'`\\,;()\[\]{}<>\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
    r"\u201c\u201d\u2019\u00bb])*+"
)
REST_OF_QUOTED = lazy_pattern(r"[^\s\"'`\\]*+")
PUNCTUATION = ".,:;?*"

LONGEST_PRIVATE_KEY = 100_000
TO_END = lazy_pattern(r"[^-]*+(?:-(?!----)[^-]*+)*+-----END[^\n-]{0,80}-----")
# A key without its end: headers, lines, a short last line and a checksum. Between them there may be spaces,
# line breaks written out, signs of a quotation.
_GAP = r"(?:[\s>|\"'+,]|\\[nrt])"
_HEADERS = rf"(?:{_GAP}{{0,40}}[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{1,200}}){{0,6}}"
_LINE_END = r"""(?=["' \t]*(?:[\r\n\\]|$))"""
LINES_OF_KEY = lazy_pattern(
    r"(?:(?<=[A-Za-z0-9+/])(?<!\\[nr])[A-Za-z0-9+/=]*+)?"
    rf"(?:{_HEADERS}(?:{_GAP}{{0,40}}+[A-Za-z0-9+/]{{16,}}+={{0,2}})++"
    rf"(?:{_GAP}{{1,40}}+=?[A-Za-z0-9+/]{{1,15}}+={{0,2}}{_LINE_END}){{0,2}})?"
)


def whole_span(kind: str, start: int, end: int, text: str) -> tuple[int, int]:
    """Return start and end of the whole credential that was identified from `start` to `end`."""
    if kind == PRIVATE_KEY:
        return start, _end_of_private_key(start, end, text)
    if kind == ASSIGNED:
        return start, _end_of_value(start, end, text)
    if kind == TELEGRAM:
        head = text[max(start - 20, 0) : start]
        start -= len(head) - len(head.rstrip(string.digits))
    return start, _after(RESTS.get(kind, REST_OF_KEY), end, text)


def _end_of_private_key(start: int, end: int, text: str) -> int:
    if (whole := TO_END.match(text, end)) and whole.end() - end <= LONGEST_PRIVATE_KEY:
        return whole.end()
    end = _after(LINES_OF_KEY, end, text)
    return start + len(text[start:end].rstrip())


def _end_of_value(start: int, end: int, text: str) -> int:
    if start and text[start - 1] in "\"'`":
        return _after(REST_OF_QUOTED, end, text)
    rest = text[end : _after(REST_OF_VALUE, end, text)]
    return end + len(rest.rstrip(PUNCTUATION))


def _after(pattern: re.Pattern[str], end: int, text: str) -> int:
    match = pattern.match(text, end)
    return match.end() if match else end
