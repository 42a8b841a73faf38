"""Finds text that looks like a credential, so that nobody stores one by accident.

Precise rather than complete: keys with the prefix of their issuer, and values where credentials are written
(a URL, a bearer header, an assignment), unless they look like examples. Each pattern begins with a rare
letter or word and looks ahead by a bounded length: ordinary texts are fast, hostile ones take linear time.
"""

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import cache

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.secret_assignments import FOREIGN_NAMES, NAMES
from ctxhub.core.text.secret_keys import letter_searches, sign_searches
from ctxhub.core.text.secret_logins import LOGINS, URLS
from ctxhub.core.text.secret_places import PLACES
from ctxhub.core.text.secret_search import Read, Search
from ctxhub.core.text.secret_spans import whole_span

# The maximum length of a credential, and of the context before it that identifies it, in characters.
LONGEST, BEFORE = 10_240, 200
MASKING_PASSES = 4
SHORT = 1_000


@frozen
class Secret:
    """A credential found: its kind as errors name it ("GitHub token"), and its span in the text."""

    kind: str
    start: int
    end: int = field(default=0, compare=False)


def find_secret(text: str) -> Secret | None:
    """Return the first credential in a text, or None."""
    found = [next(_read_from(match, text, read), None) for match, read in _matches(text)]
    return min(filter(None, found), key=lambda secret: secret.start, default=None)


def mask_secrets(text: str) -> tuple[str, int]:
    """Replace each whole credential by `[credential: KIND]`; returns the text and the number of credentials.

    A mask may make a value beside it look assigned ("password [credential: X] is Y"): such a value is masked
    as well, so that `find_secret` finds nothing in the result.
    """
    count = 0
    for _ in range(MASKING_PASSES):
        if not (found := _secrets(text)):
            break
        text, count = _masked(text, found), count + len(found)
    return text, count


def _masked(text: str, found: Iterable[Secret]) -> str:
    parts, end = [], 0
    for secret in found:
        parts += [text[end : secret.start], f"[credential: {secret.kind}]"]
        end = secret.end
    return "".join([*parts, text[end:]])


def find_joined_secret(*pieces: str) -> Secret | None:
    """Return the first credential that only the joined pieces contain, or None.

    Searches only around the seams, as far as a credential can reach: the cost does not grow with the pieces.
    """
    seams = range(1, len(pieces))
    found = (_find_at_seam("".join(pieces[:seam]), "".join(pieces[seam:])) for seam in seams)
    return next(filter(None, found), None)


def _find_at_seam(before: str, after: str) -> Secret | None:
    left, right = before[-LONGEST:], after[:LONGEST]
    left = left[max(len(left.rstrip(UNBROKEN)) - BEFORE, 0) :]
    right = right[: len(right) - len(right.lstrip(UNBROKEN)) + BEFORE]
    if not find_secret(left + right):
        return None
    known = {secret.start for secret in _secrets(left)}
    known |= {len(left) + secret.start for secret in _secrets(right)}
    offset = len(before) - len(left)
    joined = (secret for secret in _secrets(left + right) if secret.start not in known)
    return next((Secret(found.kind, found.start + offset, found.end + offset) for found in joined), None)


def _secrets(text: str) -> list[Secret]:
    """Return all credentials in a text with their whole spans, by position; overlapping ones are one."""
    found = [secret for match, read in _matches(text) for secret in _read_from(match, text, read)]
    merged: list[Secret] = []
    for secret in sorted(found, key=lambda secret: secret.start):
        if merged and secret.end <= merged[-1].end:
            continue
        start, end = whole_span(secret.kind, secret.start, secret.end, text)
        if merged and start < merged[-1].end:
            merged[-1] = replace(merged[-1], end=end)
        else:
            merged.append(Secret(secret.kind, start, end))
    return merged


def _matches(text: str) -> Iterator[tuple[re.Match[str], Read]]:
    """Yield the first match of each pattern, and what reads it.

    Names are searched when the hub starts: what has not even the literal needs no pattern to be compiled.
    """
    lowered = _lowered(text)
    for searched, searches in ((text, _as_written()), (lowered, IN_LOWERED)):
        for literal, pattern, read in searches:
            may_match = len(searched) > SHORT or literal in searched
            if may_match and (match := pattern.search(searched)):
                yield match, read
    if not text.isascii():
        for letter, (letters, pattern, read) in FOREIGN_NAMES:
            # From the cheapest to the dearest: its first byte, the letter, the name.
            may_match = _lowered(letter) in lowered and letter in text and letters in text
            if may_match and (match := pattern.search(text)):
                yield match, read


@cache
def _as_written() -> tuple[Search, ...]:
    return (*sign_searches(), *letter_searches(), URLS)


IN_LOWERED: tuple[Search, ...] = (*PLACES, *LOGINS, *NAMES)


def _read_from(match: re.Match[str] | None, text: str, read: Read) -> Iterator[Secret]:
    """Yield the credentials among a match and the following matches."""
    while match:
        if found := read(match, text):
            yield Secret(*found)
        match = match.re.search(match.string, found.end if found else match.end())


def _lowered(text: str) -> str:
    """Map each character to one: ASCII to lower case, others to the first byte of their UTF-8."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").translate(LOWERED, CONTINUING).decode("latin-1")


UNBROKEN = string.ascii_letters + string.digits + "_.~+/=-"
LOWERED = bytes(range(256)).lower()
CONTINUING = bytes(range(0x80, 0xC0))
