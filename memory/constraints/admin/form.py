"""The forms of a constraint: stated, and deactivated."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import LinesField, ProseField, WordsField
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.inputs import WORD_LENGTH
from ctxhub.core.kit.priority import Priority
from ctxhub.core.vocabulary.models import Category

CATEGORIES_OFFERED = 200


class ConstraintForm(ServiceForm):
    category = forms.CharField(
        max_length=WORD_LENGTH,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "categories", "autocomplete": "off"}),
        help_text="A new name makes a new category.",
    )
    text = ProseField(rows=4, help_text="What must hold, as one would check it.")
    priority = forms.ChoiceField(
        choices=[(label, label) for label in reversed(Priority.labels)],
        initial=Priority.MEDIUM.label,
        widget=UnfoldAdminSelectWidget,
    )
    reason = ProseField(rows=3, help_text="Why it must hold.")
    layer = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    tags = WordsField(help_text="Between commas. A new name makes a new tag.")
    scopes = WordsField(help_text="Between commas. A new name makes a new scope.")
    paths = LinesField(help_text="Globs of the files it bears on, one on each line: src/api/**")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.offer_layers()

    def suggestions(self) -> dict[str, list[str]]:
        if self.project is None:
            return {}
        categories = Category.objects.in_project(self.project).order_by("folded")
        return {"categories": list(categories.values_list("name", flat=True)[:CATEGORIES_OFFERED])}

    def arguments(self) -> dict[str, Any]:
        """The arguments of `add_constraint`: the service asks for the text, where it is empty."""
        return self.filled_in("text")


class DeactivateForm(forms.Form):
    reason = ProseField(rows=3, help_text="What has changed since it was stated. It stands in the log.")
