"""REST views of templates: list, read and write by name, and set decisions from a template."""

from typing import Any

from ctxhub.rest.answers import joined, written
from ctxhub.rest.etags import IF_MATCH
from ctxhub.rest.operations import CREATED_OR_FOUND, deletes, lists, reads, writes
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from memory.decisions.api import DecisionWrites, SetAnswer
from memory.templates import queries, services

Template = joined("Template", queries.TemplateItem)
TemplateAnswer = written("TemplateAnswer", services.TemplateAnswer, Template)


class TemplateViewSet(ProjectViewSet):
    kind, named_by = "template", "name"

    def item(self, name: str) -> dict[str, Any]:
        return queries.template_item(queries.get_template(self.project_id, name))

    list = lists(
        takes("decision", "templates"),
        Template,
        by=queries.list_templates,
        orders=(["name"], "name"),
        says="Templates by name, the project's own and those built in.",
    )
    retrieve = reads(Template, kind="template", says="One template, whole.")
    update = writes(
        takes(
            "decision",
            "template_set",
            without=["name"],
            name="ReplaceTemplate",
            example={"defaults": {"tags": ["incident"]}, "require": ["rationale"], "patterns": {}},
        ),
        TemplateAnswer,
        by=services.replace_template,
        statuses=CREATED_OR_FOUND,
        says="Make a template what the body says and nothing else: 201 where it is new.",
    )
    partial_update = writes(
        takes(
            "decision",
            "template_set",
            without=["name"],
            name="ChangeTemplate",
            example={"require": ["rationale", "severity"]},
        ),
        TemplateAnswer,
        by=services.change_template,
        statuses=CREATED_OR_FOUND,
        says="Change a template; one built in becomes the project's own, changed: 201.\n\n"
        "What is left out stays as it is; null clears.",
    )
    destroy = deletes(
        by=services.delete_template,
        says="Remove the project's own; one built in comes to light again. An administrator's.",
    )


class FromTemplateViewSet(DecisionWrites):
    create = writes(
        takes(
            "decision",
            "from_template",
            at="name",
            example={"key": "perf/cache", "value": "Cache for 60 s.", "rationale": "Reads outnumber writes."},
        ),
        SetAnswer,
        statuses=CREATED_OR_FOUND,
        parameters=[IF_MATCH],
        says="Set a decision with the template's defaults: 201 where it is new, 200 where its key was there."
        "\n\nWhat the template gives can be left out.",
    )
