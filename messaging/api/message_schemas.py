"""REST query, request and response schemas of messages, for validation and OpenAPI."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ctxhub.core.api.bodies import Anything, Body, Flag, IdOf, ProjectBody, Text, Texts, WholeNumber, Word
from ctxhub.core.api.queries import ListQuery, flag, number, text
from ctxhub.core.api.serializers_of_parts import BatchAnswer, BatchResult
from ctxhub.core.events.waiting import LONGEST_SECONDS
from ctxhub.core.kit.limits import MOST_ENTRIES, REQUIRED_TEXT, WORD
from ctxhub.core.kit.priority import Priority
from ctxhub.core.toolbox.argument_types import SINCE
from messaging.models import MessageType
from messaging.selectors.request_states import STATES

TYPES = [str(label) for label in MessageType.labels]
PRIORITIES = [str(label) for label in Priority.labels]
NAME_OF_AGENT = {"type": "string", **WORD}
ANY_JSON = {"description": "Any JSON.", "nullable": True}

# -- Queries ---------------------------------------------------------------------------------------


class InboxQuery(ListQuery):
    unread = flag("Left out: true. False: also what you have read.")
    priority = text("Of exactly this priority.", one_of=PRIORITIES)
    type = text("Of this type.", one_of=TYPES)
    state = text("Requests in this state; an expired claim is open.", one_of=STATES)
    since = text(f"Sent since. {SINCE}")
    wait_seconds = number(
        "Answer when something arrives, or after so many seconds.", at_least=0, at_most=LONGEST_SECONDS
    )


# -- Bodies ----------------------------------------------------------------------------------------


def _word(words: list[str]) -> dict[str, Any]:
    return {
        "oneOf": [
            {"type": "string", "enum": words},
            {"type": "integer", "minimum": 1, "maximum": len(words)},
        ]
    }


@extend_schema_field(_word(TYPES))
class TypeWord(Word):
    """A type by its word or its number."""


@extend_schema_field(_word(PRIORITIES))
class PriorityWord(Word):
    """A priority by its word or its number."""


@extend_schema_field(ANY_JSON)
class AnyJson(serializers.JSONField):
    """Whatever it is, as it is."""


@extend_schema_field({"type": "boolean", "enum": [True]})
class Always(Flag):
    """True, and nothing else."""


@extend_schema_field(
    {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1, "maxItems": 200}
)
class Numbers(serializers.ListField):
    child = IdOf("message")


@extend_schema_field(
    {
        "oneOf": [{"type": "array", "items": NAME_OF_AGENT, **MOST_ENTRIES}, NAME_OF_AGENT],
        "nullable": True,
    }
)
class Names(Texts):
    """Names; a single one need not be a list."""

    def to_internal_value(self, data: Any) -> list[str]:
        names: list[str] = super().to_internal_value([data] if isinstance(data, str) else data)
        return names


class MessageItem(Body):
    text = Text(limits=REQUIRED_TEXT)
    to = Names(required=False, allow_null=True, help_text="Left out: everyone; in a reply, who wrote.")
    type = TypeWord(required=False, help_text="Left out: info. A request is what one agent claims.")
    priority = PriorityWord(required=False, help_text="Left out: medium.")
    payload = AnyJson(required=False, allow_null=True)
    reply_to = IdOf("message", required=False, allow_null=True, help_text="The id of what it answers.")
    ack = Flag(required=False, help_text="Each recipient is to acknowledge it.")
    ack_within = Text(required=False, allow_null=True, help_text='"2h": until when. Implies ack.')


class SendMessage(MessageItem, ProjectBody):
    example = {"text": "The login tests fail on main.", "to": ["ben"], "type": "request"}


@extend_schema_field(MessageItem(many=True))
class Items(Anything):
    """Each is checked for itself, so that one that is wrong need not stop the others."""


class SendMessages(ProjectBody):
    example = {"items": [{"text": "Deploy at noon.", "ack": True}, {"text": "Tests, please.", "to": ["ben"]}]}
    items = Items(help_text="Up to 50.")
    atomic = Flag(required=False, help_text="All or nothing: the default.")


class ReadMessages(ProjectBody):
    example = {"all": True}
    ids = Numbers(required=False, help_text="Up to 200. Or `all`.")
    all = Flag(required=False)


class ClaimNext(ProjectBody):
    example = {"next": True, "minutes": 30}
    next = Always(help_text="True: the most urgent open request, of those the oldest.")
    minutes = WholeNumber(at_least=1, at_most=1440, required=False, help_text="1 to 1440; left out: 30.")


class ClaimMessage(ProjectBody):
    example = {"minutes": 30}
    minutes = WholeNumber(at_least=1, at_most=1440, required=False, help_text="1 to 1440; left out: 30.")


class FinishMessage(ProjectBody):
    example = {"result_refs": ["decision:api/auth/method"]}
    result_refs = Texts(required=False, help_text="What came of it.")


class Nothing(ProjectBody):
    """A body that says nothing but, perhaps, who speaks."""


# -- Answers ---------------------------------------------------------------------------------------


Answer = serializers.Serializer[Mapping[str, Any]]


class Message(Answer):
    """Which of the optional ones are there depends on the message."""

    id = serializers.IntegerField()
    to = serializers.ListField(child=serializers.CharField(), allow_null=True, help_text="Null: everyone.")
    type = serializers.ChoiceField(TYPES)
    priority = serializers.ChoiceField(PRIORITIES)
    text = serializers.CharField()
    payload = AnyJson(required=False)
    ack = serializers.BooleanField(required=False, allow_null=True)
    at = serializers.DateTimeField()

    def get_fields(self) -> dict[str, Any]:
        """Adds `from`, which cannot be an attribute: it is a Python keyword."""
        return {**super().get_fields(), "from": serializers.CharField(help_text="Who wrote it.")}


class ListedMessage(Message):
    thread = serializers.IntegerField(help_text="The first message of its thread.")


class ThreadMessage(Message):
    reply_to = serializers.IntegerField(allow_null=True)
    state = serializers.ChoiceField(STATES, allow_null=True)
    by = serializers.CharField(allow_null=True, help_text="Who holds it, or has done it.")
    result_refs = serializers.ListField(child=serializers.CharField(), allow_null=True)


class WholeMessage(ListedMessage):
    reply_to = serializers.IntegerField(required=False)
    ack_due = serializers.DateTimeField(required=False)
    state = serializers.ChoiceField(STATES, required=False)
    by = serializers.CharField(required=False, help_text="Who holds it, or has done it.")
    claimed_until = serializers.DateTimeField(required=False)
    result_refs = serializers.ListField(child=serializers.CharField(), required=False)


class SendAnswer(Answer):
    id = serializers.IntegerField()
    thread = serializers.IntegerField()
    to = serializers.ListField(child=serializers.CharField(), allow_null=True, help_text="Null: everyone.")
    unknown = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names that no agent here has had."
    )


class SentMessage(BatchResult, SendAnswer):
    """How one item went: what sending answers, or its error and its `index`."""

    id = serializers.IntegerField(required=False)
    thread = serializers.IntegerField(required=False)
    to = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True)


class SentMessages(BatchAnswer):
    results = SentMessage(many=True, help_text="In the order of the items.")


class ReadAnswer(Answer):
    marked = serializers.IntegerField(help_text="How many were unread.")


class AckAnswer(Answer):
    acked = serializers.IntegerField(help_text="How many were not acknowledged before.")
    hint = serializers.CharField(required=False)


class ClaimAnswer(Answer):
    claimed = WholeMessage(allow_null=True, help_text="Null: there is none.")


class DoneAnswer(Answer):
    id = serializers.IntegerField()
    state = serializers.CharField(help_text="done")
    result_refs = serializers.ListField(child=serializers.CharField(), required=False)


class Receipt(Answer):
    agent = serializers.CharField()
    read_at = serializers.DateTimeField(allow_null=True)
    acked_at = serializers.DateTimeField(allow_null=True)
