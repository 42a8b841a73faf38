"""Changes of files: lists with every filter, and one by its id."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Unpack

from typing_extensions import TypedDict

from ctxhub.core.events.log import moment_of
from ctxhub.core.hub.named_views import register_view
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import clean_choice, clean_limit, clean_moment, clean_name
from ctxhub.core.kit.limits import OPTIONAL_PATH
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.ordering import Ordering, Way, way_of
from ctxhub.core.kit.pages import Condition
from ctxhub.core.paths.bearing import bear_on, bears_on
from ctxhub.core.paths.case import Compared, compared_in
from ctxhub.core.paths.queries import patterns_of_ref
from ctxhub.core.paths.reading import reader_in
from ctxhub.core.text.glob_syntax import is_exempting, not_exempting
from ctxhub.core.text.globs import is_glob
from ctxhub.core.vocabulary.names import find_vocabulary
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    SINCE,
    About,
    ByAgent,
    Cursor,
    InLayer,
    Limit,
    Time,
    Word,
    one_of,
)
from tracking.changes import rows
from tracking.changes.rows import CHANGES, ChangeQuery, ChangeRow
from tracking.files.paths import clean_filter
from tracking.files.rows import column_of, matching, read_paths, resources_named, resources_within
from tracking.models import ChangeKind

COLUMNS = ("id", "path", "change", "by", "layer", "description", "at")
RECENT = timedelta(hours=1)
# In cursors of lists that have a filter, in the place of the time window.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
MOST_READ = 10_000
BRANCHES = 20  # Up to this many files are each scanned by their own index.

Kind = Annotated[str, one_of(*ChangeKind.labels)]


class Change(TypedDict):
    id: int
    path: str
    change: Kind
    by: str
    layer: str | None
    description: str
    at: Time


GLOB = "A path, or a glob: `src/*.py`, `src/**`, `src/` for everything below."


class ChangeFilters(TypedDict, total=False):
    """What `file changes` takes, before validation."""

    path: Annotated[str, NAMES_FILES, About(GLOB, OPTIONAL_PATH)] | None
    by: ByAgent | None
    layer: InLayer | None
    change: Annotated[Word, About("Only such changes.", {"enum": ChangeKind.labels})] | None
    since: Annotated[str, About(f"Made since. {SINCE} Without any filter: the last hour.")] | None
    limit: Limit
    cursor: Cursor | None


def list_changes(project_id: int, *, ordering: Ordering = None, **filters: Unpack[ChangeFilters]) -> Listing:
    """Changes that pass every filter, newest first; without a filter those of the last hour.

    `path` is one path or a glob. Rows id, path, change, by, layer, description, at.
    """
    limit, way = clean_limit(filters.get("limit", 20)), way_of(ordering, "-at")
    after, window_start = _read_cursor(cursor, way) if (cursor := filters.get("cursor")) else (None, None)
    moment: datetime | None = None
    if not any(filters.get(name) for name in ("path", "by", "layer", "change", "since")):
        # Later pages keep the time window of the first one.
        moment = window_start = window_start or clock.now() - RECENT
    else:
        window_start, moment = None, moment_of(project_id, clean_moment(filters.get("since"), "since"))
    query = _build_query(project_id, moment, filters)
    found = rows.list_changes(query, limit + 1, after, way) if query else []

    def cursor_after(count: int) -> str:
        last = found[count - 1]
        return way.cursor(last.at, last.id, window_start or NEVER)

    return Listing(
        columns=COLUMNS,
        rows=[list(change_item(row, full=False).values()) for row in found[:limit]],
        next=cursor_after(limit) if len(found) > limit else None,
        cursor_after=cursor_after,
    )


@register_view("recent_file_changes", "Files changed in the last hour, newest first.")
def recent_changes(project_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    return list_changes(project_id, limit=limit, cursor=cursor)


def get_change(project_id: int, change_id: int) -> ChangeRow:
    for row in CHANGES.read(project_id, whole_numbers([str(change_id)])).values():
        return row
    raise NotFound(f"There is no change {shown(change_id)}.", hint="It may have aged away: see change_days.")


def last_within_by_another(
    project_id: int, globs: Sequence[str], folded: str, since: datetime
) -> ChangeRow | None:
    """The newest change after `since` of a file that one of the globs matches, not made by this agent."""
    own = "SELECT id FROM core_agent WHERE project_id = %s AND folded = %s"
    conditions: list[Condition] = [
        ("d.at > %s", [sql.stored_time(since)]),
        (f"(d.agent_id IS NULL OR d.agent_id NOT IN ({own}))", [project_id, folded]),
    ]
    query = _within(project_id, globs, conditions)
    found = rows.list_changes(query, 1, None) if query else []
    return found[0] if found else None


def files_changed_by(project_id: int, folded: str, since: datetime, *, limit: int = 50) -> list[str]:
    """The files that an agent changed after `since`, those of its newest changes."""
    return rows.files_changed_by(project_id, folded, since, limit)


def changes_by_others(
    project_id: int, folded: str, since: datetime, *, ids: Sequence[int] | None = None, limit: int = 200
) -> list[ChangeRow]:
    """The last change of each file after `since` that another agent made, newest first.

    `ids`: only these changes. Of the newest `limit` changes.
    """
    own = "SELECT id FROM core_agent WHERE project_id = %s AND folded = %s"
    conditions: list[Condition] = [
        ("d.at > %s", [sql.stored_time(since)]),
        (f"(d.agent_id IS NULL OR d.agent_id NOT IN ({own}))", [project_id, folded]),
    ]
    if ids is not None:
        conditions.append(sql.among("d.id", ids))
    last: dict[str, ChangeRow] = {}
    for row in rows.list_changes(ChangeQuery(project_id, conditions), limit, None):
        last.setdefault(row.path, row)
    return list(last.values())


def changes_on_paths(
    project_id: int,
    folded: str,
    paths: Sequence[str],
    since: datetime,
    *,
    limit: int,
    compared: Compared | None = None,
) -> tuple[list[ChangeRow], int]:
    """The last change after `since`, by another agent, of each file that one of the paths or globs matches.

    Newest first, at most `limit`; and how many files there are.
    """
    last: dict[str, int] = {}
    compared = compared or compared_in(project_id)
    wanted = list(map(compared, paths))
    for change_id, file in rows.paths_changed(project_id, folded, since, MOST_READ):
        if file not in last and any(bears_on(path, compared(file)) for path in wanted):
            last[file] = change_id
    found = CHANGES.read(project_id, list(last.values())[:limit])
    return [found[change_id] for change_id in last.values() if change_id in found], len(last)


def files_of(project_id: int, ref: str) -> list[int]:
    """The ids of the files that a decision, constraint or memory bears on, at most 10,000 for each glob.

    Of another kind, or of none, there are no files.
    """
    ids: set[int] = set()
    compared = compared_in(project_id)
    column = column_of(compared)
    patterns = list(map(compared, patterns_of_ref(project_id, ref)))
    for pattern in not_exempting(patterns):
        if is_glob(pattern):
            ids.update(resources_within(project_id, [pattern], MOST_READ, column))
        ids.update(resources_named(project_id, [pattern], column))
    if not any(map(is_exempting, patterns)):
        return sorted(ids)
    names = read_paths(project_id, sorted(ids))
    return [file_id for file_id in sorted(ids) if bear_on(patterns, compared(names[file_id]))]


def change_item(row: ChangeRow, *, full: bool = True) -> dict[str, Any]:
    """A change as clients see it; unless `full` the description is shortened."""
    return dict(
        Change(
            id=row.id,
            path=row.path,
            change=row.change_label,
            by=row.agent,
            layer=row.layer,
            description=row.description if full else preview(row.beginning),
            at=format_time(row.at),
        )
    )


def open_changes(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Items by name (the id in a ref such as `change:12`)."""
    found = CHANGES.read(project_id, whole_numbers(names))
    items = {name: found.get(number) for name in names for number in whole_numbers([name])}
    return {name: _without_empty(change_item(row, full=full)) for name, row in items.items() if row}


def whole_numbers(names: Sequence[str]) -> list[int]:
    """The ids among these names; anything else is dropped."""
    return [int(name) for name in names if name.isascii() and name.isdecimal() and len(name) < 19]


def count_in_last_hour(project_id: int) -> dict[int, int]:
    return rows.count_by_layer(project_id, clock.now() - RECENT)


def _without_empty(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "id" and value not in (None, "")}


def _read_cursor(cursor: str, way: Way) -> tuple[tuple[datetime, int], datetime | None]:
    at, row_id, window_start = way.read(cursor, datetime, int, datetime)
    return (at, row_id), None if window_start == NEVER else window_start


def _build_query(project_id: int, since: datetime | None, filters: ChangeFilters) -> ChangeQuery | None:
    """The filters as a query; None if they name an agent or file that does not exist: nothing matches."""
    conditions: list[Condition] = []
    if change := filters.get("change"):
        conditions.append(("d.change = %s", [clean_choice(change, ChangeKind, "change").value]))
    by = clean_name(by, "by") if (by := filters.get("by")) else ""
    layer = clean_name(layer, "layer") if (layer := filters.get("layer")) else ""
    globs = clean_filter(path, reader=reader_in(project_id)) if (path := filters.get("path")) else ()
    if by or layer:
        vocabulary = find_vocabulary(project_id, agent=by, layers=bool(layer))
        if layer:
            conditions.append(("d.layer_id = %s", [vocabulary.layer(layer)[0]]))
        if by and vocabulary.agent_id is None:
            return None
        if by:
            conditions.append(("d.agent_id = %s", [vocabulary.agent_id]))
    if since is not None:
        conditions.append(("d.at >= %s", [sql.stored_time(since)]))
    return _within(project_id, globs, conditions) if globs else ChangeQuery(project_id, conditions)


def _within(project_id: int, globs: Sequence[str], conditions: Sequence[Condition]) -> ChangeQuery | None:
    """A query limited to the files of paths or globs; None if there are none."""
    compared = compared_in(project_id)
    wanted, column = list(map(compared, globs)), column_of(compared)
    if not any(map(is_glob, wanted)):
        ids = resources_named(project_id, wanted, column)
    else:
        ids = resources_within(project_id, wanted, BRANCHES + 1, column)
    if len(ids) > BRANCHES:
        # One CASE value keeps both engines from starting with the files and sorting the result. A number,
        # because PostgreSQL underestimates a bare regex match and then JIT-compiles the query: 150 ms.
        file = f"(SELECT r.{column} FROM tracking_resource r WHERE r.id = d.resource_id)"
        matched, values = matching(wanted, file)
        return ChangeQuery(project_id, [*conditions, (f"CASE WHEN {matched} THEN 1 ELSE 0 END > 0", values)])
    return ChangeQuery(project_id, conditions, ids) if ids else None
