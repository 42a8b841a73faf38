"""Builds the search documents of decisions and their revisions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxhub.core.kit.sql import Reading
from ctxhub.core.search.documents import EARLIER, Document, ScopeWords, earlier_text, layer_word
from ctxhub.core.text.glob_syntax import not_exempting
from ctxhub.core.text.readable import as_lines
from memory.decisions.models.decision import DecisionStatus
from memory.decisions.rows.decisions import DecisionRow
from memory.decisions.search.keys import key_signatures
from memory.decisions.sql.revisions import States, revisions_of


def decision_document(row: DecisionRow) -> Document:
    return Document(
        object_id=row.id,
        ref=f"decision:{row.key}",
        title=row.key,
        body=_text(row),
        at=row.updated_at,
        tags=sorted(row.tags, key=str.casefold),
        agent_id=row.agent_id,
        layer_id=row.layer_id,
        mark="" if row.status == DecisionStatus.ACTIVE else row.status_label,
        also=ScopeWords(key_signatures, row.key),
        unshown=(", ".join(sorted(row.scopes, key=str.casefold)), ", ".join(not_exempting(row.paths))),
        version=row.version,
        readable=(0, len(row.value)),
    )


def earlier_decision_document(
    revision_id: int, was: DecisionRow, now: DecisionRow, holding: str = ""
) -> Document | None:
    """Return a document of the lines that a change removed; None if it removed nothing.

    `holding`: what holds now, for answers; it is not indexed.
    """
    removed = earlier_text(_text(was), _text(now))
    if not removed:
        return None
    return Document(
        object_id=revision_id,
        ref=f"decision:{was.key}",
        title=was.key,
        body=removed,
        at=was.updated_at,
        tags=sorted(was.tags, key=str.casefold),
        agent_id=was.agent_id,
        mark=f"was {was.version}",
        also=[EARLIER, *([layer_word(was.layer)] if was.layer else [])],
        owner_id=was.id,
        now=holding,
    )


def earlier_decision_documents(project_id: int, ids: Sequence[int]) -> Reading[Sequence[Document]]:
    return revisions_of(project_id, ids).then(_earlier_documents)


def _earlier_documents(states: States) -> list[Document]:
    documents = (earlier_decision_document(revision_id, *state) for revision_id, state in states.items())
    return [document for document in documents if document]


def _text(row: DecisionRow) -> str:
    return "\n\n".join(line for line in _lines(row) if line)


def _lines(row: DecisionRow) -> Iterator[str]:
    """Yield the lines of the body. Search ignores the marks (not, +, -) of alternatives and tradeoffs."""
    yield row.value
    yield row.rationale
    for alternative in row.alternatives:
        yield from _alternative(alternative)
    for sign, name in (("+", "pros"), ("-", "cons")):
        yield from (f"{sign} {line}" for line in as_lines(row.tradeoffs.get(name)))
    yield row.reason
    yield from as_lines(row.metadata)


def _alternative(alternative: Any) -> Iterator[str]:
    """Yield `not Redis: one more server to keep`, then the other fields of the alternative."""
    if isinstance(alternative, Mapping):
        named = (as_lines(alternative.get(name)) for name in ("option", "why_not"))
        yield f"not {': '.join(line for lines in named for line in lines)}"
        others = {name: alternative[name] for name in alternative if name not in ("option", "why_not")}
        yield from as_lines(others)
    else:
        yield from (f"not {line}" for line in as_lines(alternative))
