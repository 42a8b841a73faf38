"""Transitional."""

from typing import Any

from rest_framework import serializers


class BatchResult(serializers.Serializer[dict[str, object]]):
    """How one item of a batch went, where it went wrong: its error and its `index`."""

    index = serializers.IntegerField(required=False)
    error = serializers.CharField(required=False)
    message = serializers.CharField(required=False)


class BatchAnswer(serializers.Serializer[dict[str, object]]):
    """Whose subclass names what `results` holds, in the order of the items."""

    done = serializers.IntegerField()
    failed = serializers.IntegerField()


class Marks(serializers.Serializer[Any]):
    """What stands in a thing that is read in parts."""

    lines = serializers.CharField(required=False, help_text="Which lines of the text these are: 10-40.")
    total_lines = serializers.IntegerField(required=False)
    truncated = serializers.BooleanField(required=False, help_text="Not all that was asked for is here.")
    next_lines = serializers.CharField(required=False, help_text="Reads on: pass it as `lines`.")
    also_cut = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text='Other fields that are not whole; `lines` "metadata:1-" reads one.',
    )


JSON_FIELDS = (
    serializers.ListField,
    serializers.DictField,
    serializers.JSONField,
    serializers.BaseSerializer,
)


def in_parts(serializer: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """The serializer of an object that can be read in parts, so that any field may be missing.

    Lists and objects are texts if `lines` reads a part of their JSON.
    """

    def get_fields(self: Any) -> dict[str, Any]:
        fields = {**serializer().get_fields(), **Marks().get_fields()}
        for name, field in fields.items():
            if isinstance(field, JSON_FIELDS) and name != "also_cut":
                fields[name] = serializers.JSONField(help_text=getattr(field, "help_text", None))
            fields[name].required = False
        return fields

    name = f"{serializer.__name__}InParts"
    return type(name, (serializer,), {"get_fields": get_fields, "__doc__": serializer.__doc__})
