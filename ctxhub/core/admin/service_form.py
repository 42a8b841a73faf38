"""Forms whose answers a service writes: they read what a person typed, and show what the service refuses."""

import re
from typing import Any, ClassVar

from ctxhub.core.admin.looks import ModelForm
from ctxhub.core.errors import CtxhubError
from ctxhub.core.models import Project


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
