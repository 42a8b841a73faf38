"""Arguments of actions: read from the signature, validated, with errors that a model can act on."""

import functools
import inspect
import json
import operator
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NotRequired, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, ConfigDict, PlainValidator, TypeAdapter, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from ctxhub.core.kit.errors import SHOWN_NAMES, InvalidInput, shown_all
from ctxhub.core.kit.inputs import clean_number, read_ref_id
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.toolbox.suggestions import meant_arguments


def present(given: Mapping[str, Any]) -> dict[str, Any]:
    """Drop arguments that are null: strict clients send null for every argument they omit."""
    return {name: value for name, value in given.items() if value is not None}


# -- Types of arguments ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Says:
    """Annotation: the allowed words of an argument, for the signature that a model reads."""

    words: str


def _word(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _number_not_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("number", "must be a number, not true or false")
    return value


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        try:
            return clean_number(value, "value")
        except InvalidInput as error:
            raise PydanticCustomError(
                "value", "{why}", {"why": error.message.removeprefix("value ").rstrip(".")}
            ) from error
    raise PydanticCustomError("value", "must be a text or a finite number")


def _parsed(opening: str) -> Callable[[Any], Any]:
    """Return a function that parses JSON strings, as some clients send arrays and objects in strings."""

    def parse(value: Any) -> Any:
        if isinstance(value, str) and value.lstrip().startswith(opening):
            try:
                return json.loads(value)
            except (ValueError, RecursionError):
                return value
        return value

    return parse


def _list(value: Any) -> Any:
    value = _parsed("[")(value)
    return [value] if isinstance(value, (str, int, dict)) and not isinstance(value, bool) else value


def _json(value: Any) -> Any:
    return _parsed("[")(_parsed("{")(value))


def _ids(value: Any) -> Any:
    """Accept ids as a list, as a JSON string, or as a comma-separated string."""
    value = _parsed("[")(value)
    listed = value.split(",") if isinstance(value, str) else value
    return _list(listed)


def _read_ref(kind: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        try:
            return read_ref_id(value, kind)
        except InvalidInput as error:
            raise PydanticCustomError("ref", "{why}", {"why": error.message.rstrip(".")}) from error

    return read


def id_of(kind: str) -> BeforeValidator:
    """Annotation: makes a Number accept an id as 17, "17", or the ref that lists and events have."""
    return BeforeValidator(_read_ref(kind))


def _items(value: Any) -> Any:
    value = _parsed("[")(value)
    items = [value] if isinstance(value, dict) else value
    if not isinstance(items, list):
        return items
    return [present(item) if isinstance(item, dict) else item for item in items]


Word = Annotated[str, BeforeValidator(_word)]
# The ref of anything, or an id.
Ref = Annotated[str, BeforeValidator(_word), WithJsonSchema({"type": ["string", "integer"]})]
Number = Annotated[int, BeforeValidator(_number_not_bool)]
Share = Annotated[float, BeforeValidator(_number_not_bool)]
Value = Annotated[str | int | float, PlainValidator(_value), WithJsonSchema({"type": ["string", "number"]})]
Words = Annotated[list[str], BeforeValidator(_list)]
# An item that is no object is an error of that item, not of the whole call.
Items = Annotated[
    list[Any], BeforeValidator(_items), WithJsonSchema({"type": "array", "items": {"type": "object"}})
]
Anything = Annotated[list[Any], BeforeValidator(_list), WithJsonSchema({"type": "array", "items": {}})]
Object = Annotated[dict[str, Any], BeforeValidator(_parsed("{"))]
AsIds = BeforeValidator(_ids)
Json = Annotated[
    Any,
    BeforeValidator(_json),
    WithJsonSchema({"type": ["object", "array", "string", "number", "boolean"], "items": {}}),
]

# -- Signatures ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Argument:
    """One parameter of an action; its type omits Unset and None, which models do not need."""

    name: str
    annotation: Any
    required: bool
    default: Any

    @property
    def says(self) -> str:
        return next((mark.words for mark in _marks(self.annotation) if isinstance(mark, Says)), "")

    @property
    def with_words(self) -> str:
        """The argument with its allowed words: identifies repetitions within a tool's description."""
        return f"{self.name}={self.says}" if self.says else ""

    @cached_property
    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = lean(TypeAdapter(self.annotation).json_schema())
        return schema

    @property
    def signature(self) -> str:
        """`key!`, `tags[]`, `limit=20`, `status=active|draft`: how help spells the argument."""
        default = "" if self.default in (UNSET, None, "", inspect.Parameter.empty) else str(self.default)
        value = self.says or default.lower()
        return f"{self._marked}={value}" if value else self._marked

    def gist(self, *, words_known: bool) -> str:
        """Return a shorter signature for the tool description, which costs tokens in every session: omits
        defaults that are numbers or false, and, if `words_known`, the allowed words.
        """
        if self.says:
            return self._marked if words_known else self.signature
        is_plain = self.default is False or type(self.default) in (int, float)
        return self._marked if is_plain else self.signature

    @property
    def _marked(self) -> str:
        shape = {"array": "[]", "object": "{}"}.get(str(self.schema.get("type")), "")
        return f"{self.name}{'!' if self.required else ''}{shape}"


class Arguments:
    """The arguments that an action takes, and the validation of calls against them.

    `**rest: Unpack[Shape]` takes the optional arguments of a TypedDict, which several actions may share.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
        self.all = [a for p in parameters if p.name != "caller" for a in _arguments(p, hints[p.name])]
        self.names = [argument.name for argument in self.all]

    @cached_property
    def _adapter(self) -> TypeAdapter[dict[str, Any]]:
        fields = {a.name: _field(a) for a in self.all}
        shape = cast(Any, TypedDict)("Shape", fields)  # Its fields are known only here.
        shape.__pydantic_config__ = ConfigDict(extra="forbid")
        return TypeAdapter(shape)

    def check(self, given: Mapping[str, Any], call: str, also: Sequence[str] = ()) -> dict[str, Any]:
        """Validate and convert arguments, and drop those that are null. Raises InvalidInput.

        `also`: further arguments that the call takes, which the error lists as allowed.
        """
        arguments = present(given)
        try:
            return self._adapter.validate_python(arguments)
        except ValidationError as error:
            raise self._refusal(error, call, arguments, also) from None

    def _refusal(
        self, error: ValidationError, call: str, given: Mapping[str, Any], also: Sequence[str]
    ) -> InvalidInput:
        problems = error.errors(include_url=False, include_context=False)
        unknown = [str(p["loc"][0]) for p in problems if p["type"] == "extra_forbidden"]
        missing = [str(p["loc"][0]) for p in problems if p["type"] == "missing"]
        if unknown:
            suggested = meant_arguments(unknown, [*self.names, *also], given)
            return InvalidInput(
                f"{call} has no argument {shown_all(unknown)}.",
                did_you_mean=suggested,
                missing=[name for name in missing if name not in suggested.values()],
                allowed=[*self.names, *also],
            )
        if missing:
            return InvalidInput(
                f"{call} needs {', '.join(missing)}.", missing=missing, hint=f"Arguments: {self}"
            )
        wrong = list(dict.fromkeys(f"{_path(p['loc'])}: {_plain(p['msg'])}" for p in problems))
        more = f"; and {len(wrong) - SHOWN_NAMES:,} more" if len(wrong) > SHOWN_NAMES else ""
        return InvalidInput(f"{call}: {'; '.join(wrong[:SHOWN_NAMES])}{more}.", hint=f"Arguments: {self}")

    def __str__(self) -> str:
        return " ".join(argument.signature for argument in self.all)


def _arguments(parameter: inspect.Parameter, hint: Any) -> list[Argument]:
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        [shape] = get_args(hint)
        shared = get_type_hints(shape, include_extras=True)
        return [_argument(name, inner, UNSET) for name, inner in shared.items()]
    return [_argument(parameter.name, hint, parameter.default)]


def _argument(name: str, hint: Any, default: Any) -> Argument:
    return Argument(name, _without_unset_and_null(hint), default is inspect.Parameter.empty, default)


def _without_unset_and_null(hint: Any) -> Any:
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    kept = tuple(member for member in get_args(hint) if member not in (Unset, type(None)))
    return functools.reduce(operator.or_, kept)


def _field(argument: Argument) -> Any:
    return argument.annotation if argument.required else NotRequired[argument.annotation]


def _marks(annotation: Any) -> tuple[Any, ...]:
    return typing.get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


def _path(loc: tuple[int | str, ...]) -> str:
    """Format an error location: `tags[2]`. Omits pydantic's names for the branches of a union."""
    path = str(loc[0]) if loc else "arguments"
    for part in loc[1:]:
        path += f"[{part}]" if isinstance(part, int) else ""
    return path


def _plain(message: str) -> str:
    return message.replace("Input should be", "must be")


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
