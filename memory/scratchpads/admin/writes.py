"""Appends to a scratchpad and restores it from the admin."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest

from ctxhub.core.admin.base import ProjectAdmin, person
from ctxhub.core.admin.revisions import restore_revision
from memory.scratchpads.admin.form import AppendForm
from memory.scratchpads.models.scratchpad import Scratchpad
from memory.scratchpads.services.scratchpads import append_to_scratchpad, restore_scratchpad


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
