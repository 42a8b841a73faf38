"""REST schemas of scratchpads: queries, bodies and answers, for validation and OpenAPI."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from ctxhub.core.api.bodies import IdOf, ProjectBody, Text, WholeNumber
from ctxhub.core.api.queries import ListQuery, Query, ReadQuery, flag, id_of, number, text
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.limits import ANY_LENGTH, AT_LEAST_A_CHARACTER, NAME, QUESTION
from memory.scratchpads.models.scratchpad import PadChange
from memory.scratchpads.rules.edits import MODES

CHANGES = tuple(PadChange.labels)


class PadsOfWorkflowQuery(ListQuery):
    limit = number("How many items a page holds; left out: 50.", at_most=MAX_LIMIT)
    include_content = flag("With their texts, as many as an answer holds.")


class PadQuery(PadsOfWorkflowQuery):
    workflow_id = id_of("workflow", "Of this workflow.", required=True)


class PartQuery(ReadQuery):
    outline = flag("The headings of its Markdown instead of its text.")


class PadSearchQuery(Query):
    query = text("What to look for.", limits=QUESTION, required=True)
    workflow_id = id_of("workflow", "In the pads of this workflow.")
    scratchpad_id = id_of("scratchpad", "In this pad: an item for each line.")
    limit = number("How many are answered; left out: 20.", at_most=MAX_LIMIT)
    include_content = flag("Left out: with a snippet, what is found between « and ».")
    max_tokens = ListQuery.base_filters["max_tokens"]


class RevisionQuery(ListQuery):
    """What every list takes."""


# -- Bodies ----------------------------------------------------------------------------------------


class CreatePad(ProjectBody):
    example = {"workflow_id": 1, "name": "code_analysis", "content": "# Findings\n1. A slow query"}
    workflow_id = IdOf("workflow")
    name = Text(limits=NAME)
    content = Text(
        limits=ANY_LENGTH,
        required=False,
        allow_null=True,
        help_text="What does not fit into 1,048,576 bytes is cut.",
    )


class AppendToPad(ProjectBody):
    example = {"content": "2. A leak in the pool"}
    content = Text(limits=AT_LEAST_A_CHARACTER)
    separator = Text(required=False, allow_null=True, help_text="Stands between; left out: a blank line.")


class ChangePad(ProjectBody):
    example = {"content": "3. No index", "mode": "section", "section": "Findings"}
    content = Text()
    mode = serializers.ChoiceField(
        list(MODES),
        required=False,
        help_text="Left out: section with section, replace_lines with end, insert with line, else replace.",
    )
    line = WholeNumber(
        at_least=1, required=False, allow_null=True, help_text="Insert before it, or replace from it on."
    )
    end = WholeNumber(
        at_least=1, required=False, allow_null=True, help_text="The last line replaced; left out: line."
    )
    section = Text(required=False, allow_null=True, help_text="The text of a heading.")
    expected_length = WholeNumber(
        at_least=0, required=False, allow_null=True, help_text="In characters; else 409."
    )


class RestorePad(ProjectBody):
    example = {}
    expected_length = WholeNumber(
        at_least=0, required=False, allow_null=True, help_text="In characters; else 409."
    )


# -- Answers ---------------------------------------------------------------------------------------


class ListedPad(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    length = serializers.IntegerField(help_text="In characters.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    content = serializers.CharField(allow_null=True, allow_blank=True, help_text="Null unless asked for.")


class Outline(serializers.Serializer[Mapping[str, Any]]):
    columns = serializers.ListField(child=serializers.CharField(), help_text="level, text, line")
    rows = serializers.ListField(child=serializers.ListField())


class Pad(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    workflow_id = serializers.IntegerField()
    content = serializers.CharField(required=False, allow_blank=True, help_text="Not with an outline.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    revision = serializers.IntegerField(help_text="The ETag.")
    lines = serializers.CharField(required=False, help_text="Which lines the content is: 10-40.")
    total_lines = serializers.IntegerField(required=False)
    outline = Outline(required=False)


class CreatedPad(serializers.Serializer[Mapping[str, Any]]):
    scratchpad_id = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    warning = serializers.CharField(required=False, help_text="How much was cut off.")


class AppendedPad(serializers.Serializer[Mapping[str, Any]]):
    updated_at = serializers.DateTimeField()
    new_length = serializers.IntegerField(help_text="In characters.")
    warning = serializers.CharField(required=False, help_text="How much was cut off.")


class ChangedPad(AppendedPad):
    revision = serializers.IntegerField()
    result = serializers.ChoiceField(["updated", "unchanged"])


class ListedRevision(serializers.Serializer[Mapping[str, Any]]):
    revision = serializers.IntegerField()
    change = serializers.ChoiceField(CHANGES)
    length = serializers.IntegerField(help_text="In characters.")
    agent = serializers.CharField()
    at = serializers.DateTimeField()


class Revision(ListedRevision):
    id = serializers.IntegerField()
    name = serializers.CharField()
    workflow_id = serializers.IntegerField()
    content = serializers.CharField(allow_blank=True, help_text="The text as it was.")


class FoundPad(serializers.Serializer[Mapping[str, Any]]):
    scratchpad_id = serializers.IntegerField()
    name = serializers.CharField()
    workflow_id = serializers.IntegerField()
    snippet = serializers.CharField(allow_null=True, help_text="What is found stands between « and ».")
    line = serializers.IntegerField(allow_null=True, help_text="In one pad: where it is.")
