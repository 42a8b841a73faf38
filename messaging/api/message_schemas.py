"""What only REST takes about messages, and its responses, for the OpenAPI schema."""

from collections.abc import Mapping
from typing import Annotated, Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from typing_extensions import TypedDict

from ctxhub.core.api.serializers_of_parts import BatchAnswer, BatchResult
from ctxhub.core.kit.priority import Priority
from ctxhub.core.toolbox.argument_types import About
from messaging.models import MessageType
from messaging.selectors.request_states import STATES

TYPES = [str(label) for label in MessageType.labels]
PRIORITIES = [str(label) for label in Priority.labels]
ANY_JSON = {"description": "Any JSON.", "nullable": True}


class Following(TypedDict):
    next: Annotated[bool, About("True: the most urgent open request, of those the oldest.", {"enum": [True]})]


# -- Answers ---------------------------------------------------------------------------------------


@extend_schema_field(ANY_JSON)
class AnyJson(serializers.JSONField):
    """Whatever it is, as it is."""


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
