"""Extends the OpenAPI schema with what all operations share: errors, the agent, the retry key, ids."""

from typing import Any

from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.contrib.django_filters import DjangoFilterExtension
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, OpenApiExample
from typing_extensions import is_typeddict

from ctxhub.core.kit.headers import AGENT_HEADER, SESSION_HEADER
from ctxhub.core.kit.inputs import WORD_LENGTH
from ctxhub.core.kit.limits import WORD
from ctxhub.rest.answers import schema_of
from ctxhub.rest.documented import document
from ctxhub.rest.ids import id_schema, kind_of
from ctxhub.rest.preferences import PREFER
from ctxhub.rest.takes import NOTHING, Takes
from ctxhub.rest.views import RETRY_HEADER, HubViewSet
from ctxhub.toolbox.actions import all_tools

Json = dict[str, Any]

# The format of id arguments in URLs, as the settings define it.
ID_OR_REF = "id-or-ref"

ERROR: Json = {
    "type": "object",
    "required": ["error", "message"],
    "properties": {
        "error": {
            "type": "string",
            "enum": ["invalid", "not_found", "conflict", "not_allowed", "limit_reached", "internal"],
        },
        "message": {"type": "string", "description": "What is wrong."},
        "hint": {"type": "string", "description": "What to do."},
        "request_id": {"type": "string", "description": "As X-Request-ID: the lines of the log have it."},
        "did_you_mean": {
            "description": "The word that was meant; of unknown fields and parameters said -> meant.",
            "oneOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ],
        },
        "call": {
            "type": "object",
            "description": "The operation that was meant.",
            "required": ["tool"],
            "properties": {"tool": {"type": "string"}, "action": {"type": "string"}},
        },
        "similar": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Keys near the unknown one.",
        },
        "near": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Refs of what is nearest to a name that nothing has.",
        },
        "missing": {"type": "array", "items": {"type": "string"}},
        "allowed": {"type": "array", "items": {"type": "string"}},
        "index": {"type": "integer", "description": "Which item of a batch."},
        "current": {
            "type": "object",
            "description": "What a conflict ran into.",
            "additionalProperties": True,
        },
        "limit": {"type": "integer", "description": "The requests in a minute that were exceeded."},
        "retry_after": {"type": "integer", "description": "Seconds."},
    },
}
ERRORS = {
    "400": "invalid: an argument is missing, unknown, of the wrong type or beyond a limit.",
    "401": "not_allowed: no token, or one that is wrong, expired or revoked.",
    "403": "not_allowed: the token's scopes do not reach, or it speaks for another agent.",
    "404": "not_found: it does not exist in your project.",
    "406": "invalid: only JSON is spoken here.",
    "429": "limit_reached: too many requests; Retry-After says when to come back.",
    "503": "internal: the database does not answer; Retry-After says when to come back.",
}
ERRORS_OF_WRITES = {
    "409": "conflict: the state has moved on.",
    "413": "invalid: the body is too large.",
    "415": "invalid: the body is not JSON.",
}
ERROR_OF_VERSIONS = {"412": "conflict: If-Match names another version than the current one."}

PARAMETERS: Json = {
    "Agent": {
        "name": "agent",
        "in": "query",
        "description": "Which of your agents speaks.",
        "schema": {"type": "string", **WORD},
    },
    "AgentHeader": {
        "name": AGENT_HEADER,
        "in": "header",
        "description": "The same, as a header.",
        "schema": {"type": "string", "maxLength": WORD_LENGTH},
    },
    "SessionHeader": {
        "name": SESSION_HEADER,
        "in": "header",
        "description": "The session that the call belongs to: its id, or a name of your own.",
        "schema": {"type": "string", "maxLength": WORD_LENGTH},
    },
    "Prefer": PREFER,
    "Retry": {
        "name": RETRY_HEADER,
        "in": "header",
        "description": "Sent again within 24 hours, the same answer comes and nothing is written.",
        "schema": {"type": "string", "maxLength": 200},
    },
}


class HubSchema(AutoSchema):
    def _get_filter_parameters(self) -> list[Json]:
        assert isinstance(self.view, HubViewSet)
        taken = self.view.queries.get(self.view.action, NOTHING).parameters()
        filters = FilterParameters(DjangoFilterBackend)  # type: ignore[no-untyped-call]
        return [*taken, *filters.of_view(self, self.view)]

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Pages are declared whole, so nothing is wrapped into one."""
        return not is_typeddict(serializer) and super()._is_list_view(serializer)

    def get_request_serializer(self) -> Any:
        assert isinstance(self.view, HubViewSet)
        return self.view.bodies.get(self.view.action)

    def get_examples(self) -> list[OpenApiExample]:
        """The example of the body."""
        assert isinstance(self.view, HubViewSet)
        body = self.view.bodies.get(self.view.action)
        return [OpenApiExample("To start from", value=body.example, request_only=True)] if body else []


class FilterParameters(DjangoFilterExtension):  # type: ignore[no-untyped-call]
    """The parameters of FilterSets; drf-spectacular's own way queries tables that want a project."""

    def of_view(self, schema: AutoSchema, view: HubViewSet) -> list[Json]:
        filters = view.filterset_class
        model = getattr(getattr(view, "queryset", None), "model", None)
        return [
            parameter
            for name, each in (filters.base_filters.items() if filters else ())
            for parameter in self.resolve_filter_field(  # type: ignore[no-untyped-call]
                schema, model, filters, name, each
            )
        ]


class TakesExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The schemas of request bodies."""

    target_class = Takes
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return str(self.target.component)

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> Json:
        view, takes = auto_schema.view, self.target
        assert isinstance(view, HubViewSet)
        assert isinstance(takes, Takes)
        body = view.bodies[view.action]
        is_item = body.items is takes
        items = auto_schema.resolve_serializer(takes.items, direction).ref if takes.items else None  # type: ignore[arg-type]
        method = str(auto_schema.method)
        common = view.common_fields(str(view.action), method)
        return takes.schema(items, common=common, is_item=is_item)


class AnswerExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The schemas of responses."""

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return is_typeddict(target)

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> Json:
        return schema_of(self.target, lambda shape: auto_schema.resolve_serializer(shape, direction).ref)


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "ctxhub.rest.authentication.BearerToken"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> Json:
        return {"type": "http", "scheme": "bearer", "description": "An access token of the project."}


def add_what_is_common(result: Json, generator: Any, request: Any, public: bool) -> Json:
    """Postprocessing hook: adds errors, agent, session and retry key to the operations with them."""
    result["components"]["schemas"]["Error"] = ERROR
    result["components"]["parameters"] = PARAMETERS
    for name, schema in result["components"]["schemas"].items():
        if name.endswith("Request"):
            schema["additionalProperties"] = False
    schemas = result["components"]["schemas"]
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            _name_tools(operation)
            _name_ids(operation)
            has_caller = path.startswith("/api/v1/projects/{slug}/") or path == "/api/v1/me/"
            writes = method in ("post", "put", "patch", "delete")
            _add_parameters(operation, has_caller, writes=writes, names=writes and _names(operation, schemas))
            _add_errors(operation, has_body="requestBody" in operation)
    document(result)
    return result


def _name_tools(operation: Json) -> None:
    for parameter in operation.get("parameters", ()):
        if (parameter["in"], parameter["name"]) == ("path", "tool"):
            parameter["schema"] = {"type": "string", "enum": list(all_tools())}


def _name_ids(operation: Json) -> None:
    """Describe the ids in the URL; their names tell the kind."""
    for parameter in operation.get("parameters", ()):
        if parameter.get("schema", {}).get("format") == ID_OR_REF:
            kind = kind_of(parameter["name"])
            parameter["description"] = f"Its id, or its ref: 17 or {kind}:17."
            parameter["schema"] = id_schema(kind)


def _names(operation: Json, schemas: Json) -> bool:
    """Whether it answers with the ref of what it has written, and with the object where that is preferred."""
    answers = (
        answer.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
        for status, answer in operation["responses"].items()
        if status < "3"
    )
    return any("ref" in schemas[ref.rpartition("/")[2]].get("required", ()) for ref in answers if ref)


def _add_parameters(operation: Json, in_project: bool, *, writes: bool, names: bool) -> None:
    of_writes = [*(["Prefer"] if names else []), *(["Retry"] if writes else [])]
    common_names = ["Agent", "AgentHeader", "SessionHeader", *of_writes] if in_project else []
    common = [{"$ref": f"#/components/parameters/{name}"} for name in common_names]
    if parameters := [*operation.get("parameters", ()), *common]:
        operation["parameters"] = parameters


def _add_errors(operation: Json, *, has_body: bool) -> None:
    names = {parameter.get("name") for parameter in operation.get("parameters", ())}
    errors = {
        **ERRORS,
        **(ERRORS_OF_WRITES if has_body else {}),
        **(ERROR_OF_VERSIONS if "If-Match" in names else {}),
    }
    for status, description in errors.items():
        operation["responses"].setdefault(
            status,
            {
                "description": description,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        )
