"""The forms that create, rewrite and append to a scratchpad."""

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.console.fields import ProseField
from ctxhub.console.service_form import ServiceForm
from ctxhub.console.text_diff import Piece, diff
from ctxhub.core.kit.inputs import NAME_LENGTH
from ctxhub.core.text.lines import with_line_ends_of
from memory.workflows.models import Workflow

if TYPE_CHECKING:
    from memory.scratchpads.revisions import PadState

WORKFLOWS_OFFERED = 100


class NewPadForm(ServiceForm):
    workflow = forms.ChoiceField(widget=UnfoldAdminSelectWidget)
    name = forms.CharField(max_length=NAME_LENGTH, widget=UnfoldAdminTextInputWidget)
    content = ProseField(rows=20, help_text="Markdown is rendered.")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        workflows = Workflow.objects.in_project(self.project).filter(is_active=True) if self.project else ()
        self.fields["workflow"].choices = [  # type: ignore[attr-defined]
            (row.pk, f"{row} ({row.pk})") for row in workflows[:WORKFLOWS_OFFERED]
        ]

    def is_multipart(self) -> bool:
        """Multipart, since URL encoding would make a long Chinese text nine times its size."""
        return True

    def arguments(self) -> dict[str, Any]:
        values = self.cleaned_data
        return {
            "workflow_id": int(values["workflow"]),
            "name": values["name"],
            "content": values["content"],
        }


class PadForm(ServiceForm):
    """`seen` is the revision that the user sees, or saw when opening the page.

    If the pad was written to meanwhile, nothing is saved before the user has seen it: appended text is added
    to the end of the typed text, and any other change is shown beside it. `seen_state`: that revision.
    """

    seen_state: "ClassVar[PadState | None]" = None

    content = ProseField(rows=30)
    seen = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.initial.update(content=self.instance.content, seen=self.instance.revision)
        self.is_outdated = self.is_bound and self.data.get("seen") != str(self.instance.revision)
        self.is_joined, self.their_changes = False, list[Piece]()
        if self.is_outdated:
            self._merge(self.instance.content)

    def _merge(self, current: str) -> None:
        """Keep the typed text, and add or show what others wrote."""
        typed = str(self.data.get("content", ""))
        if self.seen_state is not None:
            added = current.removeprefix(self.seen_state.content)
            self.is_joined = current.startswith(self.seen_state.content)
            self.their_changes = (
                [Piece("added", added)] if self.is_joined else diff(self.seen_state.content, current)
            )
            typed += added if self.is_joined else ""
        self.data = {**dict(self.data.items()), "content": typed, "seen": str(self.instance.revision)}

    def is_multipart(self) -> bool:
        return True

    def clean_content(self) -> str:
        """The text with the line ends that the pad has: a browser does not say which it had."""
        return with_line_ends_of(self.instance.content, self.cleaned_data["content"])


class AppendForm(forms.Form):
    content = ProseField(rows=5, label="Add at the end")
