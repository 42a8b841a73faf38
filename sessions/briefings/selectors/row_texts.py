"""Writes the texts of rows: one line for an object."""

from collections.abc import Iterable

from ctxhub.core import registry
from ctxhub.core.search.documents import PASSAGE_CHARACTERS, Document
from ctxhub.core.search.excerpts import Wanted, excerpt
from ctxhub.core.search.selectors.rankings import ObjectKey, Rankings
from ctxhub.core.text.sentences import in_one_line
from ctxhub.core.text.token_count import count_tokens

ROW_TOKENS = 60
# What a row begins with: the value of a decision, the text of a constraint, the title of anything else.
LEAD_TOKENS = 40
BEGINS_WITH_BODY = ("decision", "constraint")
# A row with a longer beginning gets no excerpt of the rest.
SHORT_LEAD = 16
EXCERPT_TOKENS = 16


def read_documents(project_id: int, keys: Iterable[ObjectKey]) -> dict[ObjectKey, Document]:
    """The documents of objects, with one query for each kind."""
    ids: dict[str, list[int]] = {}
    for kind, object_id in dict.fromkeys(keys):
        ids.setdefault(kind, []).append(object_id)
    return {
        (kind, document.object_id): document
        for kind, object_ids in ids.items()
        if (noun := registry.find_noun(kind)) and noun.documents
        for document in noun.documents(project_id, object_ids)
    }


def row_text(kind: str, document: Document, rankings: Rankings) -> str:
    """A line of at most ROW_TOKENS: what the object says first, and what else in it matches."""
    first, _, rest = document.body.partition("\n\n")
    lead, rest = (first, rest) if kind in BEGINS_WITH_BODY else (document.title, document.body)
    text = one_line(lead, LEAD_TOKENS, rankings.wanted)
    tokens = count_tokens(text)
    start = rankings.starts.get((kind, document.object_id), 0)
    rest = (document.body[start : start + PASSAGE_CHARACTERS] if start else rest[:PASSAGE_CHARACTERS]).strip()
    if tokens > SHORT_LEAD or not rest:
        return text
    more = one_line(rest, EXCERPT_TOKENS, rankings.wanted)
    return f"{text} — {more}" if text else more


def one_line(text: str, max_tokens: int = ROW_TOKENS, wanted: Wanted | None = None) -> str:
    """A text as one line of at most `max_tokens`, cut around the words that are wanted."""
    return in_one_line(excerpt(text, wanted or Wanted({}), max_tokens))
