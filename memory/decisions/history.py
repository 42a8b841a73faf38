"""Records every change of a decision: revision, search document, counters and event."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ctxhub.core.events import log
from ctxhub.core.history import Change, History
from ctxhub.core.kit import sql
from ctxhub.core.kit.pages import Links
from ctxhub.core.kit.sql import Reading
from ctxhub.core.search.documents import EARLIER, Document, ScopeWords, earlier_text, layer_word
from ctxhub.core.text.glob_syntax import not_exempting
from ctxhub.core.text.readable import as_lines
from ctxhub.core.vocabulary.models import Scope, Tag
from memory.decisions.models import Decision, DecisionStatus
from memory.decisions.rows import DECISIONS, DecisionRow
from memory.decisions.versions import States, bump, revisions_of
from memory.suggestions.keys import index_terms


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
        also=ScopeWords(index_terms, row.key),
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


_NOT_UPDATED = ("project_id", "key", "created_at")


def upsert_decisions(project_id: int, decisions: Sequence[DecisionRow]) -> dict[str, int]:
    """Insert or update all rows. Returns the ids by key. `write_links` writes tags and scopes."""
    changes = ", ".join(
        f"{column} = excluded.{column}" for column in DECISIONS.columns if column not in _NOT_UPDATED
    )
    written = sql.insert(
        "memory_decision",
        DECISIONS.columns,
        DECISIONS.records(project_id, decisions),
        f"ON CONFLICT (project_id, key) DO UPDATE SET {changes} RETURNING key, id",
    )
    return dict(written)


def write_links(
    links: Links,
    project_id: int,
    wanted: Mapping[int, Iterable[int]],
    existed: Collection[int],
    moments: Mapping[int, datetime],
) -> None:
    """Replace the tags or scopes of decisions; only those in `existed` have old links to delete."""
    if old := [decision for decision in wanted if decision in existed]:
        sql.execute(f"DELETE FROM {links.table} WHERE decision_id IN ({sql.marks(old)})", old)
    if records := [
        (project_id, decision, word, sql.stored_time(moments[decision]))
        for decision, words in wanted.items()
        for word in words
    ]:
        sql.insert(links.table, ("project_id", "decision_id", links.column, "updated_at"), records)


def touch_links(links: Links, decision_ids: Sequence[int], at: datetime | None = None) -> None:
    """Update the copy of `updated_at` on unchanged links to `at`, or to the decision's own time."""
    if decision_ids:
        own = f"(SELECT d.updated_at FROM memory_decision d WHERE d.id = {links.table}.decision_id)"
        moment, values = ("%s", [sql.stored_time(at)]) if at else (own, [])
        statement = (
            f"UPDATE {links.table} SET updated_at = {moment} WHERE decision_id IN ({sql.marks(decision_ids)})"
        )
        sql.execute(statement, [*values, *decision_ids])


def insert_revisions(project_id: int, decisions: Iterable[DecisionRow]) -> dict[int, int]:
    """Store each decision as a revision. Returns the revision ids by decision id."""
    rows = sql.insert(
        "memory_decisionrevision",
        (
            *(
                "project_id",
                "decision_id",
                "value",
                "value_type",
                "number",
                "version",
                "status",
                "agent_id",
                "at",
            ),
            "data",
        ),
        [
            (
                *(
                    project_id,
                    row.id,
                    row.value,
                    row.value_type,
                    row.number,
                    row.version,
                    row.status,
                    row.agent_id,
                ),
                sql.stored_time(row.updated_at),
                sql.stored_json(row.revision_data),
            )
            for row in decisions
        ],
        "RETURNING decision_id, id",
    )
    return dict(rows)


DecisionChange = Change[DecisionRow]


class DecisionHistory(History[DecisionRow]):
    kind = "decision"
    table = DECISIONS
    compared = (
        *("key", "value", "version", "status", "layer", "tags", "scopes", "paths", "rationale"),
        *("alternatives", "tradeoffs", "metadata", "reason", "superseded_by"),
    )
    counted_by = ("layer_id", "status")
    signs_changes = True
    is_given_to_writers = True
    has_paths = True
    shown = {Tag: "tags", Scope: "scopes"}

    def ref(self, row: DecisionRow) -> str:
        return f"decision:{row.key}"

    def version(self, row: DecisionRow) -> str:
        return row.version

    def patterns(self, row: DecisionRow) -> Sequence[str]:
        """A deprecated decision bears on nothing."""
        return () if row.status == DecisionStatus.DEPRECATED else row.paths

    def document(self, row: DecisionRow) -> Document:
        return decision_document(row)

    def earlier_document(self, state: int, old: DecisionRow, new: DecisionRow) -> Document | None:
        return earlier_decision_document(state, old, new)

    def compare(self, row: DecisionRow) -> dict[str, Any]:
        """Compare the value with its type: 5 and "5" differ."""
        return {**super().compare(row), "value": (row.value, row.value_type)}

    def verb(self, change: DecisionChange) -> str:
        assert change.old
        is_deprecation = change.row.status == DecisionStatus.DEPRECATED != change.old.status
        return "deprecated" if is_deprecation else "updated"

    def data(self, change: DecisionChange) -> dict[str, Any]:
        data: dict[str, Any] = {"version": change.row.version}
        if change.old and change.new:
            data |= {"was": change.old.version, "changed": change.changed}
        if change.verb == "deprecated" and change.row.reason:
            data["reason"] = change.row.reason
        return data

    def event(self, change: DecisionChange, at: datetime) -> log.Change:
        """Use the time of the row: each decision of a batch has its own."""
        event_at = max(at, change.row.updated_at) if change.new else at
        return replace(super().event(change, at), at=event_at)

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[DecisionChange], at: datetime
    ) -> Mapping[int, int]:
        """Store the old state of changed decisions as revisions."""
        revised = [change.old for change in changes if change.old and change.new]
        return insert_revisions(project_id, revised) if revised else {}

    def complete(self, old: DecisionRow, new: DecisionRow, at: datetime) -> DecisionRow:
        """Raise the version for a new value, unless the writer set another version."""
        has_new_value = (new.value, new.value_type) != (old.value, old.value_type)
        if has_new_value and new.version == old.version:
            new = replace(new, version=bump(old.version))
        return super().complete(old, new, at)

    def before_delete(self, project_id: int, old: Sequence[DecisionRow]) -> Sequence[DecisionRow]:
        """Return the decisions that they supersede."""
        successors = [row.id for row in old]
        superseded = Decision.objects.in_project(project_id).filter(superseded_by_id__in=successors)
        ids = list(superseded.order_by("pk").values_list("pk", flat=True))
        return [*DECISIONS.read(project_id, ids).values()]

    def part_from_successor(
        self, project_id: int, agent_id: int | None, ids: Sequence[int], at: datetime
    ) -> Sequence[DecisionChange]:
        """Clear `superseded_by` of decisions; return the changes to record."""
        kept = [*DECISIONS.read(project_id, ids).values()]
        Decision.objects.in_project(project_id).filter(pk__in=ids).update(superseded_by=None)
        return self.also_changed(project_id, agent_id, kept, at)

    def also_changed(
        self, project_id: int, agent_id: int | None, kept: Sequence[DecisionRow], at: datetime
    ) -> Sequence[DecisionChange]:
        """Record that the database cleared `superseded_by`; some of the rows may be deleted as well."""
        rows = DECISIONS.read(project_id, [row.id for row in kept])
        if not rows:
            return []
        changed = [
            replace(row, agent_id=agent_id or row.agent_id, updated_at=at + timedelta(microseconds=offset))
            for offset, (_, row) in enumerate(sorted(rows.items()), start=1)
        ]
        upsert_decisions(project_id, changed)
        for links in DECISIONS.links.values():
            touch_links(links, [row.id for row in changed])
        old_rows = {row.id: row for row in kept}
        return [self.change(old_rows[row.id], row) for row in changed]


HISTORY = DecisionHistory()
