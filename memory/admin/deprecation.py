"""The page that asks before decisions are deprecated: why, and what stands in their place."""

from collections.abc import Collection, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.core.admin.base import ProjectAdmin, person
from ctxhub.core.admin.fields import ProseField
from ctxhub.core.admin.service_form import sentence
from ctxhub.core.errors import CtxhubError
from ctxhub.core.models import Project
from memory.models import Decision, DecisionStatus
from memory.services.decisions import deprecate_decision

KEYS_OFFERED = 200


class DeprecateForm(forms.Form):
    reason = ProseField(rows=3, help_text="What has changed since it was decided.")
    superseded_by = forms.CharField(
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "heirs", "autocomplete": "off"}),
        help_text="The key of the decision that stands in its place, if one does.",
    )

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or {}
        if not any(str(said).strip() for said in cleaned.values()) and not self.errors:
            self.add_error("reason", "Say why, or name the decision that stands in its place.")
        return cleaned

    def arguments(self) -> dict[str, Any]:
        """What is left empty stays as it is."""
        return {name: said for name, said in self.cleaned_data.items() if said}


def deprecate(
    model_admin: ProjectAdmin, request: HttpRequest, decisions: Sequence[Decision], back: str
) -> HttpResponse:
    """Ask, then deprecate all of them or none."""
    if problem := _why_not(model_admin, request, decisions):
        messages.error(request, problem)
        return HttpResponseRedirect(back)
    project = decisions[0].project
    form = DeprecateForm(request.POST if "confirmed" in request.POST else None)
    if form.is_valid():
        try:
            with model_admin.acting_in(request, project):
                for decision in decisions:
                    deprecate_decision(caller=person(), key=decision.key, **form.arguments())
        except CtxhubError as refusal:
            form.add_error(None, sentence(refusal))
        else:
            messages.success(request, f"Deprecated: {', '.join(decision.key for decision in decisions)}.")
            return HttpResponseRedirect(back)
    return model_admin.page(
        request,
        "ctxhub/deprecate.html",
        "Deprecate",
        form=form,
        decisions=decisions,
        heirs=_possible_heirs(project, but=decisions),
        back=back,
        action_name=request.POST.get("action", ""),
    )


def _why_not(model_admin: ProjectAdmin, request: HttpRequest, decisions: Sequence[Decision]) -> str:
    if not decisions:
        return "There is nothing to deprecate."
    if len({decision.project_id for decision in decisions}) > 1:
        return "Choose decisions of one project: what supersedes them is one of its own."
    if not all(model_admin.has_change_permission(request, decision) for decision in decisions):
        return "You may read these decisions, and not change them."
    return ""


def _possible_heirs(project: Project, but: Collection[Decision]) -> list[str]:
    rows = Decision.objects.in_project(project).filter(status=DecisionStatus.ACTIVE)
    others = rows.exclude(pk__in=[decision.pk for decision in but]).order_by("-updated_at")
    return list(others.values_list("key", flat=True)[:KEYS_OFFERED])
