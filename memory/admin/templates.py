"""Templates: what decisions of one kind begin with, and what each of them has to say."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.core.admin import refs
from ctxhub.core.admin.base import Menu, ProjectAdmin, person
from ctxhub.core.admin.cells import chips, mono, name, time_in_full
from ctxhub.core.admin.filters import AgentFilter, ProjectFilter
from ctxhub.core.errors import Conflict
from ctxhub.core.inputs import clean_name
from ctxhub.core.templatetags.moments import moment
from memory.admin.template_form import TemplateForm
from memory.models import DecisionTemplate
from memory.selectors.builtin_templates import OWN, TEMPLATES
from memory.selectors.templates import find_templates
from memory.services.templates import delete_template, set_template


@admin.register(DecisionTemplate)
class TemplateAdmin(ProjectAdmin):
    """A project's own templates; those built in are named on the form."""

    menu = Menu("Knowledge", "ballot")
    form = TemplateForm
    list_display = ("name", "begins_with", "requires", "by", "updated")
    list_filter = (ProjectFilter, AgentFilter)
    list_select_related = ("project", "agent")
    readonly_fields = ("name_of_it", "by", "last_changed", "built_in")
    search_fields = ("name",)
    ordering = ("folded",)

    def get_fieldsets(self, request: HttpRequest, obj: DecisionTemplate | None = None) -> list[Any]:
        told = ["defaults", "require", "patterns"]
        fields = ["name_of_it", *told, "by", "last_changed"] if obj else ["name", *told]
        return [(None, {"fields": fields}), ("Built in", {"fields": ["built_in"]})]

    # -- What is shown -----------------------------------------------------------------------------

    @display(description="Name")
    def name_of_it(self, template: DecisionTemplate) -> SafeString:
        return mono(template.name)

    @display(description="Tags")
    def begins_with(self, template: DecisionTemplate) -> SafeString:
        return chips(template.defaults.get("tags", ()))

    @display(description="Requires")
    def requires(self, template: DecisionTemplate) -> SafeString:
        return chips(template.require)

    @display(description="Agent", ordering="agent__name")
    def by(self, template: DecisionTemplate) -> SafeString:
        return name(template.agent.name if template.agent else "system")

    @display(description="Updated", ordering="updated_at")
    def updated(self, template: DecisionTemplate) -> SafeString | str:
        return moment(template.updated_at)

    last_changed = time_in_full("updated_at", "Updated")

    @display(description="Every project has these")
    def built_in(self, template: DecisionTemplate) -> SafeString:
        rows = ((each.name, ", ".join(each.require) or "nothing") for each in TEMPLATES.values())
        told = format_html_join("", "<dt><code>{}</code></dt><dd>requires {}</dd>", rows)
        return format_html('<dl class="ctx-facts ctx-data">{}</dl>', told)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The log tells all that happened to it, whoever did it; Django's own only what was done here."""
        template = self.get_object(request, unquote(object_id))
        if template is None:
            return HttpResponseRedirect(self.url("changelist"))
        query = urlencode({"project": template.project.slug, "ref": template.ref})
        return HttpResponseRedirect(f"{reverse('admin:core_event_changelist')}?{query}")

    # -- Writing -----------------------------------------------------------------------------------

    def save_model(self, request: HttpRequest, obj: DecisionTemplate, form: Any, change: bool) -> None:
        caller, told = person(), form.arguments()
        called = obj.name if change else told.pop("name", "")
        if not change:
            _refuse_own(caller.project_id, called)
        answer = set_template(caller=caller, name=called, **told)
        row = DecisionTemplate.objects.in_project(caller.project).get(folded=answer["name"].casefold())
        obj.__dict__ |= row.__dict__

    def delete_model(self, request: HttpRequest, obj: DecisionTemplate) -> None:
        delete_template(caller=person(), name=obj.name)

    def named_with_all_it_takes(self, row: DecisionTemplate) -> str:
        shown = f"{row.name}. Decisions made from it stay as they are."
        return f"{shown} The built-in one comes to light again." if row.folded in TEMPLATES else shown


def _refuse_own(project_id: int, said: str) -> None:
    """Adding never changes a template that is there."""
    cleaned = clean_name(said, "name")
    found = find_templates(project_id, [cleaned]).get(cleaned.casefold())
    if found and found.origin == OWN:
        raise Conflict(f"There is a template {found.name!r} already: open it, and change it there.")


def page_of_template(project_id: int, said: str) -> str | None:
    """One that is built in has no page."""
    rows = DecisionTemplate.objects.in_project(project_id).filter(folded=said.casefold())
    found = rows.values_list("pk", flat=True).first()
    return reverse("admin:memory_decisiontemplate_change", args=[found]) if found else None


refs.pages["template"] = page_of_template
