"""What can go wrong, in words an agent can repair its call from. Knows neither HTTP nor MCP."""

import reprlib
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ctxhub.core.kit.other_words import OTHER_WORDS

SHOWN_CHARACTERS = 60
SHOWN_NAMES = 5
LONGEST_WORD = 200  # Nothing known is near a longer one.


class CtxhubError(Exception):
    """A refusal: a code, a sentence, perhaps a hint and details that say what would have been right.

    `body()` is the contract's error: `{"error", "message", "hint"?, ...details}`. Details in use:
    `did_you_mean` (the word that was meant; of arguments an object, said -> meant), `call` (the operation
    that was meant: {tool, action}), `missing`, `allowed`, `index` (of a batch's item), `current` (what a
    conflict ran into).
    """

    code: ClassVar[str]

    def __init__(self, message: str, *, hint: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details

    def body(self) -> dict[str, Any]:
        hint = {"hint": self.hint} if self.hint else {}
        details = {name: value for name, value in self.details.items() if value not in (None, [], "", {})}
        return {"error": self.code, "message": self.message, **hint, **details}


class InvalidInput(CtxhubError):
    """An argument is missing, unknown, of the wrong type or beyond a limit."""

    code = "invalid"


class NotFound(CtxhubError):
    """No such thing in the caller's project; another project's things do not exist either."""

    code = "not_found"


class Conflict(CtxhubError):
    """The state has moved on: a version differs, a lease is held, a circle would close."""

    code = "conflict"


class NotAllowed(CtxhubError):
    """The caller is known, and may not do this."""

    code = "not_allowed"


class Unauthenticated(NotAllowed):
    """The caller is not known: no token, or one that is wrong, expired or revoked."""


class LimitReached(CtxhubError):
    """A quota or a rate is used up. `retry_after` (seconds) where waiting helps."""

    code = "limit_reached"


def shown(value: object) -> str:
    """What a caller said, as a message repeats it: enough to recognise it by, however long it was."""
    said = repr(value[: SHOWN_CHARACTERS + 1]) if isinstance(value, str) else reprlib.repr(value)
    return said if len(said) <= SHOWN_CHARACTERS + 2 else f"{said[:SHOWN_CHARACTERS]}…"


def shown_all(values: Iterable[object]) -> str:
    """The first few of many, and how many more there are."""
    listed = list(values)
    more = len(listed) - SHOWN_NAMES
    first = ", ".join(map(shown, listed[:SHOWN_NAMES]))
    return f"{first} and {more:,} more" if more > 0 else first


def unknown_word(name: str, given: object, known: Sequence[str]) -> InvalidInput:
    """The error for a word that is none of the known ones, naming them and the nearest."""
    return InvalidInput(
        f"{name}: {shown(given)} is not known; use one of: {', '.join(known)}.",
        did_you_mean=_other_word(str(given), known) or nearest(str(given), known),
        allowed=list(known),
    )


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word that `word` most likely meant, if any is near enough."""
    from rapidfuzz import fuzz, process, utils

    word = word[:LONGEST_WORD]
    for scorer, at_least in ((fuzz.ratio, 65), (fuzz.WRatio, 80)):
        if found := process.extractOne(
            word, known, scorer=scorer, processor=utils.default_process, score_cutoff=at_least
        ):
            return found[0]
    return None


def _other_word(said: str, known: Sequence[str]) -> str | None:
    meant = OTHER_WORDS.get(said.strip().lower().replace("-", "_").replace(" ", "_"), ())
    spelled = {word.lower(): word for word in known}
    return next((spelled[word] for word in meant if word in spelled), None)
