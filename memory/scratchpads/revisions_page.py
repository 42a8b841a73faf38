"""The revisions of a scratchpad, for their page, and what is written from the admin."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.db.models import BigIntegerField, CharField, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from ctxhub.console.base import ProjectAdmin, person
from ctxhub.console.revisions import Revisions, restore_revision
from memory.scratchpads.form import AppendForm
from memory.scratchpads.models import PadChange, Scratchpad, ScratchpadRevision
from memory.scratchpads.queries import find_revision, find_revisions
from memory.scratchpads.services import append_to_scratchpad, restore_scratchpad

if TYPE_CHECKING:
    from memory.scratchpads.revisions import PadState


CHANGE_LABELS = {
    PadChange.CREATED: "created",
    PadChange.APPENDED: "appended",
    PadChange.REPLACED: "rewritten",
    PadChange.INSERTED: "lines inserted",
    PadChange.LINES_REPLACED: "lines replaced",
    PadChange.SECTION_EXTENDED: "a section extended",
    PadChange.RESTORED: "restored",
}


def revisions_of(pad: Scratchpad) -> "Revisions[PadState]":
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


def append(model_admin: ProjectAdmin, request: HttpRequest, pad: Scratchpad, form: AppendForm) -> bool:
    """Append without an expected revision: concurrent appends do not overwrite each other."""
    if not form.is_valid():
        return False
    content = form.cleaned_data["content"]

    def write() -> Mapping[str, Any]:
        return append_to_scratchpad(caller=person(), scratchpad_id=pad.pk, content=content)

    answer = model_admin.try_to_write(request, pad, write, partial(form.add_error, "content"))
    tell_cut(request, answer)
    return answer is not None


def restore(model_admin: ProjectAdmin, request: HttpRequest, pad: Scratchpad) -> str:
    """Restore the pad if it is still at the revision the user saw. Returns the query of the next URL."""

    def write(revision: int, seen: int) -> Mapping[str, Any]:
        answer = restore_scratchpad(
            caller=person(), scratchpad_id=pad.pk, revision=revision, expected_revision=seen
        )
        tell_cut(request, answer)
        return answer

    return restore_revision(model_admin, request, pad, write)


def tell_cut(request: HttpRequest, answer: Mapping[str, Any] | None) -> None:
    if answer and (warning := answer.get("warning")):
        messages.warning(request, warning)
