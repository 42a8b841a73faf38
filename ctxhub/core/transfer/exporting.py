"""Writes what a project holds as JSON Lines, in one read transaction and little memory."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any

from django.db import connection, models, transaction
from django.db.models import Sum
from django.db.models.functions import Length

from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.transfer.columns import canonical
from ctxhub.core.transfer.declaration import KINDS, Exported, exported_kinds
from ctxhub.core.transfer.records import WORDS, Record, Records
from ctxhub.core.transfer.uuids import Uuids

FORMAT = 1
CONFIG = "config"
MEDIA_TYPE = "application/x-ndjson"
MOST_BYTES = 50 * 1024 * 1024
"""Of what is sent in one answer, or taken from one request."""
ROWS_AT_ONCE = 500
# Characters of the texts of objects that are read at once; one larger object is read alone.
CHARACTERS_AT_ONCE = 2_000_000
# U+0085, U+2028 and U+2029: some programs end lines there.
_SEPARATORS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
Progress = Callable[[int], None]


@frozen
class Export:
    """An export that has begun: how many lines of objects it will have, by kind, and its lines."""

    counts: Mapping[str, int]
    lines: Iterator[bytes]


def lines_of(
    project: Project, *, with_log: bool = False, progress: Progress | None = None
) -> Iterator[bytes]:
    """The lines of an export, each with its line end: a header, a line for each object, and the checksum.

    The first is {"ctxhub": 1, "project", "uuid", "at", "counts": {kind: number}}, the last {"sha256"} of all
    bytes before it, as hex; those between are {"kind", "uuid", "data"}. `progress` is called with the number
    of objects that were written since the last call.
    """
    digest = hashlib.sha256()
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            _see_one_state()
        project = Project.objects.get(pk=project.pk)  # As it is in this state.
        for line, count in _lines(project, exported_kinds(with_log=with_log)):
            digest.update(line)
            yield line
            if progress and count:
                progress(count)
    yield line_of({"sha256": digest.hexdigest()})


def small_export(project: Project, *, with_log: bool, at_most: int) -> bytes:
    """A whole export, for an answer. Raises LimitReached, which names the command, if it has more bytes."""
    body = bytearray()
    for line in lines_of(project, with_log=with_log):
        body += line
        if len(body) > at_most:
            raise LimitReached(
                f"The export has more than {at_most // 2**20} MiB.",
                hint=f"On the hub's machine: manage.py export FILE --project {project.slug}",
            )
    return bytes(body)


def line_of(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
    if not text.isascii():
        text = text.translate(_SEPARATORS)
    return f"{text}\n".encode()


def counts_of(project: Project, kinds: Sequence[Exported]) -> dict[str, int]:
    """How many lines an export has, by kind."""
    counts = {each.kind: rows_of(each, project).count() for each in kinds}
    return {CONFIG: 1} | {kind: count for kind, count in counts.items() if count}


def rows_of(exported: Exported, project: Project) -> models.QuerySet[Any]:
    """The rows of a kind that an export has."""
    rows = exported.model._base_manager.filter(project=project)
    return exported.only(rows) if exported.only else rows


def _lines(project: Project, kinds: Sequence[Exported]) -> Iterator[tuple[bytes, int]]:
    at = clock.now().astimezone(UTC).isoformat()
    counts = counts_of(project, kinds)
    head = {"ctxhub": FORMAT, "project": project.slug, "uuid": str(project.uuid), "at": at, "counts": counts}
    yield line_of(head), 0
    config = Record(0, Uuids(project).of([(CONFIG, 0)])[CONFIG, 0], canonical(project.config))
    records = Records(project)
    for exported in kinds:
        if KINDS.index(exported.kind) == KINDS.index(CONFIG) + 1:
            yield _line(CONFIG, config), 1
        for ids in batches_of(exported, project):
            for record in records.read(exported, ids):
                yield _line(exported.kind, record), 1


def _line(kind: str, record: Record) -> bytes:
    return line_of({"kind": kind, "uuid": str(record.uuid), "data": record.data})


def batches_of(exported: Exported, project: Project) -> Iterator[list[int]]:
    """The ids of a kind's rows in the order of an export: words by their names, the others by their ids."""
    rows = rows_of(exported, project)
    if exported.model in WORDS:
        named = sorted(rows.values_list("folded", "pk"))
        for start in range(0, len(named), ROWS_AT_ONCE):
            yield [row_id for _, row_id in named[start : start + ROWS_AT_ONCE]]
        return
    last: int | None = None
    while True:
        page = rows if last is None else rows.filter(pk__gt=last)
        ids = list(page.order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE])
        if not ids:
            return
        yield from _by_size(exported, ids)
        last = ids[-1]


def _by_size(exported: Exported, ids: Sequence[int]) -> Iterator[list[int]]:
    sizes = _sizes(exported, ids)
    batch: list[int] = []
    total = 0
    for row_id in ids:
        size = sizes.get(row_id, 0)
        if batch and total + size > CHARACTERS_AT_ONCE:
            yield batch
            batch, total = [], 0
        batch.append(row_id)
        total += size
    yield batch


def _sizes(exported: Exported, ids: Sequence[int]) -> dict[int, int]:
    """About how many characters of text the records of rows hold, by their ids."""
    sizes: dict[int, int] = {}
    for rows in (exported, *exported.parts):
        texts = [column.name for column in rows.fields if type(column) is models.TextField]
        if not texts:
            continue
        owner = getattr(rows, "owner", "pk")
        among = rows.model._base_manager.filter(**{f"{owner}__in": ids}).order_by()
        sums = {f"{name}_length": Sum(Length(name)) for name in texts}
        for row_id, *lengths in among.values_list(owner).annotate(**sums):
            sizes[row_id] = sizes.get(row_id, 0) + sum(filter(None, lengths))
    return sizes


def _see_one_state() -> None:
    """Let the transaction see what was committed before its first read, and nothing later."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
