"""The errors of services; their messages tell an agent how to fix its call. Independent of HTTP and MCP."""

import reprlib
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ctxhub.core.kit.choice_aliases import OTHER_WORDS
from ctxhub.core.kit.likeness import SHOWN_NAMES, few_of, nearest

SHOWN_CHARACTERS = 60


class CtxhubError(Exception):
    """Base of all errors: a code, a message, and optionally a hint and details that say what is allowed.

    `body()` is the error of the API: `{"error", "message", "hint"?, ...details}`. Details in use:
    `did_you_mean` (the suggested word; for arguments an object, given name -> suggested name), `call` (the
    suggested operation: {tool, action}), `missing`, `allowed`, `index` (of a batch's item), `current` (the
    state that a conflict ran into).

    `about`: the ref of the lease or the object that refuses, for counting the refusal; it is not in the body.
    """

    code: ClassVar[str]
    is_counted = False

    def __init__(self, message: str, *, hint: str = "", about: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.about = about
        self.details = details

    def body(self) -> dict[str, Any]:
        hint = {"hint": self.hint} if self.hint else {}
        details = {name: value for name, value in self.details.items() if value not in (None, [], "", {})}
        return {"error": self.code, "message": self.message, **hint, **details}


class InvalidInput(CtxhubError):
    """An argument is missing, unknown, of the wrong type or beyond a limit."""

    code = "invalid"


class LooksLikeCredential(InvalidInput):
    """A text seems to hold a credential: an administrator may store it with `allow_secret`."""


class NotFound(CtxhubError):
    """No such object in the caller's project; objects of other projects count as missing."""

    code = "not_found"


class Conflict(CtxhubError):
    """The current state does not allow it: a version differs, a lease is held, a cycle would arise."""

    code = "conflict"


class NotAllowed(CtxhubError):
    """The caller is authenticated, but may not do this."""

    code = "not_allowed"


class Unauthenticated(NotAllowed):
    """The caller is not authenticated: no token, or one that is wrong, expired or revoked."""


class LimitReached(CtxhubError):
    """A quota or a rate limit is reached. Detail `retry_after` (seconds) if waiting helps."""

    code = "limit_reached"


def shown(value: object) -> str:
    """The repr of an argument for an error message, cut to 60 characters."""
    text = repr(value[: SHOWN_CHARACTERS + 1]) if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= SHOWN_CHARACTERS + 2 else f"{text[:SHOWN_CHARACTERS]}…"


def shown_all(values: Iterable[object]) -> str:
    """The first 5 values for an error message, and the number of the others."""
    listed = list(values)
    more = len(listed) - SHOWN_NAMES
    first = ", ".join(map(shown, listed[:SHOWN_NAMES]))
    return f"{first} and {more:,} more" if more > 0 else first


def unknown_word(name: str, given: object, known: Sequence[str]) -> InvalidInput:
    """The error for an unknown word: it names the known ones, and suggests the one that was meant."""
    meant = _other_word(str(given), known) or nearest(str(given), known)
    offered = few_of(str(given), known)
    more = f" and {len(known) - len(offered):,} more" if len(offered) < len(known) else ""
    instead = f"; use one of: {', '.join(offered)}{more}" if offered else ""
    return InvalidInput(
        f"{name}: {shown(given)} is not known{instead}.",
        did_you_mean=meant,
        allowed=None if meant else offered,
    )


def _other_word(word: str, known: Sequence[str]) -> str | None:
    synonyms = OTHER_WORDS.get(word.strip().lower().replace("-", "_").replace(" ", "_"), ())
    spellings = {name.lower(): name for name in known}
    return next((spellings[name] for name in synonyms if name in spellings), None)
