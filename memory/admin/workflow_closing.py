"""Workflows are closed by people, and opened again: one by a button, many by an action."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpRequest

from ctxhub.core.admin.base import ProjectAdmin, person
from ctxhub.core.admin.service_form import sentence
from ctxhub.core.errors import CtxhubError
from memory.models import Workflow
from memory.services.workflows import close_workflow

REFUSED = "You may read these workflows, and not change them."


def set_state(
    model_admin: ProjectAdmin, request: HttpRequest, workflows: Sequence[Workflow], *, reopen: bool
) -> None:
    """Close all of them, or open them again, and tell how many were not so before."""
    if not all(model_admin.has_change_permission(request, row) for row in workflows):
        messages.error(request, REFUSED)
        return
    changed = 0
    for project, rows in model_admin.by_project(workflows):
        try:
            with model_admin.acting_in(request, project):
                answers = [close_workflow(caller=person(), workflow_id=row.pk, reopen=reopen) for row in rows]
        except CtxhubError as refusal:
            messages.error(request, sentence(refusal))
            continue
        changed += sum(answer["result"] == "updated" for answer in answers)
    are = "is" if changed == 1 else "are"
    state = "open again" if reopen else "closed: pads of a closed one can only be read"
    messages.success(request, f"{counted(changed, 'workflow')} {are} {state}.")


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
