"""Forms to add a constraint and to deactivate constraints."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import LinesField, NamesField, ProseField
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.inputs import WORD_LENGTH
from ctxhub.core.kit.priority import Priority
from ctxhub.core.vocabulary.models import Category

CATEGORIES_OFFERED = 200


class ConstraintForm(ServiceForm):
    category = forms.CharField(
        max_length=WORD_LENGTH,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "categories", "autocomplete": "off"}),
        help_text="A new name creates a new category.",
    )
    text = ProseField(rows=4, help_text="What must hold, worded so that it can be checked.")
    priority = forms.ChoiceField(
        choices=[(label, label) for label in reversed(Priority.labels)],
        initial=Priority.MEDIUM.label,
        widget=UnfoldAdminSelectWidget,
    )
    reason = ProseField(rows=3, help_text="Why it must hold.")
    layer = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    tags = NamesField(help_text="Separated by commas. A new name creates a new tag.")
    scopes = NamesField(help_text="Separated by commas. A new name creates a new scope.")
    paths = LinesField(
        help_text="Globs of the files it applies to, one per line: src/*.{ts,tsx}. !src/gen/** exempts."
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.offer_layers()

    def suggestions(self) -> dict[str, list[str]]:
        if self.project is None:
            return {}
        categories = Category.objects.in_project(self.project).order_by("folded")
        return {"categories": list(categories.values_list("name", flat=True)[:CATEGORIES_OFFERED])}

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `add_constraint`. The service refuses an empty text."""
        return self.filled_in("text")


class DeactivateForm(forms.Form):
    reason = ProseField(rows=3, help_text="What has changed since it was added. The log keeps this reason.")
