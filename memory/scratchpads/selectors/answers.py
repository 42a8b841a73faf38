"""The answers of `scratchpad get` and `revisions`; several pads share the token budget of an answer."""

from collections.abc import Sequence
from typing import Any, Unpack

from ctxhub.core.hub.outlines import Part, clean_part
from ctxhub.core.hub.partial_reads import Excerpt, Opened, Reading, clean_requested_lines
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import LIST_LENGTH
from memory.scratchpads.selectors.scratchpads import (
    find_revision,
    find_scratchpads,
    opened_pad,
    revision_item,
)


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
