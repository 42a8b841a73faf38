"""Forms whose values a service writes. They show the service's errors beside the fields."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.core.exceptions import ValidationError

from ctxhub.console.fields import object_change
from ctxhub.console.unfold_compat import ModelForm
from ctxhub.core.kit.caller import current
from ctxhub.core.kit.errors import Conflict, CtxhubError, LooksLikeCredential
from ctxhub.core.kit.inputs import SAY_WHERE
from ctxhub.core.models import Layer, Project
from ctxhub.core.refusals.services import count_refusal

CHANGED_MEANWHILE = "Somebody else changed it while you were editing. Nothing was saved."


class ServiceForm(ModelForm):
    """Declares its own fields; the service validates them. The admin sets `project` and `refusal`.

    `is_outdated`: somebody else has changed the row since the person opened the form.
    """

    project: ClassVar[Project | None] = None
    refusal: ClassVar[CtxhubError | None] = None
    is_outdated = False

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.refusal:
            self.add_error(self._field_of(self.refusal), sentence(self.refusal))
        if self.is_outdated:
            self._count_outdated()
            raise ValidationError(CHANGED_MEANWHILE)
        return cleaned

    def begin_with(self, *names: str) -> None:
        """Show these fields of the row, and the names of its tags."""
        tags = sorted((tag.name for tag in self.instance.tags.all()), key=str.casefold)
        self.initial.update({name: getattr(self.instance, name) for name in names}, tags=tags)

    def filled_in(self, *always: str) -> dict[str, Any]:
        """The values of the filled-in fields, and of the fields in `always` even if empty."""
        return {name: value for name, value in self.cleaned_data.items() if value or name in always}

    def changed(self) -> dict[str, Any]:
        """The values of the changed fields. Metadata merges by key, so a removed key is None."""
        values = {name: self.cleaned_data[name] for name in self.changed_data}
        if "metadata" in values:
            values["metadata"] = object_change(self.initial.get("metadata", {}), values["metadata"])
        return values

    def offer_layers(self) -> None:
        """Fills the choices of the field `layer` with the layers of the project."""
        layers = Layer.objects.in_project(self.project).values_list("name", flat=True) if self.project else ()
        self.fields["layer"].choices = [("", "none"), *((name, name) for name in layers)]  # type: ignore[attr-defined]

    def suggestions(self) -> Mapping[str, Sequence[str]]:
        """Suggestions for text fields, by the id of the <datalist> that the widget names."""
        return {}

    def _field_of(self, refusal: CtxhubError) -> str | None:
        """The field of an error, from its first word: `key must not be blank.`, `tags[3] has ...`."""
        word = re.match(r"\w+", refusal.message)
        return word[0] if word and word[0] in self.fields and refusal.code == "invalid" else None

    def _count_outdated(self) -> None:
        """The form is cleaned once while the person acts."""
        if (caller := current()) and (ref := getattr(self.instance, "ref", "")):
            count_refusal(caller, Conflict(CHANGED_MEANWHILE, about=ref))

    def _post_clean(self) -> None:
        """Skips the model's validation, which the service does, and leaves the row as read."""

    def _save_m2m(self) -> None:
        """See _post_clean."""


def sentence(refusal: CtxhubError) -> str:
    """The error for a person. Only hints on invalid input are included: other hints name agents' actions."""
    # A person is offered a box instead of the argument.
    hint = SAY_WHERE if isinstance(refusal, LooksLikeCredential) else refusal.hint
    return f"{refusal.message} {hint}".strip() if refusal.code == "invalid" else refusal.message
