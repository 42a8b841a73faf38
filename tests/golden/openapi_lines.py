"""An OpenAPI document as lines: one for each parameter, property and status, with its type and limits.

Names of components, titles and descriptions are left out, and equivalent forms give the same line:
a reference and its schema, `nullable` and the type null, a choice of enums and one enum.
"""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

LIMITS = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
    *("format", "pattern", "readOnly", "writeOnly", "const", "default"),
)
DEEPEST = 8
METHODS = ("get", "post", "put", "patch", "delete")


def lines_of(document: Json) -> list[str]:
    """All operations, in the order of paths and methods."""
    found: list[str] = []
    shared: dict[str, str] = {}
    for path, methods in sorted(document["paths"].items()):
        for method in METHODS:
            if method in methods:
                found += _operation(document, f"{method.upper()} {path}", methods[method], shared)
    return [*_shared_lines(shared), *found]


def _operation(document: Json, name: str, operation: Json, shared: dict[str, str]) -> list[str]:
    lines = [name]
    lines += [f"  security {' | '.join(sorted(_text(way) for way in operation.get('security', [])))}"]
    parameters = [_resolved(document, parameter) for parameter in operation.get("parameters", [])]
    for parameter in sorted(parameters, key=lambda p: (p["in"], p["name"])):
        lines += _parameter(document, parameter)
    if body := operation.get("requestBody"):
        body = _resolved(document, body)
        lines += _content(document, "body", body, required=body.get("required", False))
    for status, answer in sorted(operation["responses"].items()):
        lines += _answer(document, status, _resolved(document, answer), shared)
    return lines


def _parameter(document: Json, parameter: Json) -> Iterator[str]:
    style = [f"{name}={_text(parameter[name])}" for name in ("style", "explode") if name in parameter]
    name = " ".join([f"{parameter['in']}.{parameter['name']}", *style])
    for line in _schema(document, name, parameter["schema"], required=parameter.get("required", False)):
        yield f"  {line}"


def _content(document: Json, name: str, body: Json, *, required: bool) -> Iterator[str]:
    for kind, content in sorted(body.get("content", {}).items()):
        place = name if kind == "application/json" else f"{name}({kind})"
        for line in _schema(document, place, content.get("schema", {}), required=required):
            yield f"  {line}"


def _answer(document: Json, status: str, answer: Json, shared: dict[str, str]) -> Iterator[str]:
    """The lines of a response; errors that several operations share are listed once, at the top."""
    lines = [f"{status} headers {' '.join(sorted(answer['headers']))}"] if answer.get("headers") else []
    lines += [line.strip() for line in _content(document, "", answer, required=True)]
    if status >= "400":
        shape = shared.setdefault("\n".join(lines), f"error{len(shared) or ''}") if lines else "nothing"
        yield f"  {status} {shape}"
    else:
        yield from (f"  {status} {line}" for line in lines or ["nothing"])


def _shared_lines(shared: dict[str, str]) -> list[str]:
    return [line for text, name in shared.items() for line in (name, *(f"  {x}" for x in text.splitlines()))]


def _schema(document: Json, name: str, schema: Json, *, required: bool, depth: int = 0) -> Iterator[str]:
    """The line of a value, then the lines of its properties and items."""
    choices = _choices(document, schema)
    if len(choices) > 1:
        yield " ".join([name or ".", "one of", str(len(choices)), *(["required"] if required else [])])
        for number, choice in enumerate(choices, 1):
            yield from _one(document, f"{name}<{number}>", choice, required=False, depth=depth)
    else:
        yield from _one(document, name, choices[0], required=required, depth=depth)


def _one(document: Json, name: str, schema: Json, *, required: bool, depth: int) -> Iterator[str]:
    limits = [f"{limit}={_text(schema[limit])}" for limit in LIMITS if limit in schema]
    enum = [f"enum={'|'.join(sorted(_text(value) for value in schema['enum']))}"] if "enum" in schema else []
    shown = [name or ".", _type(schema), *(["required"] if required else []), *enum, *limits]
    yield " ".join(shown)
    if depth > DEEPEST:
        return
    for key, inner in sorted(schema.get("properties", {}).items()):
        is_required = key in schema.get("required", ())
        yield from _schema(document, f"{name}.{key}", inner, required=is_required, depth=depth + 1)
    if "items" in schema:
        yield from _schema(document, f"{name}[]", schema["items"], required=False, depth=depth + 1)
    more = schema.get("additionalProperties")
    if isinstance(more, dict) and more:
        yield from _schema(document, f"{name}{{}}", more, required=False, depth=depth + 1)
    elif more is False:
        yield f"{name or '.'} takes nothing else"


def _type(schema: Json) -> str:
    kind = schema.get("type")
    kinds = list(kind) if isinstance(kind, list) else [kind or ("enum" if "enum" in schema else "any")]
    return "|".join([*sorted(set(kinds) - {"null"}), *(["null"] if _may_be_null(schema) else [])])


def _may_be_null(schema: Json) -> bool:
    kind = schema.get("type")
    return bool(schema.get("nullable")) or kind == "null" or (isinstance(kind, list) and "null" in kind)


def _choices(document: Json, schema: Json) -> list[Json]:
    """The alternatives of a value, with references and nested choices resolved and plain ones merged."""
    schema = _resolved(document, schema)
    for inner in schema.get("allOf", []):
        schema = {**_resolved(document, inner), **{k: v for k, v in schema.items() if k != "allOf"}}
    inner = [
        c for word in ("oneOf", "anyOf") for part in schema.get(word, []) for c in _choices(document, part)
    ]
    if not inner:
        return [schema]
    is_nullable = any(_may_be_null(choice) or _is_null(choice) for choice in (schema, *inner))
    rest = [choice for choice in inner if not _is_null(choice)]
    merged = _merged([choice for choice in rest if _is_plain(choice)])
    found = [*merged, *(choice for choice in rest if not _is_plain(choice))]
    return sorted(({**choice, "nullable": is_nullable} for choice in found), key=_text)


def _is_null(schema: Json) -> bool:
    return schema.get("type") == "null" or schema.get("enum") == [None]


def _is_plain(schema: Json) -> bool:
    """A type or an enum, without limits or parts."""
    return not {*schema} - {"type", "enum", "nullable", "description", "title", "example"}


def _merged(plain: list[Json]) -> list[Json]:
    if not plain:
        return []
    kinds = {kind for schema in plain for kind in _type(schema).split("|") if kind != "null"} - {"enum"}
    nullable = any(_may_be_null(schema) for schema in plain)
    merged: Json = {"type": sorted(kinds), "nullable": nullable}
    if all("enum" in schema for schema in plain):
        merged["enum"] = [value for schema in plain for value in schema["enum"] if value is not None]
    return [merged]


def _resolved(document: Json, schema: Json) -> Json:
    while "$ref" in schema:
        found: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = {**found, **{name: value for name, value in schema.items() if name != "$ref"}}
    return schema


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
