"""Finds keys by the prefixes that their issuers give them: see `secret_formats.py`.

Most prefixes end in one of four signs. One search for each sign looks for the last three characters of a
prefix, which name its rows: a row more costs nothing when the hub starts, and nothing in a text without that
prefix. The others are one pattern for all that share the last letter of the prefix.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.lazy_patterns import lazy_pattern
from ctxhub.core.text.secret_formats import AROUND, AROUND_SIGN, LETTERED, SHAPED, STRONG, WEAK
from ctxhub.core.text.secret_search import FoundSecret, Search
from ctxhub.core.text.secret_values import is_filler, is_mixed, is_wordy

SIGNS = "_-.~"

# -- Prefixes that end in a sign -------------------------------------------------------------------


@frozen
class Key:
    """A row: a prefix, and the pattern of the rest, which has a least length if it is any of an alphabet.

    `is_weak`: its prefix may begin a name as well. `is_shaped`: its pattern says what it has to be.
    """

    kind: str
    prefix: str
    rest: str
    least: int = 1
    is_weak: bool = False
    is_shaped: bool = False

    def find(self, text: str, end: int) -> FoundSecret | None:
        """Return the key whose prefix ends at `end`, if there is one."""
        start = end - len(self.prefix)
        if not text.startswith(self.prefix, max(start, 0)) or not BEGINS.match(text, start):
            return None
        match = _compiled(self.rest).match(text, end)
        rest = match[0].rstrip(".,") if match else ""
        if len(rest) < self.least or is_filler(rest) or not (self.is_shaped or self._is_random(rest)):
            return None
        return FoundSecret(self.kind, start, end + len(rest))

    def _is_random(self, rest: str) -> bool:
        return not is_wordy(rest) and (not self.is_weak or is_mixed(rest))


# A word starts after no word, or after a line break that is written out: \\n.
BEGINS = lazy_pattern(r"(?<![\w-])|(?<=\\[nrt])", re.ASCII)
# What may be the rest of a key: any signs but those of code and of sentences.
_REST = r"(?=[^\s\"'`<>(){}\[\],;:]{16})"


@cache
def sign_searches() -> tuple[Search, ...]:
    return tuple(Search(sign, lazy_pattern(_sign_search(sign), re.ASCII), _read_at_sign) for sign in SIGNS)


def _sign_search(sign: str) -> str:
    """The pattern of all prefixes that end in a sign: the last three characters, and that a key may follow.

    What seldom holds comes first: after an underscore of a program that 16 characters follow.
    """
    tails = sorted({key.prefix[-3:-1] for key in _keys() if key.prefix[-1] == sign})
    written = re.escape(sign)
    classes = "".join(f"[{re.escape(''.join(sorted(set(column))))}]" for column in zip(*tails, strict=True))
    tail = f"(?<={classes}{written})(?<=(?:{'|'.join(map(re.escape, tails))}){written})" if tails else ""
    choices = [_REST + tail if sign == "_" else tail + _REST]
    choices += [AROUND_SIGN[sign]] if sign in AROUND_SIGN else []
    return f"{written}(?:{'|'.join(choices)})"


def _read_at_sign(match: re.Match[str], text: str) -> FoundSecret | None:
    """Return the key whose prefix ends with the match of a sign's search."""
    end = match.end()
    for key in _by_tail().get(text[end - 3 : end], ()):
        if found := key.find(text, end):
            return found
    return _find_around(text, end)


@cache
def _by_tail() -> dict[str, list[Key]]:
    rows: dict[str, list[Key]] = defaultdict(list)
    for key in _keys():
        rows[key.prefix[-3:]].append(key)
    return dict(rows)


@cache
def _keys() -> tuple[Key, ...]:
    shaped = (
        Key(kind, prefix, shape, is_shaped=True)
        for kind, prefixes, shape in SHAPED
        for prefix in prefixes.split()
    )
    return (*shaped, *_of_alphabets(STRONG, is_weak=False), *_of_alphabets(WEAK, is_weak=True))


def _of_alphabets(rows: Iterable[tuple[str, str, str, int]], *, is_weak: bool) -> Iterator[Key]:
    for kind, prefixes, alphabet, least in rows:
        for prefix in prefixes.split():
            yield Key(kind, prefix, f"[{alphabet}]+", least, is_weak)


def _find_around(text: str, end: int) -> FoundSecret | None:
    for kind, sign, before, widths, follows in AROUND:
        if text[end - 1] != sign or not (rest := _compiled(follows).match(text, end)):
            continue
        for start in (end - 1 - width for width in widths):
            if start < 0 or not BEGINS.match(text, start):
                continue
            if _compiled(before).fullmatch(text, start, end - 1) and not is_filler(text[start : rest.end()]):
                return FoundSecret(kind, start, rest.end())
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


# -- Prefixes that end in a letter -----------------------------------------------------------------


@cache
def letter_searches() -> tuple[Search, ...]:
    """Return one search for all prefixes that end in the same character, or in the same common letters."""
    befores: dict[str, list[list[str]]] = defaultdict(list)
    rows: dict[str, list[str]] = defaultdict(list)
    for number, (_, prefix, rest) in enumerate(LETTERED):
        *before, last = [prefix] if WHOLE.fullmatch(prefix) else CHARACTERS.findall(prefix)
        befores[last].append(before)
        rows[last].append(_row(f"key{number}", prefix, rest))
    return tuple(
        Search(
            last,
            lazy_pattern(f"{last}{_ends(befores[last], last)}(?={'|'.join(rows[last])})", re.ASCII),
            _read_at_letter,
        )
        for last in rows
    )


def _row(name: str, prefix: str, rest: str) -> str:
    """Match the rest of a key, with what must stand before its prefix."""
    begins = "" if prefix[0] in "[-" else rf"(?:(?<![\w-]{prefix})|(?<=\\[nrt]{prefix}))"
    return f"(?P<{name}>(?<={prefix}){begins}{rest})"


def _ends(befores: list[list[str]], last: str) -> str:
    """Match the two characters before the last, or fewer if a prefix is as short."""
    if not (width := min([2, *map(len, befores)])):
        return ""
    columns = zip(*(before[len(before) - width :] for before in befores), strict=True)
    return f"(?<={''.join(f'[{_class(column)}]' for column in columns)}{last})"


def _class(characters: Iterable[str]) -> str:
    within = dict.fromkeys(character.strip("[]") for character in characters)
    return "".join(sorted(within, key=lambda character: character != "-"))


# Prefixes of common letters are searched for as a whole, and so are those that no other one is like.
WHOLE = lazy_pattern(r"[a-z]+|[A-Z]+[0-9]+")
CHARACTERS = lazy_pattern(r"\[.*?]|.")


def _read_at_letter(match: re.Match[str], text: str) -> FoundSecret | None:
    name = str(match.lastgroup)
    kind, prefix, _ = LETTERED[int(name.removeprefix("key"))]
    start = match.end() - len(CHARACTERS.findall(prefix))
    return (
        None if is_filler(text[match.end() : match.end(name)]) else FoundSecret(kind, start, match.end(name))
    )
