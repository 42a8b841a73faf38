"""The objects that the arguments of a call name, as refs."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.toolbox.meanings import KIND_WORDS, NOUN_KINDS
from ctxhub.toolbox.spelling import in_singular, snake

MOST_REFS = 20
_ANY_ID = ("id", "ids", "identifier", "identifiers", "uuid")


def refs_named(given: Mapping[str, Any], kind: str, among: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the refs of what the call names, and the names of the arguments that told it.

    `kind`: that of the object which is meant; "" if the call does not say it elsewhere. Arguments of other
    kinds name no object, and two arguments that could name it are ambiguous: both give nothing.
    """
    said = [name for name in among if snake(name) in KIND_WORDS and _kind(given[name])]
    kind = kind or (_kind(given[said[0]]) if len(said) == 1 else "")
    naming = {name: of for name in among if (of := _kind_named(name, kind))}
    if len(naming) != 1:
        return [], []
    [(name, of)] = naming.items()
    values = given[name] if isinstance(given[name], list) else [given[name]]
    refs = [_ref(value, of) for value in values]
    if not refs or len(refs) > MOST_REFS or not all(refs):
        return [], []
    return refs, [name, *(other for other in said if other != name)]


def _kind_named(argument: str, kind: str) -> str:
    """The kind of the object that an argument names, if it may be the one that is meant."""
    plain = snake(argument)
    if plain in _ANY_ID:
        return kind
    noun, _, what = plain.rpartition("_")
    if what in ("key", "keys") and noun in ("", "decision", "context"):
        of = "decision"
    elif plain in ("context", "contexts", "session", "sessions"):
        of = in_singular(plain)
    elif what in ("id", "ids", "name", "names"):
        of = NOUN_KINDS.get(in_singular(noun), "") if what.startswith("id") or noun == "context" else ""
    else:
        of = ""
    is_pad_or_workflow = {of, kind} == {"scratchpad", "workflow"}  # Its old action took either.
    return of if kind in ("", of) or (is_pad_or_workflow and kind == "scratchpad") else ""


def _kind(value: Any) -> str:
    return NOUN_KINDS.get(in_singular(snake(value)), "") if isinstance(value, str) else ""


def _ref(value: Any, kind: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or str(value).strip() == "":
        return ""
    text = str(value).strip()
    of, colon, _ = text.partition(":")
    if colon and of in NOUN_KINDS:
        return text if of == kind else ""
    return f"{kind}:{text}"
