"""Reads the causes and dependencies of snapshots as links, for walks over objects of all kinds."""

from collections.abc import Iterator, Mapping, Sequence

from ctxhub.core.kit import sql
from ctxhub.core.links import Asked, Head, Link, LinkSource, Reach, Words
from memory.snapshots.models.snapshot import ActionType
from memory.snapshots.rules.causes import CAUSED_BY, DEPENDS_ON
from memory.snapshots.sql.links import SUMMARY_CHARACTERS, WHY
from memory.snapshots.sql.walks import Step, read_ancestors, read_descendants

KIND = "snapshot"
WORDS = {
    CAUSED_BY: Words("was caused by", "led to"),
    DEPENDS_ON: Words("depends on", "is needed by"),
}
# A walk lists 1,000 snapshots; one more shows that there are others.
MOST_READ = 1_001


def read_links(asked: Asked) -> list[Link]:
    """The links of snapshots with their direct causes, or with what directly rests on them."""
    if not (ids := asked.ids(KIND)):
        return []
    effect, cause = ("s.id", "s.caused_by_id"), ("l.snapshot_id", "l.dependency_id")
    ends = [pair if asked.to_causes else pair[::-1] for pair in (effect, cause)]
    causes, values = sql.among(ends[0][0], ids)
    dependencies, _ = sql.among(ends[1][0], ids)
    rows = sql.rows(
        f"""
        SELECT {", ".join(ends[0])}, 0 FROM memory_snapshot s
        WHERE {causes} AND +s.project_id = %s AND s.caused_by_id IS NOT NULL
        UNION ALL SELECT {", ".join(ends[1])}, 1 FROM memory_snapshotdependency l
        WHERE {dependencies} AND +l.project_id = %s
        ORDER BY 3, 1, 2 LIMIT %s""",
        [*values, asked.project_id, *values, asked.project_id, asked.at_most],
    )
    names = {0: CAUSED_BY, 1: DEPENDS_ON}
    return [Link((KIND, one), (KIND, other), names[loose], bool(loose)) for one, other, loose in rows]


def read_reach(project_id: int, snapshot_id: int, to_causes: bool) -> Reach:
    """A snapshot and what it rests on, or what rests on it: at most 1,001 others, and the line of causes."""
    found = (
        read_ancestors(project_id, snapshot_id, MOST_READ, MOST_READ)
        if to_causes
        else read_descendants(project_id, snapshot_id, MOST_READ + 1)
    )
    keys = {step.id: (KIND, step.id) for step in found}
    links: list[Link] = []
    for step in found:
        effect = keys[step.id]
        for cause, name, is_loose in _causes(step):
            if cause in keys:
                ends = (effect, keys[cause]) if to_causes else (keys[cause], effect)
                links.append(Link(*ends, name, is_loose))
    return Reach({keys[step.id]: _head(step) for step in found}, links)


def read_heads(
    project_id: int, ids: Sequence[int], *, why_characters: int = SUMMARY_CHARACTERS
) -> Mapping[int, Head]:
    where, values = sql.by_ids("s", project_id, ids)
    rows = sql.rows(
        f"SELECT s.id, s.action_type, substr(s.summary, 1, {SUMMARY_CHARACTERS}),"
        f" substr({WHY}, 1, {why_characters}), s.created_at FROM memory_snapshot s WHERE {where}",
        values,
    )
    steps = [
        Step(row_id, action, text, why, sql.read_time(at), None, ()) for row_id, action, text, why, at in rows
    ]
    return {step.id: _head(step) for step in steps}


def _causes(step: Step) -> Iterator[tuple[int, str, bool]]:
    """What a snapshot rests on, with the name of the link, and whether it is loose.

    Dependencies are: they are found automatically, and so no short cuts along causes.
    """
    if step.caused_by_id:
        yield step.caused_by_id, CAUSED_BY, False
    for other in step.dependencies:
        yield other, DEPENDS_ON, True


def _head(step: Step) -> Head:
    action = str(ActionType(step.action_type).label)
    return Head(step.id, action, step.summary, step.at, step.at, [f"{KIND}:{step.id}"], step.why)


LINKS = LinkSource(read_links, read_reach=read_reach, words=WORDS)
