"""Request bodies: checks the names and types of fields. Services check limits and rules."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from drf_spectacular.drainage import has_override, set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty

from ctxhub.core.api.ids import id_schema
from ctxhub.core.api.problems import refusal_of, refuse_unknown
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, shown
from ctxhub.core.kit.inputs import read_id, read_ref_id
from ctxhub.core.kit.limits import MOST_ENTRIES, TEXT, WORD, Limits
from ctxhub.core.toolbox.batch_writes import Items


class Body(serializers.Serializer[Any]):
    """A JSON object that holds what is declared and nothing else; what is left out stays out.

    `example` is what the API's pages offer to start from: every field, empty, would clear what they name.
    """

    example: ClassVar[Mapping[str, Any]] = {}

    @property
    def data(self) -> Any:
        return dict(self.example)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            refuse_unknown(data, list(self.fields), "field")
        return super().to_internal_value(data)


class Text(serializers.CharField):
    """A string as it is: a number is none, blanks stay, an empty one clears. `limits` are for the schema."""

    def __init__(self, *, limits: Limits = TEXT, **options: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank="minLength" not in limits, **options)
        if not has_override(self, "field"):
            set_override(self, "field", {"type": "string", **limits})

    def run_validation(self, data: Any = empty) -> Any:
        """Whether it may be blank is for the service to say."""
        return serializers.Field.run_validation(self, data)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class Agent(Text):
    """Which of the caller's agents speaks."""

    def __init__(self) -> None:
        super().__init__(limits=WORD, required=False, help_text="Which of your agents speaks.")


class ProjectBody(Body):
    agent = Agent()


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "number"}]})
class StringOrNumber(serializers.Field[Any, Any, Any, Any]):
    """A string or a number, kept as typed."""

    default_error_messages = {"invalid": "Not a string or a number."}

    def to_internal_value(self, data: Any) -> str | int | float:
        if isinstance(data, bool) or not isinstance(data, str | int | float):
            self.fail("invalid")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class Word(StringOrNumber):
    """An enum's word or its number."""

    default_error_messages = {"invalid": "Not a word or its number."}

    def to_internal_value(self, data: Any) -> str | int | float:
        if isinstance(data, float):
            self.fail("invalid")
        return super().to_internal_value(data)


class Flag(serializers.BooleanField):
    """True or false, and no word for it."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class WholeNumber(serializers.IntegerField):
    """A number as JSON writes it: no fraction, no text, no truth. Bounds are for the schema."""

    def __init__(self, *, at_least: int | None = None, at_most: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        bounds = {"minimum": at_least, "maximum": at_most}
        keywords = {name: bound for name, bound in bounds.items() if bound is not None}
        if keywords and not has_override(self, "field"):
            set_override(self, "field", {"type": "integer", **keywords})

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


class IdOf(WholeNumber):
    """The id of a thing of one kind: 17, "17", or its ref (`message:17`)."""

    def __init__(self, kind: str, **options: Any) -> None:
        super().__init__(**options)
        self.kind = kind
        set_override(self, "field", {"oneOf": [{"type": "integer", "minimum": 1}, id_schema(kind)]})

    def to_internal_value(self, data: Any) -> int:
        try:
            value = read_ref_id(data, self.kind)
        except InvalidInput as error:
            raise ValidationError(error.message) from error
        return super().to_internal_value(int(value) if read_id(str(value)) else value)


class Texts(serializers.ListField):
    """Tags, unless `limits` say otherwise; these are for the schema."""

    child = Text()

    def __init__(self, *, limits: Limits = WORD, at_least: int = 0, **options: Any) -> None:
        super().__init__(**options)
        if not has_override(self, "field"):
            bounds = {**MOST_ENTRIES, **({"minItems": at_least} if at_least else {})}
            set_override(self, "field", {"type": "array", "items": {"type": "string", **limits}, **bounds})


class Words(Texts):
    """Tags or scopes: a list, or a text with commas between them."""

    def __init__(self, *, limits: Limits = WORD, **options: Any) -> None:
        listed = {"type": "array", "items": {"type": "string", **limits}, **MOST_ENTRIES}
        set_override(self, "field", {"oneOf": [listed, {"type": "string"}], "nullable": True})
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> list[str]:
        words: list[str] = super().to_internal_value([data] if isinstance(data, str) else data)
        return words


class Anything(serializers.ListField):
    """A list whose entries the service checks."""


class JsonObject(serializers.DictField):
    """An object whose contents the service checks."""


def checked_items(items: Sequence[Any], body: type[Body]) -> Items:
    """The items of a batch for the service; an invalid item becomes its error, so that the others can run."""
    return [_checked(item, body) for item in items]


def _checked(item: Any, body: type[Body]) -> Mapping[str, Any] | CtxhubError:
    if not isinstance(item, Mapping):
        return InvalidInput(f"An item is an object, not {shown(item)}.")
    serializer = body(data=item)
    try:
        serializer.is_valid(raise_exception=True)
    except ValidationError as error:
        return refusal_of(error.detail)
    except CtxhubError as error:
        return error
    validated: Mapping[str, Any] = serializer.validated_data
    return validated
