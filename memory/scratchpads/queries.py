"""Reads scratchpads: by id, by workflow, and at earlier revisions; several share the budget of an answer."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, Unpack

from typing_extensions import TypedDict

from ctxhub.core.accounts.agents import author_id
from ctxhub.core.hub.outlines import HeadingRow, Part, clean_part, opened
from ctxhub.core.hub.partial_reads import Excerpt, Opened, Reading, clean_requested_lines
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput, NotFound, shown
from ctxhub.core.kit.inputs import LIST_LENGTH, clean_limit, read_id
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.ordering import Ordering, way_of
from ctxhub.core.kit.pages import Condition, ListPlan, in_order
from ctxhub.core.kit.tool_names import operation
from ctxhub.toolbox.argument_types import About, Author, RowsOf, Time, one_of
from memory.scratchpads.models import PadChange
from memory.scratchpads.revisions import PadState, list_states, read_beginnings, read_state
from memory.scratchpads.rows import LISTED, PADS, WITH_CONTENT, PadRow

# What the pads of a workflow, which are few, can be ordered by.
ORDERS = {name: [name] for name in ("id", "name", "length", "created_at", "updated_at")}
COLUMNS = ("id", "name", "length", "created_at", "updated_at", "content")
REVISION_COLUMNS = ("revision", "change", "length", "agent", "at")
# Most bytes of content that are read for one page of a list; an answer holds less.
PAGE_BYTES = 256 * 1024


class Pad(TypedDict):
    id: int
    name: str
    workflow_id: int
    content: NotRequired[Annotated[str, About("Not with an outline.")]]
    created_at: Time
    updated_at: Time
    revision: Annotated[int, About("The ETag.")]
    outline: NotRequired[Annotated[Listing, RowsOf(HeadingRow)]]
    total_lines: NotRequired[int]
    truncated: NotRequired[bool]
    omitted: NotRequired[Annotated[int, About("Headings that are left out.")]]


class ListedRevision(TypedDict):
    revision: int
    change: Annotated[str, one_of(*PadChange.labels)]
    length: Annotated[int, About("In characters.")]
    agent: Author
    at: Time


class Revision(ListedRevision):
    id: int
    name: str
    workflow_id: int
    content: Annotated[str, About("The text as it was.")]


def find_scratchpads(
    project_id: int, ids: Sequence[int], fields: Sequence[str] = WITH_CONTENT
) -> dict[int, PadRow]:
    """The existing pads by id, in the order of `ids`."""
    possible = [row_id for row_id in dict.fromkeys(ids) if 0 < row_id < 2**63]
    return PADS.read(project_id, possible, fields)


def get_scratchpad(project_id: int, scratchpad_id: int, fields: Sequence[str] = WITH_CONTENT) -> PadRow:
    found = find_scratchpads(project_id, [scratchpad_id], fields)
    if scratchpad_id not in found:
        raise unknown_scratchpad(scratchpad_id)
    return found[scratchpad_id]


def unknown_scratchpad(scratchpad_id: int | str) -> NotFound:
    return NotFound(
        f"There is no scratchpad {shown(scratchpad_id)}.",
        hint=f"{operation('scratchpad list')} with a workflow_id shows those there are.",
    )


def list_scratchpads(
    project_id: int,
    workflow_id: int,
    *,
    include_content: bool = False,
    by: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """A workflow's pads, in the order of their creation; none for an unknown workflow.

    With contents, a page ends where they would exceed PAGE_BYTES.
    """
    conditions: list[Condition] = [("d.workflow_id = %s", [workflow_id])]
    if by:
        conditions.append(("d.agent_id = %s", [author_id(project_id, by)]))
    plan = ListPlan(conditions, order=["id"], is_empty=not 0 < workflow_id < 2**63)
    plan = in_order(plan, ordering, ORDERS)
    page = PADS.page(project_id, plan, limit=limit, cursor=cursor, names=LISTED)
    rows = _with_contents(project_id, page.rows) if include_content else page.rows
    has_more = page.has_more or len(rows) < len(page.rows)
    return Listing(
        COLUMNS,
        [
            [
                *(row.id, row.name, row.length, format_time(row.created_at), format_time(row.updated_at)),
                row.content if include_content else None,
            ]
            for row in rows
        ],
        next=page.cursor_after(len(rows)) if has_more else None,
        extra=page.total,
        cursor_after=page.cursor_after,
    )


def scratchpad_item(row: PadRow) -> dict[str, Any]:
    """A complete scratchpad as tools and REST show it."""
    return dict(_pad(row))


def opened_pad(row: PadRow, **part: Unpack[Part]) -> Opened | Excerpt:
    """A pad, complete or in part, or with its headings instead of its text."""
    return opened(scratchpad_item(row), "content", "scratchpad", **part)


def list_revisions(
    project_id: int,
    scratchpad_id: int,
    *,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """The states of a pad, newest first, including the current one; none for an unknown pad."""
    limit, way = clean_limit(limit), way_of(ordering, "-revision")
    after = way.read(cursor, int)[0] if cursor else None
    is_possible = 0 < scratchpad_id < 2**63
    found = list_states(project_id, scratchpad_id, limit + 1, after, way) if is_possible else []
    rows = found[:limit]
    return Listing(
        REVISION_COLUMNS,
        [[row.revision, row.change_label, row.length, row.agent, format_time(row.at)] for row in rows],
        next=way.cursor(rows[-1].revision) if len(found) > limit else None,
        cursor_after=lambda count: way.cursor(rows[count - 1].revision),
    )


def find_revisions(project_id: int, scratchpad_id: int, limit: int, before: int) -> list[PadState]:
    """The states of a pad before a revision, newest first."""
    return list_states(project_id, scratchpad_id, limit, before)


def find_revision(project_id: int, scratchpad_id: int, revision: int) -> PadState | None:
    is_possible = 0 < scratchpad_id < 2**63 and 0 < revision < 2**31
    return read_state(project_id, scratchpad_id, revision) if is_possible else None


def contents_at(
    project_id: int, versions: Sequence[tuple[int, str]], characters: int
) -> dict[tuple[int, str], str]:
    """The first `characters` of the contents of pads at revisions, by pad id and revision."""
    states = [(pad_id, number) for pad_id, version in versions if (number := read_id(version))]
    found = read_beginnings(project_id, states, characters)
    return {(pad_id, str(number)): text for (pad_id, number), text in found.items()}


def content_at(project_id: int, scratchpad_id: int, revision: int) -> str:
    """The text of a pad at a revision. Raises NotFound for a revision that is not kept."""
    if (state := find_revision(project_id, scratchpad_id, revision)) is None:
        raise NotFound(
            f"Scratchpad {shown(scratchpad_id)} has no revision {shown(revision)}.",
            hint=f"{operation('scratchpad revisions')} lists those that are kept.",
        )
    return state.content


def revision_item(row: PadRow, state: PadState) -> dict[str, Any]:
    """A pad at a revision, with the agent, the time and the kind of the change."""
    return dict(
        Revision(
            id=row.id,
            name=row.name,
            workflow_id=row.workflow_id,
            content=state.content,
            revision=state.revision,
            change=state.change_label,
            length=state.length,
            agent=state.agent,
            at=format_time(state.at),
        )
    )


def open_scratchpads(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items of refs: complete if `full`, else a digest with a truncated text."""
    ids = {row_id: name for name in names if (row_id := read_id(name))}
    found: Mapping[int, PadRow] = PADS.read(project_id, list(ids), WITH_CONTENT)
    return {ids[row_id]: scratchpad_item(row) if full else _digest(row) for row_id, row in found.items()}


def _pad(row: PadRow) -> Pad:
    return Pad(
        id=row.id,
        name=row.name,
        workflow_id=row.workflow_id,
        content=row.content,
        created_at=format_time(row.created_at),
        updated_at=format_time(row.updated_at),
        revision=row.revision,
    )


def _digest(row: PadRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "workflow_id": row.workflow_id,
        "length": row.length,
        "content": preview(row.content),
        "updated_at": format_time(row.updated_at),
    }


def _with_contents(project_id: int, rows: Sequence[PadRow]) -> list[PadRow]:
    """The first rows with their texts, up to PAGE_BYTES in total but at least one."""
    kept: list[int] = []
    total = 0
    for row in rows:
        total += row.size
        if kept and total > PAGE_BYTES:
            break
        kept.append(row.id)
    return [*PADS.read(project_id, kept, WITH_CONTENT).values()]


def open_one(project_id: int, scratchpad_id: int, **part: Unpack[Part]) -> Reading[Any]:
    """The answer for one pad, or null for an unknown id."""
    clean_part(**part)
    row = find_scratchpads(project_id, [scratchpad_id]).get(scratchpad_id)
    return _one(opened_pad(row, **part)) if row else _NOTHING


def open_many(project_id: int, scratchpad_ids: Sequence[int], **part: Unpack[Part]) -> Reading[Any]:
    """The pads in the order of the ids, each once; unknown ids are `missing`."""
    if not 1 <= len(scratchpad_ids) <= LIST_LENGTH:
        raise InvalidInput(f"scratchpad_ids has {len(scratchpad_ids)} entries; name 1 to {LIST_LENGTH}.")
    clean_part(**part)
    found = find_scratchpads(project_id, scratchpad_ids)
    missing = [row_id for row_id in dict.fromkeys(scratchpad_ids) if row_id not in found]
    pads = [opened_pad(row, **part) for row in found.values()]
    return Reading(pads, lambda items: {"scratchpads": items, "missing": missing})


def open_revision(
    project_id: int, scratchpad_id: int, revision: int, *, lines: str | None = None, tail: int | None = None
) -> Reading[Any]:
    """A pad at a revision, or null for an unknown one."""
    requested = clean_requested_lines(lines, tail)
    row = find_scratchpads(project_id, [scratchpad_id]).get(scratchpad_id)
    state = find_revision(project_id, scratchpad_id, revision) if row else None
    return _one(Opened(revision_item(row, state), "content", requested)) if row and state else _NOTHING


def _one(pad: Opened | Excerpt) -> Reading[Any]:
    return Reading([pad], lambda items: {"scratchpad": items[0]})


_NOTHING: Reading[Any] = Reading([], lambda _: {"scratchpad": None})
