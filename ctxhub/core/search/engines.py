"""What a search says differently on SQLite (FTS5) and on PostgreSQL (tsvector); both return the same rows.

Match expressions contain only the analyser's words, which are letters and digits.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.documents import PARTS, kind_word
from ctxhub.core.search.queries import Query, Term
from ctxhub.core.search.schema import OF_PROJECT

Scope = Sequence[Sequence[str]]
"""Filters of a search: a passage must have at least one scope word of each inner sequence.

The first of them has the words of the projects.
"""


@frozen
class Narrowing:
    """The filters of a search: rows with these scope words, last changed at `since` or later."""

    scope: Scope
    since: datetime | None = None

    @property
    def project_id(self) -> int:
        """The project that is searched, as its scope word says: P7."""
        return int(self.scope[0][0][1:])


def clauses_of(narrowing: Narrowing, query: Query, row_id: str) -> tuple[str, list[Any]]:
    """Return further SQL conditions and their values: the entry has all wanted terms if the query needs all,
    no excluded term, and has not changed before `since`.
    """
    dialect = engine()
    entry = f"{row_id} / {PARTS}"
    entries = f"SELECT a.id / {PARTS} FROM ({dialect.found}) a"
    conditions: list[str] = []
    values: list[Any] = []
    if query.needs_all and len(query.wanted) > 1:
        conditions.append(f"{entry} IN ({' INTERSECT '.join([entries] * len(query.wanted))})")
        values += [dialect.expression(narrowing.scope, [term]) for term in query.wanted]
    if query.excluded:
        conditions.append(f"{entry} NOT IN ({entries})")
        values.append(dialect.expression(narrowing.scope, query.excluded))
    if narrowing.since:
        conditions.append(f"(SELECT updated_at FROM core_searchentry WHERE id = {entry}) >= %s")
        values.append(sql.stored_time(narrowing.since))
    return "".join(f" AND {condition}" for condition in conditions), values


class _Sqlite:
    id = "core_searchfts.rowid"
    by_age = "rowid"
    found = "SELECT rowid AS id FROM core_searchfts WHERE core_searchfts MATCH %s"
    # bm25() would take 25 times as long: it reads every size, and counts the words of the scope.
    branch = "SELECT rowid AS id, %s AS worth FROM core_searchfts WHERE core_searchfts MATCH %s"

    branch_with_kind = branch
    position = "instr"

    def entry_of(self, _entry_id: str) -> str:
        """Return SQL for the entry `e` with an id; the condition that it has it is up to the statement."""
        return "core_searchentry e"

    def by_row(self, scope: Scope) -> tuple[str, Scope]:
        return "", scope

    def name_of_kind(self, kind: str) -> str:
        return kind

    def most_of_kinds(self, branches: str, kinds: str) -> str:
        """Return SQL for id, worth and kind of the rows, and their place in the kind by the sums of worth.

        `kinds`: placeholders for the names of the kinds.
        """
        sums = f"SELECT u.id, sum(u.worth) AS worth FROM ({branches} GROUP BY u.id"
        return f"""SELECT s.id, s.worth, e.kind,
            row_number() OVER (PARTITION BY e.kind ORDER BY s.worth DESC, s.id DESC) AS place
            FROM ({sums}) s CROSS JOIN core_searchentry e
            WHERE e.id = s.id / {PARTS} AND e.kind IN ({kinds})"""

    def sums(self, branches: str) -> str:
        """Return SQL for the id of each row, its sum of worth, and its size if that costs nothing."""
        return f"SELECT u.id, sum(u.worth) AS worth FROM ({branches} GROUP BY u.id"

    def with_sizes(self, sums: str) -> str:
        """Return SQL for id, worth and size of the rows with the highest sums of worth."""
        most = f"SELECT id, worth FROM {sums} ORDER BY worth DESC, id DESC LIMIT %s"
        return f"SELECT s.id, s.worth, t.size FROM ({most}) s CROSS JOIN core_searchtext t WHERE t.id = s.id"

    def expression(self, scope: Scope, *groups: Sequence[Term]) -> str:
        """Match rows of one of the projects that have any term of each group."""
        projects, *filters = scope
        return " OR ".join(f"({self._in_project(project, filters, groups)})" for project in projects)

    def _in_project(self, project: str, filters: Scope, groups: Iterable[Sequence[Term]]) -> str:
        before = f"{project.removeprefix('P')}{OF_PROJECT}"
        wanted = [[self._term(before, term) for term in terms] for terms in groups if terms]
        wanted += [[_quoted(f"P{before}{name}") for name in names] for names in filters]
        return " AND ".join(f"({' OR '.join(each)})" for each in wanted) or _quoted(project)

    def _term(self, before: str, term: Term) -> str:
        star = "*" if term.prefix else ""
        spellings = (
            f"{_quoted(' '.join(f'{before}{word}' for word in words))}{star}" for words in term.spellings
        )
        return f"({' OR '.join([*spellings, *(self._term(before, other) for other in term.also)])})"


class _Postgresql:
    """The index is on the expression `core_search_vector(words, scope)`; only phrases compute it again."""

    id = "t.id"
    by_age = "t.id + 0"  # Ordered by the bare id it scans the rows, and computes the vector of each.
    found = "SELECT t.id FROM core_searchtext t WHERE core_search_vector(t.words, t.scope) @@ %s::tsquery"
    branch = found.replace("t.id", "t.id, t.size, %s::int AS worth")

    branch_with_kind = branch.replace("t.size", "split_part(t.scope, ' ', 2) AS kind")
    position = "strpos"

    def entry_of(self, entry_id: str) -> str:
        # OFFSET 0 forces a lookup by id for each row; a plain join reads the whole table to find a hundred.
        return f"""LATERAL (
            SELECT id, kind, object_id, ref, updated_at FROM core_searchentry
            WHERE id = {entry_id} OFFSET 0) e"""

    def by_row(self, scope: Scope) -> tuple[str, Scope]:
        """Return a condition for rows `t` of the projects of a scope, and the scope with its filters alone.

        Looking up a word together with the project's reads the project's whole list: 1.5 ms of 600,000 rows.
        """
        projects, *filters = scope
        ids = ", ".join(str(int(project.removeprefix("P"))) for project in projects)
        return f" AND t.project_id IN ({ids})", [[], *filters]

    def name_of_kind(self, kind: str) -> str:
        return kind_word(kind)

    def most_of_kinds(self, branches: str, kinds: str) -> str:
        sums = f"""SELECT u.id, u.kind, sum(u.worth) AS worth FROM ({branches} AND u.kind IN ({kinds})
            GROUP BY u.id, u.kind"""
        return f"""SELECT s.id, s.worth, s.kind,
            row_number() OVER (PARTITION BY s.kind ORDER BY s.worth DESC, s.id DESC) AS place
            FROM ({sums}) s"""

    def sums(self, branches: str) -> str:
        return f"SELECT u.id, u.size, sum(u.worth) AS worth FROM ({branches} GROUP BY u.id, u.size"

    def with_sizes(self, sums: str) -> str:
        return f"SELECT id, worth, size FROM {sums} ORDER BY worth DESC, id DESC LIMIT %s"

    def expression(self, scope: Scope, *groups: Sequence[Term]) -> str:
        """Match rows that have any term of each group."""
        filters = [f"({' | '.join(map(_lexeme, words))})" for words in scope if words]
        wanted = [f"({' | '.join(map(self._term, terms))})" for terms in groups if terms]
        return " & ".join([*filters, *wanted])

    def _term(self, term: Term) -> str:
        star = ":*" if term.prefix else ""
        spellings = (f"({' <-> '.join(_lexeme(word) for word in words)}{star})" for words in term.spellings)
        return f"({' | '.join([*spellings, *map(self._term, term.also)])})"


def _quoted(words: str) -> str:
    return f'"{words}"'


def _lexeme(word: str) -> str:
    return f"'{word}'"


_SQLITE, _POSTGRESQL = _Sqlite(), _Postgresql()


def engine() -> _Sqlite | _Postgresql:
    return _SQLITE if sql.is_sqlite() else _POSTGRESQL
