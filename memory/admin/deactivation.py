"""The page that asks before constraints are deactivated: why."""

from collections.abc import Sequence

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from ctxhub.core.admin.base import ProjectAdmin, person
from ctxhub.core.admin.fields import ProseField
from ctxhub.core.admin.service_form import sentence
from ctxhub.core.errors import CtxhubError
from memory.models import Constraint, ConstraintStatus
from memory.services.constraints import change_status

REFUSED = "You may read these constraints, and not change them."


class DeactivateForm(forms.Form):
    reason = ProseField(rows=3, help_text="What has changed since it was stated. It stands in the log.")


def deactivate(
    model_admin: ProjectAdmin, request: HttpRequest, constraints: Sequence[Constraint], back: str
) -> HttpResponse:
    """Ask, then deactivate them; all or none of each project."""
    if not may_change(model_admin, request, constraints):
        return HttpResponseRedirect(back)
    form = DeactivateForm(request.POST if "confirmed" in request.POST else None)
    if form.is_valid():
        try:
            set_status(
                model_admin, request, constraints, ConstraintStatus.INACTIVE, form.cleaned_data["reason"]
            )
        except CtxhubError as refusal:
            form.add_error(None, sentence(refusal))
        else:
            return HttpResponseRedirect(back)
    return model_admin.page(
        request,
        "ctxhub/deactivate.html",
        "Deactivate",
        form=form,
        constraints=constraints,
        back=back,
        action_name=request.POST.get("action", ""),
    )


def set_status(
    model_admin: ProjectAdmin,
    request: HttpRequest,
    constraints: Sequence[Constraint],
    status: ConstraintStatus,
    reason: str = "",
) -> None:
    """Give all of them a status, and tell how many had another."""
    changed = 0
    for project, rows in model_admin.by_project(constraints):
        with model_admin.acting_in(request, project):
            for row in rows:
                answer = change_status(caller=person(), constraint_id=row.pk, status=status, reason=reason)
                changed += answer["result"] == "updated"
    noun = "constraint is" if changed == 1 else "constraints are"
    messages.success(request, f"{changed} {noun} {status.label} now.")


def may_change(model_admin: ProjectAdmin, request: HttpRequest, constraints: Sequence[Constraint]) -> bool:
    """Whether the person may change every one; if not, they are told."""
    allowed = all(model_admin.has_change_permission(request, row) for row in constraints)
    if not allowed:
        messages.error(request, REFUSED)
    return allowed
