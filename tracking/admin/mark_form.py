"""The form of a file's mark."""

from django import forms
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from tracking.inputs.contents import MOST_IMPORTANCE


class MarkForm(forms.Form):
    importance = forms.IntegerField(
        min_value=0,
        max_value=MOST_IMPORTANCE,
        required=False,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="0 to 100, instead of the computed importance. Left blank: it is computed.",
    )
