"""Forms whose answers a service writes: they read what a person typed, and show what the service refuses."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ctxhub.core.admin.fields import object_change
from ctxhub.core.admin.unfold_compat import ModelForm
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.models import Layer, Project


class ServiceForm(ModelForm):
    """Declares its own fields and leaves the model's rules to the service. The admin sets these two."""

    project: ClassVar[Project | None] = None
    refusal: ClassVar[CtxhubError | None] = None

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.refusal:
            self.add_error(self._field_of(self.refusal), sentence(self.refusal))
        return cleaned

    def filled_in(self, *always: str) -> dict[str, Any]:
        """What the person filled in, and the fields of these names even where they are empty."""
        return {name: value for name, value in self.cleaned_data.items() if value or name in always}

    def changed(self) -> dict[str, Any]:
        """What the person changed. Metadata merges by key: a key that is to go is said to be None."""
        values = {name: self.cleaned_data[name] for name in self.changed_data}
        if "metadata" in values:
            values["metadata"] = object_change(self.initial.get("metadata", {}), values["metadata"])
        return values

    def offer_layers(self) -> None:
        """Fills the choices of the field `layer` with the layers of the project."""
        layers = Layer.objects.in_project(self.project).values_list("name", flat=True) if self.project else ()
        self.fields["layer"].choices = [("", "none"), *((name, name) for name in layers)]  # type: ignore[attr-defined]

    def suggestions(self) -> Mapping[str, Sequence[str]]:
        """What text fields suggest, by the id of the list that their widget names."""
        return {}

    def _field_of(self, refusal: CtxhubError) -> str | None:
        """Refusals begin with the argument they are about: `key must not be blank.`, `tags[3] has ...`."""
        word = re.match(r"\w+", refusal.message)
        return word[0] if word and word[0] in self.fields and refusal.code == "invalid" else None

    def _post_clean(self) -> None:
        """The service decides; the row that the page was opened with stays as it was read."""

    def _save_m2m(self) -> None:
        """See _post_clean."""


def sentence(refusal: CtxhubError) -> str:
    """What to tell a person. Hints stay with what was typed: the others name actions, and are for agents."""
    return f"{refusal.message} {refusal.hint}".strip() if refusal.code == "invalid" else refusal.message
