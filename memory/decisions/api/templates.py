"""REST views of templates: list, read and write by name, and set decisions from a template."""

from collections.abc import Callable, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import joined, page_of
from ctxhub.core.api.etags import IF_MATCH
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.partial_reads import Opened
from memory.decisions.api.decision_schemas import SetAnswer
from memory.decisions.api.decisions import DecisionWrites
from memory.decisions.selectors import templates as selectors
from memory.decisions.services import templates as services

Template = joined("Template", selectors.TemplateItem)
TemplateAnswer = joined("TemplateAnswer", services.TemplateAnswer, Template)


class TemplateViewSet(ProjectViewSet):
    queries = {"list": takes("decision", "templates")}
    bodies = {
        "update": takes(
            "decision",
            "template_set",
            without=["name"],
            name="ReplaceTemplate",
            example={"defaults": {"tags": ["incident"]}, "require": ["rationale"], "patterns": {}},
        ),
        "partial_update": takes(
            "decision",
            "template_set",
            without=["name"],
            name="ChangeTemplate",
            example={"require": ["rationale", "severity"]},
        ),
    }

    @extend_schema(responses=page_of(Template))
    def list(self, request: Request, slug: str) -> Response:
        """Templates by name, the project's own and those built in."""
        return self.listed(Page.of(selectors.list_templates(self.project_id, **self.query)))

    @extend_schema(responses=Template)
    def retrieve(self, request: Request, slug: str, name: str) -> Response:
        """One template, whole."""
        return Response(self.opened(Opened(self._item(name), kind="template")))

    @extend_schema(responses={200: TemplateAnswer, 201: TemplateAnswer})
    def update(self, request: Request, slug: str, name: str) -> Response:
        """Make a template what the body says and nothing else: 201 where it is new."""
        return self._write(services.replace_template, name)

    @extend_schema(responses={200: TemplateAnswer, 201: TemplateAnswer})
    def partial_update(self, request: Request, slug: str, name: str) -> Response:
        """Change a template; one built in becomes the project's own, changed: 201.

        What is left out stays as it is; null clears.
        """
        return self._write(services.change_template, name)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, name: str) -> Response:
        """Remove the project's own; one built in comes to light again. An administrator's."""
        self.perform(services.delete_template, name=name)
        return Response(status=204)

    def _write(self, service: Callable[..., services.TemplateAnswer], name: str) -> Response:
        answer = self.write(service, name=name, **self.body)
        return Response(answer, status=201 if answer.get("result") == "created" else 200)

    def item_of(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return self._item(answer["name"])

    def _item(self, name: str) -> dict[str, Any]:
        return selectors.template_item(selectors.get_template(self.project_id, name))


class FromTemplateViewSet(DecisionWrites):
    bodies = {
        "create": takes(
            "decision",
            "from_template",
            without=["name"],
            example={
                "key": "perf/cache",
                "value": "Cache for 60 s.",
                "rationale": "Reads outnumber writes.",
            },
        )
    }

    @extend_schema(parameters=[IF_MATCH], responses={200: SetAnswer, 201: SetAnswer})
    def create(self, request: Request, slug: str, name: str) -> Response:
        """Set a decision with the template's defaults: 201 where it is new, 200 where its key was there.

        What the template gives can be left out.
        """
        return self._write(services.set_from_template, name=name, **self.body)
