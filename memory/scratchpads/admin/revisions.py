"""The page of a scratchpad's revisions: the list, and the difference of two states."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import CharField, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from ctxhub.core.admin.text_diff import Piece, diff
from ctxhub.core.kit.inputs import read_id
from memory.scratchpads.models.scratchpad import PadChange, Scratchpad, ScratchpadRevision
from memory.scratchpads.selectors.scratchpads import find_revision, find_revisions

if TYPE_CHECKING:
    from memory.scratchpads.sql.revisions import State

STATES_SHOWN = 30
PRESENT, WHOLE = "present", "whole"

CHANGE_LABELS = {
    PadChange.CREATED: "created",
    PadChange.APPENDED: "appended",
    PadChange.REPLACED: "rewritten",
    PadChange.INSERTED: "lines inserted",
    PadChange.LINES_REPLACED: "lines replaced",
    PadChange.SECTION_EXTENDED: "a section extended",
    PadChange.RESTORED: "restored",
}


@dataclass(frozen=True, slots=True)
class StateLine:
    """A state in the list; `delta`: its length minus that of the state before, or None if unknown."""

    state: "State"
    delta: int | None
    is_present: bool
    is_chosen: bool

    @property
    def change(self) -> str:
        return CHANGE_LABELS[PadChange(self.state.change)]


def states_page(request: HttpRequest, pad: Scratchpad) -> dict[str, Any]:
    """A page of the list, and the chosen state compared with the one before it or the current one."""
    before = read_id(request.GET.get("before") or "0") or 2**63 - 1
    found = find_revisions(pad.project_id, pad.pk, STATES_SHOWN + 1, before)
    requested = read_id(request.GET.get("state") or "0")
    chosen = _state(pad, requested or (found[0].revision if found else pad.revision))
    against = request.GET.get("against", "")
    return {
        "lines": _lines(pad, found, chosen),
        "older": found[STATES_SHOWN - 1].revision if len(found) > STATES_SHOWN else None,
        "is_newest_page": before > pad.revision,
        "chosen": chosen,
        "chosen_change": CHANGE_LABELS[PadChange(chosen.change)] if chosen else "",
        "asked_for": requested,
        **(_beside(pad, chosen, against) if chosen else {}),
    }


def with_writer(pads: QuerySet[Scratchpad]) -> QuerySet[Scratchpad]:
    """Annotate each pad with the agent that wrote to it last; the row itself has its creator."""
    states = ScratchpadRevision.unscoped.filter(scratchpad=OuterRef("pk"), number=OuterRef("revision"))
    last = Subquery(states.values("agent__name")[:1], output_field=CharField())
    return pads.annotate(writer=Coalesce(last, F("agent__name"), Value("system")))


def _lines(pad: Scratchpad, found: "Sequence[State]", chosen: "State | None") -> list[StateLine]:
    lines = []
    for index, state in enumerate(found[:STATES_SHOWN]):
        older = found[index + 1] if index + 1 < len(found) else None
        is_first = state.revision == 1
        delta = state.length - older.length if older else state.length if is_first else None
        is_chosen = chosen is not None and state.revision == chosen.revision
        lines.append(StateLine(state, delta, state.revision == pad.revision, is_chosen))
    return lines


def _beside(pad: Scratchpad, chosen: "State", against: str) -> dict[str, Any]:
    """The chosen state compared with another, or its complete text if there is no other."""
    if against == PRESENT and chosen.revision != pad.revision:
        return {"against": PRESENT, "pieces": _difference(chosen.content, pad.content)}
    older = find_revisions(pad.project_id, pad.pk, 1, chosen.revision)
    before = older[0].revision if older else None
    previous = _state(pad, before) if before and against != WHOLE else None
    if previous is None:
        return {"against": WHOLE, "before": before, "pieces": [Piece("same", chosen.content)]}
    return {"against": "before", "before": before, "pieces": _difference(previous.content, chosen.content)}


def _difference(old: str, new: str) -> list[Piece]:
    return [] if old == new else diff(old, new)


def _state(pad: Scratchpad, revision: int) -> "State | None":
    return find_revision(pad.project_id, pad.pk, revision)
