"""Admin pages of templates: default and required fields for decisions of one kind."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.core.admin.base import Menu, person
from ctxhub.core.admin.columns import chips, mono, time_in_full
from ctxhub.core.admin.filters import AgentFilter, ProjectFilter
from ctxhub.core.admin.logged import LoggedAdmin
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.inputs import clean_name
from memory.decisions.admin.template_form import TemplateForm
from memory.decisions.models.template import DecisionTemplate
from memory.decisions.rules.builtin_templates import OWN, TEMPLATES
from memory.decisions.selectors.templates import find_templates
from memory.decisions.services.templates import delete_template, set_template


@admin.register(DecisionTemplate)
class TemplateAdmin(LoggedAdmin):
    """Lists and edits a project's own templates; the form names the built-in ones."""

    menu = Menu("Knowledge", "ballot")
    when_empty = (
        "Agents add defaults and required fields for decisions of one kind with decision template_set."
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
    ordering = ("folded",)

    def get_fieldsets(self, request: HttpRequest, obj: DecisionTemplate | None = None) -> list[Any]:
        editable = ["defaults", "require", "patterns"]
        fields = ["shown_name", *editable, "by", "last_changed"] if obj else ["name", *editable]
        return [(None, {"fields": fields}), ("Built in", {"fields": ["built_in"]})]

    # -- What is shown -----------------------------------------------------------------------------

    @display(description="Name")
    def shown_name(self, template: DecisionTemplate) -> SafeString:
        return mono(template.name)

    @display(description="Tags")
    def begins_with(self, template: DecisionTemplate) -> SafeString:
        return chips(template.defaults.get("tags", ()))

    @display(description="Requires")
    def requires(self, template: DecisionTemplate) -> SafeString:
        return chips(template.require)

    last_changed = time_in_full("updated_at", "Updated")

    @display(description="Every project has these")
    def built_in(self, template: DecisionTemplate) -> SafeString:
        rows = ((each.name, ", ".join(each.require) or "nothing") for each in TEMPLATES.values())
        items = format_html_join("", "<dt><code>{}</code></dt><dd>requires {}</dd>", rows)
        return format_html('<dl class="ctx-facts ctx-data">{}</dl>', items)

    def find_id(self, project_id: int, name: str) -> int | None:
        """Return the id of a project's own template; built-in ones have no page."""
        return super().find_id(project_id, name.casefold())

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
