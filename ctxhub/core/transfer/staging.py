"""Stages an import: finds what the project has already, and writes what is new where nobody sees it."""

import json
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.db import DataError, IntegrityError
from django.db.models import Model

from ctxhub.core import registry
from ctxhub.core.accounts.config import clean_config
from ctxhub.core.events.counters import CounterKey, add_to_counters, counter_key
from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Origin, Project
from ctxhub.core.paths.services import PatternChange, write_patterns
from ctxhub.core.transfer.columns import canonical
from ctxhub.core.transfer.declaration import Exported, Rows, Values, exported_kind, exported_kinds
from ctxhub.core.transfer.exporting import CONFIG
from ctxhub.core.transfer.file import BadLine, Checked, Line, lines_of_file
from ctxhub.core.transfer.links import bare_refs, texts_in
from ctxhub.core.transfer.records import WORDS, Records, Stored, read_stored
from ctxhub.core.transfer.uuids import native_uuid
from ctxhub.core.transfer.values import Read, Reader
from ctxhub.core.transfer.writing import insert_objects, update_objects

# How long a batch may hold the write lock, in seconds: the next one gets as many lines as fit.
BATCH_SECONDS = 0.25
LINES_AT_FIRST, LINES_AT_MOST = 100, 500
BYTES_AT_ONCE = 4 * 1024 * 1024
CONFLICTS_SHOWN = 20
FAIL, SKIP, REPLACE = "fail", "skip", "replace"
ON_CONFLICT = (FAIL, SKIP, REPLACE)


@dataclass(slots=True)
class Outcome:
    """What an import does, by kind: objects that are new, there already, replaced, left as they are, and
    without what they join; refs with ids in their texts that stay as they are written.

    `conflicts`: the refs of the first objects that differ; `conflicting`: how many do.
    """

    new: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    replaced: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    void: Counter[str] = field(default_factory=Counter)
    bare_refs: Counter[str] = field(default_factory=Counter)
    conflicts: list[str] = field(default_factory=list)
    conflicting: int = 0


class Staging:
    """The objects of a file on their way into `target`, or into a new project (None).

    `staged`: the hidden project that gets the new rows; None: nothing is written. `alive`: called after each
    batch.
    """

    def __init__(
        self,
        path: Path,
        checked: Checked,
        *,
        target: Project | None,
        staged: Project | None,
        on_conflict: str,
        alive: Callable[[int], None],
    ) -> None:
        self.target, self.staged = target, staged
        self.outcome = Outcome()
        self.config: dict[str, Any] | None = None
        # Of the target: origins of objects that were found by their names, and what is replaced.
        self.origins: list[tuple[str, int, UUID]] = []
        self.replacing: dict[str, dict[int, Read]] = defaultdict(dict)
        self.spelled: dict[str, dict[int, Read]] = defaultdict(dict)
        self.is_empty = target is None or _is_empty(target)
        self._path, self._on_conflict, self._alive = path, on_conflict, alive
        self._later = checked.uuids
        self._ids: dict[str, dict[int, int]] = defaultdict(dict)
        self._names = {model: _names_of(model, target) for model in WORDS}
        self._reader = Reader(self._ids, self._names, self._later)
        self._native: dict[str, dict[int, int]] = {}
        self._records = Records(target) if target else None
        # The numbers of lines that name later ones, with the ids of their objects; those of new objects.
        self._waiting: dict[int, int] = {}
        self._new: set[int] = set()
        self._lines_at_once = LINES_AT_FIRST
        self._made_up = 0
        # The next id of what is past. Of several imports none has the ids of another, and none reaches zero.
        self._past = -(2**40) - secrets.randbelow(2**52)

    def run(self) -> None:
        """Stage all lines. Raises BadLine for one that cannot be imported."""
        for kind, lines in self._batches(lines_of_file(self._path)):
            if kind == CONFIG:
                self._take_config(lines[0])
            else:
                self._take(_exported(kind), lines)
            self._alive(len(lines))
        self._take_waiting()
        if self.staged:
            self._finish(self.staged.pk)

    # -- Lines of one kind -------------------------------------------------------------------------

    def _take(self, exported: Exported, lines: Sequence[Line]) -> None:
        reads = [self._read(exported, line) for line in lines]
        self._count_refs(lines)
        found = self._find(exported, lines, reads) if self.target else {}
        new = [(line, read) for line, read in zip(lines, reads, strict=True) if line.number not in found]
        void = [line for line, read in new if read.is_void]
        self.outcome.void[exported.kind] += len(void)
        self._add(exported, [(line, read) for line, read in new if not read.is_void])
        known = [
            (line, read, found[line.number])
            for line, read in zip(lines, reads, strict=True)
            if line.number in found
        ]
        if known:
            self._meet(exported, known)

    def _count_refs(self, lines: Sequence[Line]) -> None:
        for line in lines:
            for text in texts_in(line.data):
                for kind in bare_refs(text):
                    if (named := exported_kind(kind)) and named.has_ids:
                        self.outcome.bare_refs[line.kind] += 1

    def _read(self, exported: Exported, line: Line) -> Read:
        try:
            return self._reader.read(exported, line.data)
        except BadLine:
            raise
        except InvalidInput as error:
            raise BadLine(line.number, error.message, hint=error.hint, **error.details) from error

    def _add(self, exported: Exported, objects: Sequence[tuple[Line, Read]]) -> None:
        """Write new objects, and remember their ids."""
        if not objects:
            return
        kind, reads = exported.kind, [read for _, read in objects]
        if self.staged:
            ids = self._written(exported, objects, self.staged.pk)
        else:
            ids = [-self._made_up - number for number in range(1, len(objects) + 1)]
            self._made_up += len(objects)
        for (line, read), row_id in zip(objects, ids, strict=True):
            self._ids[kind][line.uuid.int] = row_id
            if read.waits:
                self._waiting[line.number] = row_id
                self._new.add(line.number)
        if exported.model in WORDS:
            names = self._names[exported.model]
            for read, row_id in zip(reads, ids, strict=True):
                names[read.values["folded"]] = row_id
        self.outcome.new[kind] += len(objects)

    def _written(
        self, exported: Exported, objects: Sequence[tuple[Line, Read]], project_id: int
    ) -> list[int]:
        kind, reads = exported.kind, [read for _, read in objects]
        with _as_bad_line(objects), write_transaction(project_id):
            first_id = self._past if exported.is_past else None
            ids = insert_objects(project_id, exported, reads, first_id=first_id)
            self._past += len(objects) if exported.is_past else 0
            sql.insert(
                Origin._meta.db_table,
                ("project_id", "kind", "object_id", "uuid"),
                [
                    (project_id, kind, row_id, _stored_uuid(line.uuid))
                    for (line, _), row_id in zip(objects, ids, strict=True)
                ],
            )
            add_to_counters(project_id, _counted(exported, reads))
        return ids

    # -- Objects that the project has --------------------------------------------------------------

    def _find(self, exported: Exported, lines: Sequence[Line], reads: Sequence[Read]) -> dict[int, int]:
        """The ids of the objects that the target has already, by the numbers of their lines."""
        by_uuid = self._by_uuid(exported, [line.uuid for line in lines])
        by_name = self._by_name(exported, reads)
        found = {}
        for line, read in zip(lines, reads, strict=True):
            row_id = by_uuid.get(line.uuid.int) or by_name.get(_natural(exported, read))
            if row_id is not None:
                found[line.number] = row_id
                self._ids[exported.kind][line.uuid.int] = row_id
                if line.uuid.int not in by_uuid:
                    self.origins.append((exported.kind, row_id, line.uuid))
        return found

    def _by_uuid(self, exported: Exported, uuids: Sequence[UUID]) -> dict[int, int]:
        assert self.target
        rows = Origin.objects.in_project(self.target).filter(kind=exported.kind, uuid__in=uuids)
        origins = {uuid.int: row_id for uuid, row_id in rows.values_list("uuid", "object_id")}
        stored = exported.model._base_manager.filter(project=self.target)
        exist = {*stored.filter(pk__in=origins.values()).values_list("pk", flat=True)} if origins else set()
        native = self._native_ids(exported)
        found = {uuid.int: native[uuid.int] for uuid in uuids if uuid.int in native}
        return found | {uuid: row_id for uuid, row_id in origins.items() if row_id in exist}

    def _native_ids(self, exported: Exported) -> Mapping[int, int]:
        """The objects that the target made, by their computed UUIDs."""
        assert self.target
        if exported.kind not in self._native:
            ids = (
                exported.model._base_manager.filter(project=self.target)
                .order_by()
                .values_list("pk", flat=True)
            )
            uuid, kind = self.target.uuid, exported.kind
            self._native[kind] = {native_uuid(uuid, kind, each).int: each for each in ids.iterator()}
        return self._native[exported.kind]

    def _by_name(self, exported: Exported, reads: Sequence[Read]) -> dict[Any, int]:
        assert self.target
        names = {name for read in reads if (name := _natural(exported, read)) is not None}
        if not names:
            return {}
        among = zip(exported.natural, zip(*names, strict=True), strict=True)
        found = exported.model._base_manager.filter(
            project=self.target, **{f"{column}__in": {*values} for column, values in among}
        ).values_list("pk", *exported.natural)
        return {tuple(name): row_id for row_id, *name in found if tuple(name) in names}

    def _meet(self, exported: Exported, known: Sequence[tuple[Line, Read, int]]) -> None:
        """Decide what becomes of objects that the target has."""
        kind = exported.kind
        if exported.is_word:
            self.outcome.same[kind] += len(known)
            self.spelled[kind] |= {row_id: read for _, read, row_id in known if self.is_empty}
            return
        for line, read, row_id in known:
            if read.waits:
                self._waiting[line.number] = row_id
        self._decide(exported, [each for each in known if not each[1].waits])

    def _decide(self, exported: Exported, known: Sequence[tuple[Line, Read, int]]) -> None:
        if not known:
            return
        assert self._records
        ids = [row_id for _, _, row_id in known]
        records = {record.object_id: record for record in self._records.read(exported, ids)}
        stored = read_stored(exported, ids)
        rows = {row["id"]: row for row in stored.rows}
        for line, read, row_id in known:
            if _text(exported, records[row_id].data) == _text(exported, line.data) or _is_same(
                exported, read, rows[row_id], stored
            ):
                self.outcome.same[exported.kind] += 1
                continue
            self._conflict(exported.kind, f"{exported.kind}:{_shown_name(exported, read, row_id)}")
            if self._on_conflict == REPLACE:
                self.replacing[exported.kind][row_id] = read

    def _conflict(self, kind: str, ref: str) -> None:
        counted = {SKIP: self.outcome.skipped, REPLACE: self.outcome.replaced}
        if self._on_conflict in counted:
            counted[self._on_conflict][kind] += 1
        self.outcome.conflicting += 1
        if len(self.outcome.conflicts) < CONFLICTS_SHOWN:
            self.outcome.conflicts.append(ref)

    def _take_config(self, line: Line) -> None:
        """Settings of a project that is not empty stay, unless its objects are replaced."""
        try:
            config = clean_config(line.data)
        except InvalidInput as error:
            raise BadLine(line.number, error.message, hint=error.hint, **error.details) from error
        self.origins.append((CONFIG, 0, line.uuid))
        if self.target is None or self.is_empty:
            self.config = config
            self.outcome.new[CONFIG] += 1
        elif canonical(self.target.config) == config:
            self.outcome.same[CONFIG] += 1
        elif self._on_conflict == REPLACE:
            self.config = config
            self.outcome.replaced[CONFIG] += 1
        else:
            self.outcome.skipped[CONFIG] += 1

    # -- What names later lines, and what follows from rows ----------------------------------------

    def _take_waiting(self) -> None:
        """Read the lines again that name later ones, with the ids that these have now."""
        if not self._waiting:
            return
        again = (line for line in lines_of_file(self._path) if line.number in self._waiting)
        for kind, lines in self._batches(again):
            exported = _exported(kind)
            reads = [(line, self._read(exported, line), self._waiting[line.number]) for line in lines]
            new = {row_id: read for line, read, row_id in reads if line.number in self._new}
            if self.staged and new:
                with write_transaction(self.staged.pk):
                    update_objects(self.staged.pk, exported, new, parts=False)
            if known := [each for each in reads if each[0].number not in self._new]:
                self._decide(exported, known)
            self._alive(0)

    def _finish(self, project_id: int) -> None:
        """Write what follows from the staged rows: their globs, and what their nouns add."""
        for exported in exported_kinds(with_log=True):
            noun = registry.find_noun(exported.kind)
            history = noun.history if noun and noun.history and noun.history.has_paths else None
            if not history and not exported.finish:
                continue
            for ids in sql.chunks(_ids_of(exported.model, project_id), LINES_AT_MOST):
                with write_transaction(project_id):
                    if history:
                        patterns = history.patterns_of(project_id, ids)
                        changes = [PatternChange(row_id, (), globs) for row_id, globs in patterns.items()]
                        write_patterns(project_id, exported.kind, changes)
                    if exported.finish:
                        exported.finish(project_id, ids)
                self._alive(0)

    def _batches(self, lines: Iterable[Line]) -> Iterator[tuple[str, list[Line]]]:
        """Lines of one kind, as many as are written in a quarter of a second."""
        batch: list[Line] = []
        size = 0
        for line in lines:
            if batch and (
                line.kind != batch[0].kind
                or len(batch) >= self._lines_at_once
                or size + line.size > BYTES_AT_ONCE
            ):
                yield from self._timed(batch)
                batch, size = [], 0
            batch.append(line)
            size += line.size
        if batch:
            yield from self._timed(batch)

    def _timed(self, batch: list[Line]) -> Iterator[tuple[str, list[Line]]]:
        started = monotonic()
        yield batch[0].kind, batch
        seconds = monotonic() - started
        if len(batch) >= self._lines_at_once and seconds < BATCH_SECONDS / 2:
            self._lines_at_once = min(LINES_AT_MOST, 2 * self._lines_at_once)
        elif seconds > BATCH_SECONDS:
            self._lines_at_once = max(1, len(batch) // 2)


@contextmanager
def _as_bad_line(objects: Sequence[tuple[Line, Read]]) -> Iterator[None]:
    try:
        yield
    except (IntegrityError, DataError) as error:
        last = objects[-1][0].number
        raise BadLine(
            objects[0][0].number, f"it or a line up to {last:,} contradicts another one: {str(error)[:200]}."
        ) from error


def _exported(kind: str) -> Exported:
    exported = exported_kind(kind)
    assert exported
    return exported


def _is_empty(project: Project) -> bool:
    """Whether a project has nothing but its words."""
    return not any(
        each.model._base_manager.filter(project=project).exists()
        for each in exported_kinds()
        if each.model not in WORDS
    )


def _names_of(model: type[Model], project: Project | None) -> dict[str, int]:
    """The ids of a project's words of a model by their case-folded names."""
    rows = model._base_manager.filter(project=project) if project else model._base_manager.none()
    return dict(rows.values_list("folded", "pk"))


def _ids_of(model: type[Model], project_id: int) -> list[int]:
    return list(model._base_manager.filter(project=project_id).order_by("pk").values_list("pk", flat=True))


def _counted(exported: Exported, reads: Sequence[Read]) -> Counter[CounterKey]:
    """The increments of the counters for new objects of a kind."""
    kind = exported.kind
    if exported.counter:
        return Counter(key for read in reads if (key := exported.counter(read.values)))
    noun = registry.find_noun(kind)
    if noun is None or noun.counting or noun.count is None:
        return Counter()
    history: Any = noun.history
    if history and history.is_counted:
        return Counter(history.counter_of(SimpleNamespace(**read.values)) for read in reads)
    return Counter({counter_key(kind): len(reads)})


def _natural(exported: Exported, read: Read) -> tuple[Any, ...] | None:
    """The name of an object in its project; None if it has none. Of several columns some may be empty."""
    name = tuple(read.values[column] for column in exported.natural)
    return name if any(name) and None not in name and not read.is_void else None


def _shown_name(exported: Exported, read: Read, row_id: int) -> str:
    name = next((read.values[column] for column in ("key", "path", "name") if read.values.get(column)), None)
    return str(name) if name and not exported.has_ids else str(row_id)


def _is_same(exported: Exported, read: Read, row: Values, stored: Stored) -> bool:
    """Whether an object that was read is stored like that."""
    if not _are_same(exported, read.values, row, exported.loose):
        return False
    for part in exported.parts:
        rows = stored.parts[part.name].get(row["id"], ())
        given = read.parts[part.name]
        if len(rows) != len(given) or not all(map(_are_same, [part] * len(rows), given, rows)):
            return False
    return all({*read.many[name]} == {*stored.many[name].get(row["id"], ())} for name in exported.words)


def _are_same(rows: Rows, given: Values, stored: Values, loose: Sequence[str] = ()) -> bool:
    columns = [*(column.attname for column in rows.fields if column.name not in loose), *rows.left]
    return all(
        given[column] == stored[column] and type(given[column]) is type(stored[column])
        for column in columns
        if column in given
    )


def _text(exported: Exported, data: Mapping[str, Any]) -> str:
    return json.dumps(
        {name: each for name, each in data.items() if name not in exported.loose}, sort_keys=True
    )


def _stored_uuid(uuid: UUID) -> Any:
    return uuid.hex if sql.is_sqlite() else uuid
