"""The revisions of a scratchpad, for their page."""

from functools import partial
from typing import TYPE_CHECKING

from django.db.models import BigIntegerField, CharField, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from ctxhub.core.admin.revisions import Revisions
from memory.scratchpads.models.scratchpad import PadChange, Scratchpad, ScratchpadRevision
from memory.scratchpads.selectors.scratchpads import find_revision, find_revisions

if TYPE_CHECKING:
    from memory.scratchpads.sql.revisions import State

CHANGE_LABELS = {
    PadChange.CREATED: "created",
    PadChange.APPENDED: "appended",
    PadChange.REPLACED: "rewritten",
    PadChange.INSERTED: "lines inserted",
    PadChange.LINES_REPLACED: "lines replaced",
    PadChange.SECTION_EXTENDED: "a section extended",
    PadChange.RESTORED: "restored",
}


def revisions_of(pad: Scratchpad) -> "Revisions[State]":
    return Revisions(
        project_id=pad.project_id,
        present=pad.revision,
        find=partial(find_revisions, pad.project_id, pad.pk),
        read=partial(find_revision, pad.project_id, pad.pk),
        text=lambda state: state.content,
        change=lambda state: CHANGE_LABELS[PadChange(state.change)],
        size=lambda state: state.length,
        unit="characters",
    )


def with_writer(pads: QuerySet[Scratchpad]) -> QuerySet[Scratchpad]:
    """Annotate each pad with the agent that wrote to it last; the row itself has its creator."""
    states = ScratchpadRevision.unscoped.filter(scratchpad=OuterRef("pk"), number=OuterRef("revision"))
    last = Subquery(states.values("agent__name")[:1], output_field=CharField())
    last_id = Coalesce(Subquery(states.values("agent")[:1]), "agent_id", output_field=BigIntegerField())
    return pads.annotate(writer=Coalesce(last, F("agent__name"), Value("system")), writer_id=last_id)
