"""Tells a slip of the keyboard from another word: nothing is suggested rather than what nobody meant."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

SHORT = 5  # Letters up to which another letter makes another word: `date` and `data`, `score` and `scope`.
LONG = 9  # Letters from which two may be wrong.
LEAST = 3
LEAST_BEGINNING = 4
MOST_CHARACTERS = 240  # Of names in an error. Nobody reads more of them for one wrong name.
SHOWN_NAMES = 5
LONGEST_WORD = 200  # No known word is similar to a longer one.

_APART = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
_ENDINGS = frozenset(["s", "es", "d", "ed", "r", "er", "ing", "ion", "ions", "al", "ly"])


def plain(word: str) -> str:
    """A word for comparisons: without case, and with one kind of separator."""
    return _plain(word[:LONGEST_WORD])


@lru_cache(maxsize=4096)
def _plain(word: str) -> str:
    return _APART.sub(" ", word.casefold()).strip()


def slip(said: str, meant: str) -> int | None:
    """How many letters of `meant` were mistyped in `said`; None if it is no slip, but another word.

    Both as `plain` returns them. One letter is too many, missing, or two are swapped; in longer words one may
    be another, and in long ones two are wrong. The first letter is right, or swapped with the second. Of
    several words each may be mistyped, but none may be another one: config_get is not config_set.
    """
    if said == meant:
        return 0
    words = list(zip(said.split(), meant.split(), strict=False))
    if 1 < len(words) == said.count(" ") + 1 == meant.count(" ") + 1:
        edits = [_slip_of_word(*pair) for pair in words]
        return None if None in edits else sum(filter(None, edits))
    return _slip_of_word(said, meant)


def _slip_of_word(said: str, meant: str) -> int | None:
    if said == meant:
        return 0
    if said[:1] != meant[:1] and said[:2] != meant[1::-1]:
        return None
    shorter = min(len(said), len(meant))
    if shorter == 2 and len(said) < len(meant) == LEAST and said == meant[0] + meant[-1]:
        return 1  # `ky` of key.
    if shorter < LEAST or _DIGITS.findall(said) != _DIGITS.findall(meant):
        return None
    from rapidfuzz.distance import OSA

    allowed = 2 if shorter >= LONG else 1
    edits = int(OSA.distance(said, meant, score_cutoff=allowed))
    if edits > allowed or (shorter <= SHORT and _has_another_letter(said, meant)):
        return None
    return edits


def is_form_of(said: str, meant: str) -> bool:
    """Whether one is the beginning of the other: `infra` of infrastructure, `cached` of cache; or a part."""
    if len(said) >= LEAST_BEGINNING and any(word.startswith(said) for word in (meant, *meant.split())):
        return True
    if len(meant) < LEAST_BEGINNING:
        return False
    return said.removeprefix(meant) in _ENDINGS or meant in said.split()


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was mistyped, or of which `word` is a form; None if there is none, or several."""
    if not (said := plain(word)):
        return None
    words = {one: plain(one) for one in known}
    slips = [(edits, one) for one, other in words.items() if (edits := slip(said, other)) is not None]
    if slips:
        return min(slips, key=lambda found: found[0])[1]
    forms = [one for one, other in words.items() if is_form_of(said, other)]
    return forms[0] if len(forms) == 1 else None


def few_of(word: str, known: Sequence[str]) -> list[str]:
    """The known names, for an error about a wrong one; of a long list the 5 that look most like it."""
    if sum(map(len, known)) <= MOST_CHARACTERS:
        return list(known)
    from rapidfuzz import fuzz, process

    found = process.extract(plain(word), known, scorer=fuzz.WRatio, processor=plain, limit=SHOWN_NAMES)
    return [name for name, *_ in found]


def _has_another_letter(said: str, meant: str) -> bool:
    """Whether letters were replaced, not only left out, repeated or swapped."""
    return len(said) == len(meant) and sorted(said) != sorted(meant)
