"""Admin pages of templates: default and required fields for decisions of one kind."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import chips, column, mono, time_in_full
from ctxhub.console.fields import LinesField, NamesField, ObjectField
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.logged import LoggedAdmin
from ctxhub.console.service_form import ServiceForm
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.inputs import NAME_LENGTH, clean_name
from memory.templates.models import DecisionTemplate
from memory.templates.queries import find_templates
from memory.templates.rules import OWN, TEMPLATES
from memory.templates.services import delete_template, set_template

COLON = ": "


class PatternsField(LinesField):
    """One `field: regular expression` per line, without the escapes that JSON would need."""

    def line_of(self, entry: Any) -> str:
        return COLON.join(entry)

    def entry_of(self, line: str) -> Any:
        field, _, pattern = line.partition(":")
        return field.strip(), pattern.strip()


class TemplateForm(ServiceForm):
    name = forms.CharField(
        max_length=NAME_LENGTH,
        widget=UnfoldAdminTextInputWidget,
        help_text="A template with the name of a built-in one overrides it in this project.",
    )
    defaults = ObjectField(
        help_text="A JSON object with the initial fields of a decision, except key and value: "
        '{"layer": "business", "tags": ["breaking"]}'
    )
    require = NamesField(
        help_text="Required fields, separated by commas. Names that are not fields of a decision, such as "
        "cve_id, are looked up in its metadata."
    )
    patterns = PatternsField(
        help_text="A field and a regular expression (RE2) that must match somewhere in it, one per line: "
        r"cve_id: ^CVE-\d{4}-\d{4,}$ (text stands for value and rationale together)"
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        if row.pk:
            del self.fields["name"]
            patterns = sorted(row.patterns.items())  # PostgreSQL does not keep the order of keys.
            self.initial.update(defaults=row.defaults, require=row.require, patterns=patterns)

    def clean_patterns(self) -> list[str]:
        lines: list[str] = self.cleaned_data["patterns"]
        if wrong := next((line for line in lines if not all(self._pattern_field().entry_of(line))), None):
            raise ValidationError(f"Write a field, a colon and a regular expression instead of {wrong!r}.")
        return lines

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `set_template`: only the changed fields."""
        arguments: dict[str, Any] = {name: self.cleaned_data[name] for name in self.changed_data}
        if "patterns" in arguments:
            known = self.initial.get("patterns", [])
            arguments["patterns"] = dict(self._pattern_field().entries(arguments["patterns"], known))
        return arguments

    def _pattern_field(self) -> PatternsField:
        field = self.fields["patterns"]
        assert isinstance(field, PatternsField)
        return field


@admin.register(DecisionTemplate)
class TemplateAdmin(LoggedAdmin):
    """Lists and edits a project's own templates; the form names the built-in ones."""

    menu = Menu("Knowledge", "ballot")
    when_empty = (
        "Defaults and required fields for decisions of one kind: agents add one with `decision"
        " template_set`, people here."
    )
    ref_kind = "template"
    refs_are_numbers = False
    ref_field = "folded"
    form = TemplateForm
    list_display = ("name", "begins_with", "requires", "by", "updated")
    list_filter = (ProjectFilter, AgentFilter)
    list_select_related = ("project", "agent")
    readonly_fields = ("shown_name", "by", "last_changed", "built_in")
    search_fields = ("name",)

    def get_fieldsets(self, request: HttpRequest, obj: DecisionTemplate | None = None) -> list[Any]:
        editable = ["defaults", "require", "patterns"]
        fields = ["shown_name", *editable, "by", "last_changed"] if obj else ["name", *editable]
        return [(None, {"fields": fields}), ("Built in", {"fields": ["built_in"]})]

    # -- What is shown -----------------------------------------------------------------------------

    shown_name = column("Name", lambda template: mono(template.name))
    begins_with = column("Tags", lambda template: chips(template.defaults.get("tags", ())))
    requires = column("Requires", lambda template: chips(template.require))

    last_changed = time_in_full("updated_at", "Updated")

    @display(description="Every project has these")
    def built_in(self, template: DecisionTemplate) -> SafeString:
        rows = ((each.name, ", ".join(each.require) or "nothing") for each in TEMPLATES.values())
        items = format_html_join("", "<dt><code>{}</code></dt><dd>requires {}</dd>", rows)
        return format_html('<dl class="ctx-facts ctx-data">{}</dl>', items)

    # -- Writing -----------------------------------------------------------------------------------

    def add_row(self, request: HttpRequest, row: DecisionTemplate, form: Any) -> int:
        project_id, arguments = person().project_id, form.arguments()
        _refuse_own(project_id, arguments["name"])
        answer = set_template(caller=person(), **arguments)
        return DecisionTemplate.objects.in_project(project_id).get(folded=answer["name"].casefold()).pk

    def change_row(self, request: HttpRequest, row: DecisionTemplate, form: Any) -> None:
        set_template(caller=person(), name=row.name, **form.arguments())

    def delete_model(self, request: HttpRequest, obj: DecisionTemplate) -> None:
        delete_template(caller=person(), name=obj.name)

    def deletion_line(self, row: DecisionTemplate) -> str:
        text = f"{row.name}. Decisions made from it stay unchanged."
        return f"{text} The built-in template is used again." if row.folded in TEMPLATES else text


def _refuse_own(project_id: int, name: str) -> None:
    """Raise Conflict if the project has a template of this name: adding must not change it."""
    cleaned = clean_name(name, "name")
    found = find_templates(project_id, [cleaned]).get(cleaned.casefold())
    if found and found.origin == OWN:
        raise Conflict(f"The template {found.name!r} already exists. Open it to change it.")
