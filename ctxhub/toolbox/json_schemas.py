"""The JSON schemas that a model reads: of arguments and answers, as short as possible."""

from typing import Annotated, Any, get_args, get_origin

from ctxhub.toolbox.argument_types import Shows

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}


def argument_schema(annotation: Any) -> dict[str, Any]:
    """Return the schema of an argument's type. The usual ones need no pydantic: its import is slow."""
    kind, *marks = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    shown = [mark.schema for mark in marks if isinstance(mark, Shows)]
    if shown:
        return dict(shown[-1])
    plain = get_origin(kind) or kind
    if plain is list:
        [items] = get_args(kind) or [Any]
        return {"type": "array", "items": argument_schema(items)}
    if kind is Any:
        return {}
    return {"type": _NAMES[plain]} if plain in _NAMES else schema_by_pydantic(annotation)


def schema_by_pydantic(shape: Any) -> dict[str, Any]:
    from pydantic import TypeAdapter

    schema: dict[str, Any] = lean(TypeAdapter(shape).json_schema())
    return schema


def answer_schema(shape: Any) -> dict[str, Any]:
    """Return the schema of an answer. It keeps null: clients validate answers."""
    from pydantic import TypeAdapter

    schema: dict[str, Any] = lean(TypeAdapter(shape).json_schema(mode="serialization"), keeps_null=True)
    return schema


def lean(schema: Any, *, keeps_null: bool = False) -> Any:
    """Simplify a JSON schema to save tokens: removes titles, defaults, null unions and `$ref`.

    `keeps_null`: for schemas of answers, which clients validate.
    """
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}

    def strip(node: Any) -> Any:
        if isinstance(node, list):
            return [strip(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return strip(definitions[node["$ref"].rsplit("/", 1)[-1]])
        if "anyOf" in node:
            kinds = [strip(kind) for kind in node["anyOf"] if keeps_null or kind != {"type": "null"}]
            return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        properties = {name: strip(inner) for name, inner in node.get("properties", {}).items()}
        kept = {name: strip(inner) for name, inner in node.items() if name not in _DROPPED}
        # With `type` first a list's schema costs a token less.
        kept = {name: kept[name] for name in sorted(kept, key="type".__ne__)}
        return {**kept, **({"properties": properties} if properties else {})}

    return strip(schema)


_DROPPED = {"title", "default", "$defs", "additionalProperties", "properties", "description"}
