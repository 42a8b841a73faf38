"""Writes the texts of rows: one line for an object."""

from collections.abc import Iterable

from ctxhub.core import registry
from ctxhub.core.links import ObjectKey
from ctxhub.core.search.documents import PASSAGE_CHARACTERS, Document
from ctxhub.core.search.excerpts import Wanted, excerpt
from ctxhub.core.search.selectors.rankings import Rankings
from ctxhub.core.text.headings import without_first_headings
from ctxhub.core.text.sentences import in_one_line
from ctxhub.core.text.token_count import count_tokens
from sessions.briefings.rules.candidates import CUT, ROW_TOKENS

# A row begins with so many tokens of what the object says first: the value of a decision, the text of a
# constraint, the title of anything else; and of what it says next.
FIRST_TOKENS = 20
BEGINS_WITH_BODY = ("decision", "constraint")
# Nothing is said in fewer tokens; and what a dash between two parts costs.
LEAST_TOKENS, JOINT_TOKENS = 6, 3
# A token has hardly more.
MOST_CHARACTERS = 12


def read_documents(project_id: int, keys: Iterable[ObjectKey]) -> dict[ObjectKey, Document]:
    """The documents of objects, with one query for each kind."""
    ids: dict[str, list[int]] = {}
    for kind, object_id in dict.fromkeys(keys):
        ids.setdefault(kind, []).append(object_id)
    return {
        (kind, document.object_id): document
        for kind, object_ids in ids.items()
        if (noun := registry.find_noun(kind)) and noun.documents
        for document in noun.documents(project_id, object_ids).now()
    }


def row_text(kind: str, document: Document, rankings: Rankings, max_tokens: int = ROW_TOKENS) -> str:
    """A line of at most `max_tokens`: all of the object, or how it begins, and what else in it matches."""
    first, rest = _parts(kind, document)
    if len(first) + len(rest) <= MOST_CHARACTERS * max_tokens:
        whole = _joined(one_line(first, max_tokens), one_line(rest, max_tokens))
        if count_tokens(whole) <= max_tokens:
            return whole
    share = max(FIRST_TOKENS, max_tokens // 3) if max_tokens >= 2 * FIRST_TOKENS else max_tokens
    shown, after = _beginning(first, share)
    if kind in BEGINS_WITH_BODY:
        reason, rest = _beginning(rest, min(share, max_tokens - count_tokens(shown) - JOINT_TOKENS))
        shown, rest = _joined(shown, reason), f"{after}\n{rest}"
    start = rankings.starts.get((kind, document.object_id), 0)
    window = max(PASSAGE_CHARACTERS, MOST_CHARACTERS * max_tokens)
    rest = document.body[start : start + window] if start else rest[:window]
    left = max_tokens - count_tokens(shown) - JOINT_TOKENS
    more = one_line(rest, left, rankings.wanted) if left >= LEAST_TOKENS and rest.strip() else ""
    text = _joined(shown, more)
    return text if CUT in text else f"{text} {CUT}"


def _parts(kind: str, document: Document) -> tuple[str, str]:
    """What an object says first, and what else: a value and why, a title and a text."""
    if kind in BEGINS_WITH_BODY:
        end = document.readable[1]
        return document.body[:end], document.body[end:].strip()
    return document.title, document.body


def _joined(*parts: str) -> str:
    return " — ".join(filter(None, parts))


def _beginning(text: str, max_tokens: int) -> tuple[str, str]:
    """The first tokens of a text behind its headings, and its lines from there on."""
    if max_tokens < LEAST_TOKENS:
        return "", text
    lines = "\n".join(filter(None, map(in_one_line, without_first_headings(text).splitlines())))
    flat = lines[: MOST_CHARACTERS * max_tokens].replace("\n", " ")
    shown = excerpt(flat, Wanted({}), max_tokens)
    kept = shown.removesuffix(CUT).rstrip()
    behind = lines[len(kept) :] if flat.startswith(kept) else lines
    return (f"{kept} {CUT}" if behind.strip() else shown), behind


def one_line(text: str, max_tokens: int = ROW_TOKENS, wanted: Wanted | None = None) -> str:
    """A text as one line of at most `max_tokens`, cut around the words that are wanted."""
    return in_one_line(excerpt(text, wanted or Wanted({}), max_tokens))
