"""The responses of core's endpoints, for the schema only; selectors and services build the responses."""

from typing import Any

from rest_framework import serializers


class UsedWord(serializers.Serializer[dict[str, object]]):
    name = serializers.CharField()
    uses = serializers.IntegerField(help_text="How many things carry it.")


class LayerName(serializers.Serializer[dict[str, object]]):
    name = serializers.CharField()


class AgentSeen(serializers.Serializer[dict[str, object]]):
    name = serializers.CharField()
    last_seen = serializers.DateTimeField(allow_null=True)


class LayerStats(serializers.Serializer[dict[str, object]]):
    layer = serializers.CharField()
    decisions = serializers.IntegerField(help_text="Active ones.")
    changes = serializers.IntegerField(help_text="Of the last hour.")
    constraints = serializers.IntegerField(help_text="Active ones.")


class Config(serializers.Serializer[dict[str, object]]):
    ignore_weekend = serializers.BooleanField()
    time_zone = serializers.CharField()
    holidays = serializers.ListField(child=serializers.DateField())
    message_hours = serializers.IntegerField(min_value=1, max_value=168)
    change_days = serializers.IntegerField(min_value=1, max_value=90)
    scratchpad_days = serializers.IntegerField(min_value=0, max_value=365)
    session_days = serializers.IntegerField(min_value=0, max_value=3650)
    access_days = serializers.IntegerField(min_value=0, max_value=3650)
    auto_prune = serializers.BooleanField()
    tell_stale = serializers.BooleanField()


class Activity(serializers.Serializer[dict[str, object]]):
    at = serializers.DateTimeField()
    agent = serializers.CharField()
    verb = serializers.CharField()
    ref = serializers.CharField(help_text="What it was done to: `decision:api/auth`.")
    note = serializers.CharField(allow_blank=True)


class SearchHit(serializers.Serializer[dict[str, object]]):
    ref = serializers.CharField(help_text="Opens it: `decision:api/auth`.")
    title = serializers.CharField(allow_null=True, help_text="Null where only ids are asked for.")
    excerpt = serializers.CharField(allow_null=True, allow_blank=True, help_text="What of it answers.")
    score = serializers.FloatField(min_value=0, max_value=1)
    tokens = serializers.IntegerField(help_text="What title and excerpt cost.")
    more = serializers.IntegerField(allow_null=True, help_text="How many nearly equal ones are left out.")


class SearchAnswer(serializers.Serializer[dict[str, object]]):
    items = SearchHit(many=True, help_text="Best first.")
    next = serializers.CharField(allow_null=True, help_text="Null: ask for more with `limit`.")
    count = serializers.IntegerField(help_text="How many items there are.")
    total = serializers.IntegerField(help_text="How many things answer, counted to 1,000.")
    more = serializers.BooleanField(required=False, help_text="There are more than `total`.")
    omitted = serializers.IntegerField(required=False, help_text="Left out to keep to `max_tokens`.")
    total_tokens = serializers.IntegerField(help_text="What titles and excerpts cost together.")
    avg_tokens = serializers.IntegerField()
    method = serializers.CharField(help_text="How it was found: any, corrected, all, fuzzy, similar.")
    did_you_mean = serializers.CharField(required=False, help_text="The question without its slips.")
    hint = serializers.CharField(required=False, help_text="Nothing found: what kept everything out.")
    near = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Nothing found: refs of what is nearest."
    )


class Project(serializers.Serializer[dict[str, object]]):
    slug = serializers.CharField()
    name = serializers.CharField()
    created = serializers.DateTimeField()


class ProjectSeen(Project):
    agent = serializers.CharField(help_text="Who you are there.")
    scopes = serializers.ListField(child=serializers.ChoiceField(["read", "write", "admin"]))


class Token(serializers.Serializer[dict[str, object]]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    agent = serializers.CharField(allow_null=True, help_text="The only agent it speaks for; null: any.")
    start = serializers.CharField(help_text="How it begins.")
    scopes = serializers.ListField(child=serializers.ChoiceField(["read", "write", "admin"]))
    created = serializers.DateTimeField()
    expires = serializers.DateTimeField(allow_null=True)
    last_used = serializers.DateTimeField(allow_null=True)
    revoked = serializers.DateTimeField(allow_null=True)


class NewToken(Token):
    secret = serializers.CharField(help_text="The token. It is shown here and never again.")
    connect = serializers.CharField(help_text="Lines to paste, for each client.")


class BatchResult(serializers.Serializer[dict[str, object]]):
    """How one item of a batch went, where it went wrong: its error and its `index`."""

    index = serializers.IntegerField(required=False)
    error = serializers.CharField(required=False)
    message = serializers.CharField(required=False)


class BatchAnswer(serializers.Serializer[dict[str, object]]):
    """Whose subclass names what `results` holds, in the order of the items."""

    done = serializers.IntegerField()
    failed = serializers.IntegerField()


COUNTS = {
    "type": "object",
    "additionalProperties": {
        "oneOf": [
            {"type": "integer"},
            {"type": "array", "items": {"type": "integer"}, "description": "Active, all."},
        ]
    },
}

UPDATES = {
    "type": "object",
    "required": ["cursor"],
    "properties": {"cursor": {"type": "string", "description": "Pass it as `since` the next time."}},
    "additionalProperties": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
}

ANYTHING = {"type": "object", "additionalProperties": True}


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
