"""Imports the causes and dependencies of snapshots. Circles are kept."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import VALUES_AT_ONCE
from ctxhub.importers.shared.report import Report
from ctxhub.importers.wakeiqx.snapshots import NewSnapshot
from memory.snapshots.models import SnapshotDependency

SET_CAUSES = """
    UPDATE memory_snapshot SET caused_by_id = v.column2
    FROM (VALUES {marks}) v WHERE memory_snapshot.id = v.column1 AND memory_snapshot.project_id = %s
"""
COLUMNS = ("project_id", "snapshot_id", "dependency_id")

Link = tuple[str, str]
"""The old ids of a snapshot and of another one that it names."""


@frozen
class Links:
    causes: list[Link] = field(default_factory=list)
    dependencies: list[Link] = field(default_factory=list)


def choose_links(chosen: Iterable[NewSnapshot], known: Collection[str], report: Report) -> Links:
    """The links of new snapshots. `known`: the old ids of the snapshots that will be there."""
    links = Links()
    for new in chosen:
        links.causes.extend(_known("causes", new.old_id, [new.cause] if new.cause else [], known, report))
        links.dependencies.extend(_known("dependencies", new.old_id, new.dependencies, known, report))
    return links


def _known(
    kind: str, old_id: str, targets: Iterable[str], known: Collection[str], report: Report
) -> Iterator[Link]:
    for target in targets:
        if target == old_id:
            report.left(kind, old_id, "the snapshot names itself")
        elif target not in known:
            report.left(kind, f"{old_id} to {target}", "the named snapshot is not there, or is left")
        else:
            report.took(kind)
            yield old_id, target


def write_links(project_id: int, links: Links, ids: Mapping[str, int]) -> None:
    """Write the links between stored snapshots. `ids`: their ids by old id."""
    for causes in sql.chunks(links.causes, VALUES_AT_ONCE // 3):
        _set_causes(project_id, [(ids[effect], ids[cause]) for effect, cause in causes])
    for dependencies in sql.chunks(links.dependencies, VALUES_AT_ONCE // len(COLUMNS)):
        records = [(project_id, ids[snapshot], ids[target]) for snapshot, target in dependencies]
        sql.insert(SnapshotDependency._meta.db_table, COLUMNS, records)


def _set_causes(project_id: int, pairs: Sequence[tuple[int, int]]) -> None:
    """Set the causes, after all rows are written: in a circle none could be first."""
    values = [row_id for pair in pairs for row_id in pair]
    marks = ", ".join(["(%s, %s)"] * len(pairs))
    sql.execute(SET_CAUSES.format(marks=marks), [*values, project_id])
