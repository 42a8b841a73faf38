"""What people do to a scratchpad beside rewriting it: add at its end, take it back to what it was."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest

from ctxhub.core.admin.base import ProjectAdmin, person
from ctxhub.core.admin.service_form import sentence
from ctxhub.core.errors import CtxhubError
from ctxhub.core.inputs import read_id
from memory.admin.scratchpad_form import AppendForm
from memory.models import Scratchpad
from memory.services.scratchpads import append_to_scratchpad, restore_scratchpad

UNTOUCHED = "Nothing was written: look at what has changed."


def append(model_admin: ProjectAdmin, request: HttpRequest, pad: Scratchpad, form: AppendForm) -> bool:
    """Others may append at the same time: none of it is lost, so nothing is expected of the pad."""

    def write() -> Mapping[str, Any]:
        return append_to_scratchpad(
            caller=person(), scratchpad_id=pad.pk, content=form.cleaned_data["content"]
        )

    return form.is_valid() and _is_written(
        model_admin, request, pad, write, lambda said: form.add_error("content", said)
    )


def restore(model_admin: ProjectAdmin, request: HttpRequest, pad: Scratchpad) -> str:
    """Take the pad back, if it is still as the person saw it; the rest of the address to go on to."""
    revision, seen = (read_id(request.POST.get(name) or "0") for name in ("revision", "seen"))
    if revision is None or seen is None:
        return ""

    def write() -> Mapping[str, Any]:
        return restore_scratchpad(
            caller=person(), scratchpad_id=pad.pk, revision=revision, expected_revision=seen
        )

    def refuse(said: str) -> None:
        messages.error(request, f"{said} {UNTOUCHED}")

    if not _is_written(model_admin, request, pad, write, refuse):
        return f"?state={revision}&against=present"
    messages.success(request, f"It is again what it was at revision {revision}.")
    return ""


def tell_cut(request: HttpRequest, answer: Mapping[str, Any]) -> None:
    if warning := answer.get("warning"):
        messages.warning(request, warning)


def _is_written(
    model_admin: ProjectAdmin,
    request: HttpRequest,
    pad: Scratchpad,
    write: Callable[[], Mapping[str, Any]],
    refuse: Callable[[str], None],
) -> bool:
    """Whether it was written, by the person in the pad's project; what is refused is told."""
    try:
        with model_admin.acting_in(request, pad.project):
            tell_cut(request, write())
    except CtxhubError as refusal:
        refuse(sentence(refusal))
        return False
    return True
